"""Objects on disk: one file each, with meta data and a checksum; who may have written it; the sweep.

A file is  magic, SHA-256 of (its name, rest), rest = length of the meta data, meta data as JSON, object code.
It is used only if its checksum is intact and only its rightful owner can have written it: in the cache
this user, in the installed package the owner of the sources beside it. Anything else is as good as absent.

Set LINKWORK_CACHE to choose the folder of the cache, or to nothing ("") for none.
"""

import contextlib
import hashlib
import json
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

MAGIC = b"linkwork object 2\n"
SUFFIX = ".o"
MOST_BYTES = 512 * 2**20  # of a cache; the sweep leaves half of them
_UNFINISHED = ".new-"
_DAY = 86400.0  # [s]
# Neither a link is followed, nor does a pipe block.
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

Trust = Callable[[os.stat_result], bool]


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
        return folder if is_private(folder.stat()) else None
    except (OSError, RuntimeError):  # RuntimeError: there is no home
        return None


def is_private(status: os.stat_result) -> bool:
    """Return whether only this user can have written a file or folder."""
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def is_of_package(status: os.stat_result) -> bool:
    """Return whether a file or folder can be written only by users who can write the sources beside it."""
    if not hasattr(os, "getuid"):
        return True
    beside = os.stat(__file__)
    return status.st_uid == beside.st_uid and not status.st_mode & ~beside.st_mode & 0o022


def read(path: Path, trust: Trust = is_private) -> tuple[dict[str, Any], bytes] | None:
    """Read an object and its meta data; None if it is absent, damaged or not to be trusted."""
    try:
        handle = os.open(path, _READ)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or not trust(status) or not trust(os.stat(path.parent)):
                return None
            content = file.read()
    except OSError:
        return None
    head = len(MAGIC)
    checksum, rest = content[head : head + 32], content[head + 32 :]
    if content[:head] != MAGIC or _checksum(path, rest) != checksum:
        return None
    length = int.from_bytes(rest[:8], "little")
    return json.loads(rest[8 : 8 + length]), rest[8 + length :]


def _checksum(path: Path, rest: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + b"\0" + rest).digest()


def write(path: Path, meta: Mapping[str, Any], code: bytes) -> None:
    """Write an object so that a reader sees all or nothing; a full or read-only disk is no error."""
    header = json.dumps(meta).encode()
    rest = len(header).to_bytes(8, "little") + header + code
    content = MAGIC + _checksum(path, rest) + rest
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=_UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(name, path)
        except OSError:
            os.unlink(name)


def keep(path: Path) -> None:
    """Note that an object is in use, once a day: the sweep removes first what was not used for longest."""
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _DAY:
            os.utime(path)


def sweep(folder: Path, most: int = MOST_BYTES) -> None:
    """Remove the objects of a cache that were not used for longest, if all together are larger than `most`.

    Half is left, so that it takes long until the next time. Other files are left alone, except what a writer
    left unfinished more than a day ago.
    """
    found: list[tuple[float, int, str]] = []
    with contextlib.suppress(OSError):
        for file in os.scandir(folder):
            status = file.stat(follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode) or not is_private(status):
                continue
            if file.name.startswith(_UNFINISHED) and time.time() - status.st_mtime > _DAY:
                os.unlink(file.path)
            elif file.name.endswith(SUFFIX):
                found.append((status.st_mtime, status.st_size, file.path))
    total = sum(size for _, size, _ in found)
    if total <= most:
        return
    for _, size, path in sorted(found):
        with contextlib.suppress(OSError):  # as when another process is faster
            os.unlink(path)
        total -= size
        if total <= most // 2:
            return
