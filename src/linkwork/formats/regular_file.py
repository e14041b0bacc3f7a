"""Files are read whole, if they are files: a pipe would block, a device never end."""

import stat
from pathlib import Path

from linkwork.errors import FormatError


def check_regular(path: Path, most: int) -> None:
    """Refuse what is no regular file, is empty, or has more than `most` bytes."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise FormatError(f"{path}: not a regular file; give the path of a file")
    if status.st_size == 0:
        raise FormatError(f"{path}:1: the file is empty; save it again, or give another")
    if status.st_size > most:
        raise FormatError(f"{path}: {status.st_size} bytes; allowed are {most}, or more by largest=")


def read_bytes(path: Path, most: int) -> bytes:
    """Return the content of a regular file of at most `most` bytes."""
    check_regular(path, most)
    return path.read_bytes()
