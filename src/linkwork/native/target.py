"""What native code is made for: a level of a processor family, shared by many machines.

Code for the exact processor at hand was measured against code for its level, x86-64-v4 against emeraldrapids:
the same speed within the noise. A level has two advantages: objects made on one machine serve another, and
the usual levels can be compiled ahead. All levels named here have fma, so all give the same bits.
"""

import sys
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from linkwork.lazy import computed_once

_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")
_V4 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")


@dataclass(frozen=True)
class Target:
    """A processor, an operating system, and how code is written for them."""

    name: str  # of a folder
    triple: str
    cpu: str
    features: str = ""
    lanes: int = 2  # doubles in one SIMD register
    fetch: str = ""  # the instruction that fetches a cache line to write to; "": none is known

    def machine(self) -> Any:
        """Return LLVM's target machine, which emits objects."""
        return llvm.Target.from_triple(self.triple).create_target_machine(
            cpu=self.cpu, features=self.features, opt=2, reloc="pic", codemodel="small"
        )


def _x86(triple: str, system: str, level: int) -> Target:
    # Eight lanes are one register where there are such registers.
    features, lanes = ("-prefer-256-bit", 8) if level == 4 else ("", 4)
    return Target(
        f"x86-64-v{level}-{system}", triple, f"x86-64-v{level}", features, lanes=lanes, fetch="prefetchw"
    )


def _arm(triple: str, system: str) -> Target:
    return Target(f"aarch64-{system}", triple, "generic", "+neon")


# Code for these is compiled ahead, for a wheel to carry.
AHEAD = (
    _x86("x86_64-unknown-linux-gnu", "linux", 3),
    _x86("x86_64-unknown-linux-gnu", "linux", 4),
    _arm("aarch64-unknown-linux-gnu", "linux"),
)


@computed_once
def host() -> Target:
    """Return what code is made for on this machine: its level, or else just this processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    triple, features = llvm.get_process_triple(), llvm.get_host_cpu_features()
    family = triple.split("-")[0]
    if family == "x86_64" and all(features.get(name) for name in _V3):
        level = 4 if all(features.get(name) for name in _V4) else 3
        if sys.platform == "linux":
            return AHEAD[level - 3]
        return _x86(triple, sys.platform, level)
    if family == "aarch64" and sys.platform == "linux":
        return AHEAD[2]
    lanes = 8 if features.get("avx512f") else 4 if features.get("avx2") else 2
    fetch = "prefetcht0" if family == "x86_64" else ""
    return Target("host", triple, llvm.get_host_cpu_name(), features.flatten(), lanes=lanes, fetch=fetch)
