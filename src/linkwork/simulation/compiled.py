"""Control flow as native code: the decorators of Numba functions; how they reach memory and call kernels.

Numba keeps its code on disk, but looks only at the file of a function, not at those of the functions it
calls. So our folder of its cache is named by a digest of all that is compiled (`loop/`, and the numbers of
`status.py`) and how, and lies in Linkwork's own private cache.
"""

import contextlib
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
from numba.np.numpy_support import from_dtype

from linkwork.trace.native import cache_folder
from linkwork.trace.once import once_in_all

_settings: Any = config
_njit: Any = njit  # its types do not list all options
_LAST_TESTED = 0, 68  # release of Numba that native_parts.py is known to work with
_FOLDER = "numba-(march|contact)-[0-9a-f]{32}"
_DAY = 86400.0  # [s]


@once_in_all
def _folder() -> Path | None:
    """Return the folder of Numba's cache for these sources, made if need be; None where there can be none."""
    parent = cache_folder()
    if parent is None:
        return None
    here = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    others = [here / name for name in ("compiled.py", "../trace/native_parts.py", "status.py")]
    for file in (*others, *sorted((here / "loop").glob("*.py"))):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    folder = parent / f"numba-march-{digest.hexdigest()[:32]}"
    try:
        if not folder.is_dir():
            _remove_stale(parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        os.utime(folder)  # it is in use
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


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


@once_in_all
def _part_options() -> dict[str, Any]:
    """Return how functions become parts; in a later Numba it does them its own way, which takes longer."""
    if tuple(map(int, numba.__version__.split(".")[:2])) > _LAST_TESTED:
        return {}
    from linkwork.trace.native_parts import PartCompiler

    return {"pipeline_class": PartCompiler}


def native(function: Callable[..., Any]) -> Any:
    """Compile a function that native code calls; it becomes a part of the entry that calls it."""
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "no_rewrites": True}
    return _njit(nogil=True, error_model="numpy", **options, **_part_options())(function)


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


def _double_memory(typing_context: Any, address: Any, size: Any = None) -> Any:
    """Return the doubles at an address, from native code: x[i] is one of them; `size` is for the reader."""
    return _memory(types.CPointer(types.float64), types.Omitted(None) if size is None else types.int64)


def _integer_memory(typing_context: Any, address: Any, size: Any = None) -> Any:
    """Return the 64-bit integers at an address, from native code; `size` is for the reader."""
    return _memory(types.CPointer(types.int64), types.Omitted(None) if size is None else types.int64)


def _memory(kind: Any, *others: Any) -> Any:
    """Return signature and code of what turns an address, and other arguments, into memory of a kind."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(kind))

    return kind(types.int64, *others), generate


def record(layout: np.dtype[np.void]) -> Any:
    """Return a function that native code calls for the record of this layout at an address."""

    def memory(typing_context: Any, address: Any) -> Any:
        return _memory(from_dtype(layout))

    return intrinsic(memory)


call: Any = intrinsic(_call)
doubles: Any = intrinsic(_double_memory)
integers: Any = intrinsic(_integer_memory)
