"""Native code: compile a module with LLVM, keep the object on disk, load it, give out addresses.

A cached object is used only if it is ours: in a private folder, owned by this user, under a name that is a
digest of everything that shaped the code (its source key, the compiler, the processor), and with an intact
checksum. Anything else is rebuilt. Set LINKWORK_CACHE to choose the folder, or to nothing ("") for no cache.
"""

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from linkwork.errors import LinkworkError
from linkwork.lazy import LOCK, computed_once

_MAGIC = b"linkwork object 1\n"
_loaded: dict[str, dict[str, Any]] = {}  # digest -> meta, of what is in memory


@computed_once
def _machine() -> tuple[Any, Any, str]:
    """Return the target machine, the engine that holds all loaded code, and the processor in words."""
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise LinkworkError(
            "single calls share scratch memory under the interpreter's lock; this Python has none"
        )
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    name = llvm.get_host_cpu_name()
    features = llvm.get_host_cpu_features()
    features["prefer-256-bit"] = False  # eight lanes are one register where there are such registers
    text = features.flatten()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    machine = target.create_target_machine(cpu=name, features=text, opt=2, reloc="pic", codemodel="small")
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    return machine, engine, f"{llvm.get_process_triple()} {name} {text}"


@computed_once
def lanes() -> int:
    """Return how many doubles one SIMD register of this processor holds."""
    features = llvm.get_host_cpu_features()
    return 8 if features.get("avx512f") else 4 if features.get("avx2") else 2


@computed_once
def fetch() -> str:
    """Return the instruction by which this processor fetches a cache line to write to; "" if we know none."""
    if not llvm.get_process_triple().startswith("x86_64"):
        return ""
    return "prefetchw" if llvm.get_host_cpu_features().get("prfchw") else "prefetcht0"


@computed_once
def _surroundings() -> bytes:
    """Digest what shapes all code: the sources of the compiler and of the physics, LLVM, the processor."""
    digest = hashlib.sha256()
    package = Path(__file__).parents[1]
    for folder in ("algebra", "dynamics", "mechanism", "native", "trace", "tree"):
        for file in sorted((package / folder).glob("*.py")):
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    digest.update(f"{llvmlite.__version__} {llvm.llvm_version_info} {_machine()[2]} {sys.byteorder}".encode())
    return digest.digest()


def cache_folder() -> Path | None:
    """Return the private folder of cached objects, made if need be; None where there can be none."""
    setting = os.environ.get("LINKWORK_CACHE")
    if setting == "":
        return None
    try:
        if setting is not None:
            folder = Path(setting)
        elif sys.platform == "win32":
            folder = Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "linkwork" / "cache"
        else:
            folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "linkwork"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _private(folder) else None
    except (OSError, RuntimeError):  # RuntimeError: there is no home
        return None


def _private(path: Path) -> bool:
    """Tell whether only this user can have written the file or folder."""
    if not hasattr(os, "getuid"):
        return True
    status = path.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def _read(path: Path) -> tuple[dict[str, Any], bytes] | None:
    """Read a cached object; None if it is absent, damaged or not ours."""
    try:
        if not _private(path):
            return None
        content = path.read_bytes()
    except OSError:
        return None
    head = len(_MAGIC)
    checksum, rest = content[head : head + 32], content[head + 32 :]
    if content[:head] != _MAGIC or hashlib.sha256(path.name.encode() + rest).digest() != checksum:
        return None
    length = int.from_bytes(rest[:8], "little")
    return json.loads(rest[8 : 8 + length]), rest[8 + length :]


def _write(path: Path, meta: Mapping[str, Any], code: bytes) -> None:
    """Write a cached object so that a reader sees all or nothing; a full or read-only disk is no error."""
    header = json.dumps(meta).encode()
    rest = len(header).to_bytes(8, "little") + header + code
    content = _MAGIC + hashlib.sha256(path.name.encode() + rest).digest() + rest
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
    except OSError:
        pass


def digest(*key: object) -> str:
    """Return the name of a piece of code: a digest of its key and of all that shapes code."""
    return hashlib.sha256(_surroundings() + repr(key).encode()).hexdigest()[:32]


def load(
    name: str, build: Callable[[], tuple[str, Mapping[str, Any]]], optimize: bool = False
) -> dict[str, Any]:
    """Make the code of this name (a digest) available and return its meta data.

    `build` returns LLVM text and meta data (plain JSON); called if the code is neither in memory nor on disk.
    """
    with LOCK:
        if name in _loaded:
            return _loaded[name]
        folder = cache_folder()
        path = folder / f"{name}.o" if folder else None
        found = _read(path) if path else None
        if found is None:
            text, meta = build()
            code = compile_text(text, optimize)
            if path:
                _write(path, meta, code)
            found = dict(meta), code
        meta, code = found
        engine = _machine()[1]
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        _loaded[name] = meta
        return meta


def compile_text(text: str, optimize: bool = False) -> bytes:
    """Compile LLVM text to an object file.

    Kernels come as good as they get, straight from the tracer; `optimize` is for code written by hand.
    """
    module = llvm.parse_assembly(text)
    machine = _machine()[0]
    if optimize:
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
        builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)


def address(function: str) -> int:
    """Return the address of a loaded function."""
    with LOCK:
        return _machine()[1].get_function_address(function)


def provide(symbols: Mapping[str, int]) -> None:
    """Make addresses of this process known to the code loaded from now on."""
    for name, value in symbols.items():
        llvm.add_symbol(name, value)
