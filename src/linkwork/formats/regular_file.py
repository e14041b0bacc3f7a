"""Files are read whole, if they are files: a pipe would block, a device never end."""

import stat
from pathlib import Path

from linkwork.errors import FormatError

_POINTER = b"version https://git-lfs."  # how a clone without git-lfs has large files


def check_regular(path: Path, most: int, remedy: str = "or more by largest=") -> None:
    """Refuse what is no regular file, is empty, or has more than `most` bytes."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise FormatError(f"{path}: not a regular file; give the path of a file")
    if status.st_size == 0:
        raise FormatError(f"{path}:1: the file is empty; save it again, or give another")
    if status.st_size > most:
        raise FormatError(f"{path}: {status.st_size} bytes; allowed are {most}, {remedy}")


def read_bytes(path: Path, most: int, remedy: str = "or more by largest=") -> bytes:
    """Return the content of a regular file of at most `most` bytes."""
    check_regular(path, most, remedy)
    data = path.read_bytes()
    if data.startswith(_POINTER):
        raise FormatError(f"{path}:1: a pointer of git-lfs, not the file itself; run `git lfs pull` there")
    return data
