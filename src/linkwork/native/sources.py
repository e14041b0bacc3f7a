"""The sources that shape a piece of code: a file, and all of this package that it imports.

A process runs what it imported, not what is in the files by now. Where a file was changed after the process
began, as by an upgrade, nobody can tell what the code was made of: its digest is then good for this process
only.
"""

import functools
import hashlib
import os
import re
import time
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_BEGAN = time.time()
_OWN = os.urandom(16)
_IMPORT = re.compile(r"^from (linkwork[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


@functools.cache
def _imported(file: Path) -> tuple[Path, ...]:
    """Return the files of this package that a file imports at its top."""
    found = {}
    for module, names in _IMPORT.findall(file.read_text(encoding="utf-8")):
        path = _PACKAGE.joinpath(*module.split(".")[1:])
        below = [path / name for name in re.findall(r"\w+", names)]
        for place in (path, *below):
            for candidate in (place.with_suffix(".py"), place / "__init__.py"):
                if candidate.is_file():
                    found[candidate] = None
    return tuple(found)


def closure(file: Path) -> list[Path]:
    """Return a file and all of this package that it imports, directly or not, in a fixed order."""
    found, waiting = {file}, [file]
    while waiting:
        for other in _imported(waiting.pop()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return sorted(found)


def digest(files: list[Path]) -> bytes:
    """Digest the names and contents of files, as this process imported them."""
    total = hashlib.sha256()
    if any(file.stat().st_mtime > _BEGAN for file in files):
        total.update(_OWN)
    for file in files:
        name = file.relative_to(_PACKAGE).as_posix() if file.is_relative_to(_PACKAGE) else file.name
        total.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return total.digest()


def of_folders(*folders: str) -> list[Path]:
    """Return the files of some folders of this package."""
    return [file for folder in folders for file in sorted((_PACKAGE / folder).glob("**/*.py"))]
