"""Control flow as native code: the decorators of Numba functions; how they reach memory and call kernels.

Numba keeps its code on disk, but looks only at the file of a function, not at those of the functions it
calls. So our folder of its cache is named by a digest of all sources that it compiles (this file, `loop/`, the
numbers in `status.py`), and lies in Linkwork's own private cache.
"""

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import config, types
from numba.core.decorators import njit
from numba.extending import intrinsic
from numba.np.numpy_support import carray

from linkwork.trace.native import cache_folder
from linkwork.trace.once import once_in_all

_settings: Any = config
_njit: Any = njit  # its types do not list all options
_DAY = 86400.0  # [s]


@once_in_all
def _folder() -> Path | None:
    """Return the folder of Numba's cache for these sources, made if need be; None where there can be none."""
    parent = cache_folder()
    if parent is None:
        return None
    here = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for file in (Path(__file__), here / "status.py", *sorted((here / "loop").glob("*.py"))):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    folder = parent / f"numba-{digest.hexdigest()[:32]}"
    try:
        if not folder.is_dir():
            _remove_stale(parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        os.utime(folder)  # says when it was last of use
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _remove_stale(parent: Path) -> None:
    """Remove folders of other sources that were of no use for a day: no running process waits to write there.

    Only what is ours and private, and is no link.
    """
    for place in os.scandir(parent):
        if not re.fullmatch("numba-[0-9a-f]{32}", place.name) or not place.is_dir(follow_symlinks=False):
            continue
        status = place.stat(follow_symlinks=False)
        ours = not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
        if ours and time.time() - status.st_mtime > _DAY:
            shutil.rmtree(place.path, ignore_errors=True)


def native(function: Callable[..., Any]) -> Any:
    """Compile a function that native code calls; it becomes a part of the entry that calls it."""
    return _njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


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


def _call(typing_context: Any, address: Any, plan: Any, ports: Any) -> Any:
    """Call `void (*)(int64, int64)` at an address, from native code; plan and ports are addresses too."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [word, word])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        builder.call(function, arguments[1:])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


def _pointer(typing_context: Any, address: Any) -> Any:
    """Return an address as a pointer, from native code."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), generate


call: Any = intrinsic(_call)
_at: Any = intrinsic(_pointer)


@native
def doubles(address, size):
    """Return the array of doubles at an address."""
    return carray(_at(address), size, np.float64)


@native
def integers(address, size):
    """Return the array of 64-bit integers at an address."""
    return carray(_at(address), size, np.int64)


@native
def records(address, size, kind):
    """Return the array of records of a kind at an address."""
    return carray(_at(address), size, kind)
