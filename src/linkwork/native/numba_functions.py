"""Control flow as native code: the decorators of Numba functions; how they reach memory and call kernels.

Numba keeps its code on disk, but looks only at the file of a function, not at those of the functions it
calls. So every package has a folder of its own in Linkwork's private cache, named by a digest of its sources,
of those that they import, and of how they are compiled; compiled functions call no others than those of their
package. Arithmetic is strict, nothing runs in parallel by itself, the interpreter's lock is not held, and an
index out of range is our own mistake: whoever fills an array asks for its length first.
"""

import contextlib
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import config, types
from numba.core.decorators import njit
from numba.extending import intrinsic
from numba.np.arrayobj import make_array
from numba.np.numpy_support import from_dtype

from linkwork.native.store import cache_folder

_settings: Any = config
_njit: Any = njit  # its types do not list all options
_LAST_TESTED = 0, 68  # release of Numba that native_parts.py is known to work with
_FOLDER = "numba-[a-z_]+-[0-9a-f]{32}"
_IMPORTED = re.compile(r"^from linkwork\.([\w.]+) import", re.MULTILINE)
_DAY = 86400.0  # [s]


@cache
def _folder(package: Path) -> Path | None:
    """Return the folder of Numba's cache for a package, made if need be; None where there can be none."""
    parent = cache_folder()
    if parent is None:
        return None
    digest = hashlib.sha256(numba.__version__.encode())
    for file in sources(package):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    folder = parent / f"numba-{package.name}-{digest.hexdigest()[:32]}"
    try:
        if not folder.is_dir():
            _remove_stale(parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        os.utime(folder)  # it is in use
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def sources(package: Path) -> list[Path]:
    """Return what shapes the compiled functions of a package: its files, those they import, and this one."""
    root = Path(__file__).parents[1]
    own = sorted(package.glob("*.py"))
    names = {name for file in own for name in _IMPORTED.findall(file.read_text(encoding="utf-8"))}
    imported = (root / f"{name.replace('.', '/')}.py" for name in sorted(names))
    found = [
        *own,
        *(file for file in imported if file.is_file()),
        Path(__file__),
        root / "native/numba_compilers.py",
    ]
    return list(dict.fromkeys(found))


def _remove_stale(parent: Path) -> None:
    """Remove folders of other sources that nobody opened for a day: a process may be about to write there.

    Only what is private and no link.
    """
    for place in os.scandir(parent):
        with contextlib.suppress(OSError):  # as when another process is faster
            status, named = place.stat(follow_symlinks=False), re.fullmatch(_FOLDER, place.name)
            ours = not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
            stale = time.time() - status.st_mtime > _DAY
            if named and ours and stale and place.is_dir(follow_symlinks=False):
                shutil.rmtree(place.path)


@cache
def _compilers() -> dict[str, Any]:
    """Return how functions become parts; in a later Numba it does them its own way, which takes longer."""
    if tuple(map(int, numba.__version__.split(".")[:2])) > _LAST_TESTED:
        return {}
    from linkwork.native import numba_compilers

    return {
        "part": numba_compilers.PartCompiler,
        "apart": numba_compilers.ApartCompiler,
        "within": numba_compilers.WithinCompiler,
    }


def _part(function: Callable[..., Any], how: str) -> Any:
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "no_rewrites": True}
    if compiler := _compilers().get(how):
        options["pipeline_class"] = compiler
    return _njit(nogil=True, error_model="numpy", **options)(function)


def native(function: Callable[..., Any]) -> Any:
    """Compile a function that native code calls; it becomes a part of the entry that calls it."""
    return _part(function, "part")


def native_apart(function: Callable[..., Any]) -> Any:
    """Compile a large function that is called from several places: it stays one, and compiles once."""
    return _part(function, "apart")


def native_within(function: Callable[..., Any]) -> Any:
    """Compile a function that is called so often that the call itself would count: it is copied there."""
    return _part(function, "within")


def for_any_constant(part: Any) -> Any:
    """Return a part that is compiled once for all constants of a type; by itself Numba does it for each."""
    template = part.get_call_template

    def of_types(arguments: Any, keywords: Any) -> Any:
        named = {name: types.unliteral(kind) for name, kind in keywords.items()}
        return template(tuple(types.unliteral(kind) for kind in arguments), named)

    part.get_call_template = of_types
    return part


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, at its first call: strict arithmetic, no lock held, kept on disk.

    Numba decides on the folder here, at decoration; its setting is put back for the user's own functions.
    A NUMBA_CACHE_DIR in the environment is respected.
    """
    kept = _settings.CACHE_DIR
    folder = kept or _folder(Path(function.__code__.co_filename).parent)
    try:
        _settings.CACHE_DIR = str(folder or "")
        return _njit(nogil=True, cache=bool(folder), error_model="numpy")(function)
    finally:
        _settings.CACHE_DIR = kept


def _call(typing_context: Any, address: Any, plan: Any, ports: Any) -> Any:
    """Call `void (*)(int64, int64)` at an address, from native code; plan and ports are addresses too."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [word, word])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        builder.call(function, arguments[1:])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


def _double_memory(typing_context: Any, address: Any, size: Any = None) -> Any:
    """Return the doubles at an address, from native code: x[i] is one of them; `size` is for the reader."""
    return _at(types.CPointer(types.float64), types.Omitted(None) if size is None else types.int64)


def _integer_memory(typing_context: Any, address: Any, size: Any = None) -> Any:
    """Return the 64-bit integers at an address, from native code; `size` is for the reader."""
    return _at(types.CPointer(types.int64), types.Omitted(None) if size is None else types.int64)


def _at(kind: Any, *others: Any) -> Any:
    """Return signature and code of what turns an address, and other arguments, into memory of a kind."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(kind))

    return kind(types.int64, *others), generate


def _memory(typing_context: Any, array: Any) -> Any:
    """Return the numbers of an array, from native code: x[i] is one of them, counted through all rows.

    Parts take these, not arrays: an array is counted whenever it is handed on, which costs more than a
    distance.
    """
    kind = types.CPointer(array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return make_array(array)(context, builder, arguments[0]).data

    return kind(array), generate


def _bits(typing_context: Any, x: Any) -> Any:
    """Return the 64 bits of a double as an integer, from native code."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


def _from_bits(typing_context: Any, word: Any) -> Any:
    """Return the double that has these 64 bits, from native code."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


def record(layout: np.dtype[np.void]) -> Any:
    """Return a function that native code calls for the record of this layout at an address."""

    def memory(typing_context: Any, address: Any) -> Any:
        return _at(from_dtype(layout))

    return intrinsic(memory)


bits: Any = intrinsic(_bits)
call: Any = intrinsic(_call)
doubles: Any = intrinsic(_double_memory)
from_bits: Any = intrinsic(_from_bits)
integers: Any = intrinsic(_integer_memory)
memory: Any = intrinsic(_memory)
