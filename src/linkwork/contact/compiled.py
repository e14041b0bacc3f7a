"""How the functions of this package become native code: `native` for parts, `entry` for what Python calls.

Numba keeps its code on disk, but looks only at the file of a function, not at those of the functions it
calls. So the folder of its cache is named by a digest of the sources of this package, inside Linkwork's own
cache. Arithmetic is strict, nothing runs in parallel by itself, the interpreter's lock is not held, and an
index out of range is our own mistake: whoever fills an array asks for its length first.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config, types
from numba.core.decorators import njit
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from linkwork.trace.native import cache_folder
from linkwork.trace.once import once_in_all

_settings: Any = config
_njit: Any = njit  # its types do not list all options
_LAST_TESTED = 0, 68  # release of Numba that trace/native_parts.py is known to work with


@once_in_all
def _folder() -> Path | None:
    """Return the folder of Numba's cache for these sources, made if need be; None where there can be none."""
    parent = cache_folder()
    if parent is None:
        return None
    digest = hashlib.sha256(numba.__version__.encode())
    here = Path(__file__).parent
    for file in (here.parent / "trace" / "native_parts.py", *sorted(here.glob("*.py"))):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    folder = parent / f"numba-contact-{digest.hexdigest()[:32]}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        os.utime(folder)  # it is in use
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


@once_in_all
def _compilers() -> dict[bool, dict[str, Any]]:
    """Return how functions become parts; in a later Numba it does them its own way, which takes longer."""
    if tuple(map(int, numba.__version__.split(".")[:2])) > _LAST_TESTED:
        return {False: {}, True: {}}
    from linkwork.trace.native_parts import ApartCompiler, PartCompiler

    return {False: {"pipeline_class": PartCompiler}, True: {"pipeline_class": ApartCompiler}}


def _part(function: Callable[..., Any], apart: bool) -> Any:
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "no_rewrites": True}
    return _njit(nogil=True, error_model="numpy", **options, **_compilers()[apart])(function)


def native(function: Callable[..., Any]) -> Any:
    """Compile a function that native code calls; it becomes a part of the entry that calls it."""
    return _part(function, False)


def native_apart(function: Callable[..., Any]) -> Any:
    """Compile a large function that is called from several places: it stays one, and compiles once."""
    return _part(function, True)


def entry(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, at its first call: strict arithmetic, no lock held, kept on disk.

    Numba decides on the folder here, at decoration; its setting is put back for the user's own functions.
    A NUMBA_CACHE_DIR in the environment is respected.
    """
    kept = _settings.CACHE_DIR
    folder = kept or _folder()
    try:
        _settings.CACHE_DIR = str(folder or "")
        return _njit(nogil=True, cache=bool(folder), error_model="numpy")(function)
    finally:
        _settings.CACHE_DIR = kept


def _memory(typing_context: Any, array: Any) -> Any:
    """Return the numbers of an array, from native code: x[i] is one of them, counted through all rows.

    Parts take these, not arrays: an array is counted whenever it is handed on, which costs more than a
    distance.
    """
    kind = types.CPointer(array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return make_array(array)(context, builder, arguments[0]).data

    return kind(array), generate


def _at(kind: Any) -> Any:
    """Return signature and code of what turns an address into memory."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(kind))

    return kind(types.int64), generate


def _doubles(typing_context: Any, address: Any) -> Any:
    """Return the doubles at an address, from native code."""
    return _at(types.CPointer(types.float64))


def _integers(typing_context: Any, address: Any) -> Any:
    """Return the 64-bit integers at an address, from native code."""
    return _at(types.CPointer(types.int64))


memory: Any = intrinsic(_memory)
doubles: Any = intrinsic(_doubles)
integers: Any = intrinsic(_integers)
