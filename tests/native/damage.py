"""Flipped bits and cut files in a store of kernels and loops, seen from new processes.

    python tests/native/damage.py --flips 1000 --cuts 200        (make soak)

All entries of a store are damaged at once, each in one random place; then a new process uses all of them. It
must not crash, report nothing, compute what is right, and leave a store that is whole again.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

KERNELS, LOOPS = 40, 10

LOOPS_SOURCE = "\n".join(
    [
        "from linkwork.native.numba_functions import entry",
        *(
            f"@entry('float64', 'float64', 'float64[::1]')\ndef loop{k}(x, y):\n"
            f"    for i in range(len(y)):\n        x += {k} * y[i]\n    return x\n"
            for k in range(LOOPS)
        ),
    ]
)

# prints how many objects were built, whether Numba was imported, and the results
CHILD = f"""
import ctypes, json, sys
import numpy as np
from linkwork.native import emit, store
from linkwork.trace.expression import Graph

built = 0
compile_text = store.compile_text
def counted(*arguments):
    global built
    built += 1
    return compile_text(*arguments)
store.compile_text = counted

found = []
for k in range({KERNELS}):
    name = store.digest("test of damage", k)
    def build():
        x = Graph().symbol(("x", 0))
        text = emit.straight(f"f_{{name}}", 1, ["x", "y"], (), [("y", 0, float(k) * x + 1.0)])
        return emit.module(1, [text]), {{"k": k}}
    assert store.load(name, build) == {{"k": k}}
    x, y = np.array([2.0]), np.zeros(1)
    ports = np.array([x.ctypes.data, y.ctypes.data], np.int64)
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(store.address(f"f_{{name}}"))
    run(None, ports.ctypes.data)
    found.append(float(y[0]))
import damaged_loops
for k in range({LOOPS}):
    found.append(getattr(damaged_loops, f"loop{{k}}")(1.0, np.arange(4.0)))
print(json.dumps([built, "numba" in sys.modules, found]))
"""
RIGHT = [2.0 * k + 1.0 for k in range(KERNELS)] + [1.0 + 6.0 * k for k in range(LOOPS)]


class Store:
    """A cache in a folder, and processes that use it."""

    def __init__(self, folder: Path):
        self.cache, self._sources = folder / "cache", folder / "sources"
        self._sources.mkdir()
        (self._sources / "damaged_loops.py").write_text(LOOPS_SOURCE)

    def use(self) -> tuple[int, bool]:
        """Use all entries in a new process: return how many were built, and whether Numba was needed."""
        path = os.pathsep.join([str(self._sources), *sys.path])
        environment = {**os.environ, "LINKWORK_CACHE": str(self.cache), "PYTHONPATH": path}
        child = subprocess.run(
            [sys.executable, "-c", CHILD], env=environment, capture_output=True, text=True, timeout=600
        )
        if child.returncode or child.stderr:
            raise AssertionError(f"exit code {child.returncode}: {child.stderr}")
        built, with_numba, found = json.loads(child.stdout)
        assert found == RIGHT, found
        return built, with_numba

    @property
    def entries(self) -> list[Path]:
        return sorted(self.cache.iterdir())


def flipped(content: bytes, rng: random.Random) -> bytes:
    """Return content with one bit flipped."""
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]


def cut(content: bytes, rng: random.Random) -> bytes:
    """Return content without its end."""
    return content[: rng.randrange(len(content))]


def soak(folder: Path, flips: int, cuts: int, seed: int = 1) -> None:
    """Damage entries so often, many at a time, and see that every process copes."""
    rng, store = random.Random(seed), Store(folder)
    store.use()
    assert store.use() == (0, False)
    whole = len(store.entries)
    for damage, count in ((flipped, flips), (cut, cuts)):
        while count > 0:
            chosen = rng.sample(store.entries, min(count, whole))
            for path in chosen:
                path.write_bytes(damage(path.read_bytes(), rng))
            built, _ = store.use()
            assert built == len(chosen), f"{len(chosen)} damaged entries, {built} built"
            count -= len(chosen)
    assert store.use() == (0, False)
    assert len(store.entries) == whole


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--cuts", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        soak(Path(folder), options.flips, options.cuts)
    print(f"{options.flips} flipped bits, {options.cuts} cut files: no crash, no error, all results right")


if __name__ == "__main__":
    main()
