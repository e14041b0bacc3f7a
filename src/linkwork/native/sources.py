"""The sources that shape a piece of code: a file, and all of this package that it imports.

A process runs what it imported, not what is in the files by now. Where a file was changed after the process
began, as by an upgrade, what the code was made of is not known: its digest is then good for this process
only.
"""

import functools
import hashlib
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_BEGAN = time.time()
_OWN = os.urandom(16)
_IMPORT = re.compile(rb"^from (linkwork[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
_WORD = re.compile(rb"\w+")


@functools.cache
def _own_modules() -> dict[bytes, Path]:
    """Return the files of this package by the names of their modules."""
    found = {}
    for file in _PACKAGE.rglob("*.py"):
        parts = file.relative_to(_PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts).encode()] = file
    return found


@functools.cache
def _imported(file: Path) -> frozenset[Path]:
    """Return the files of this package that a file imports at its top."""
    found, modules = set(), _own_modules()
    for module, names in _IMPORT.findall(file.read_bytes()):
        wanted = [module, *(b"%b.%b" % (module, name) for name in _WORD.findall(names))]
        found.update(modules[name] for name in wanted if name in modules)
    return frozenset(found)


@functools.cache
def closure(file: Path) -> frozenset[Path]:
    """Return a file and all of this package that it imports, directly or not."""
    found, waiting = {file}, [file]
    while waiting:
        new = _imported(waiting.pop()) - found
        found |= new
        waiting += new
    return frozenset(found)


def _digest(file: Path) -> tuple[str, bytes]:
    """Return the name of a file in the package, and a digest of its content as this process imported it."""
    try:
        found = os.stat(file)
        return _digest_since(file, found.st_mtime_ns, found.st_ctime_ns)
    except FileNotFoundError:  # removed since, as by an upgrade
        return file.name, _OWN


@functools.cache
def _digest_since(file: Path, modified: int, changed: int) -> tuple[str, bytes]:
    """Return the same, of a file that was written at these times [ns]."""
    name = file.relative_to(_PACKAGE).as_posix() if file.is_relative_to(_PACKAGE) else file.name
    own = _OWN if modified > 1e9 * _BEGAN else b""
    return name, hashlib.sha256(own + file.read_bytes()).digest()


def digest(files: Iterable[Path]) -> bytes:
    """Digest the names and contents of files, as this process imported them, in whatever order they come."""
    return hashlib.sha256(repr(sorted(map(_digest, files))).encode()).digest()


def of_folders(*folders: str) -> list[Path]:
    """Return the files of some folders of this package."""
    return [file for folder in folders for file in (_PACKAGE / folder).glob("**/*.py")]
