"""Files written all or nothing."""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path


def write_atomically(path: str | Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file so that after a crash, a kill or on a full disk there is the old one or the new one.

    A symbolic link is replaced, not followed. A kill may leave a `.lw-*.part` behind, which is never read.
    """
    path = Path(path)
    scratch = path.parent / f".lw-{secrets.token_hex(8)}.part"
    try:
        with open(scratch, "xb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)
    except OSError as error:
        scratch.unlink(missing_ok=True)
        raise OSError(error.errno, f"{error.strerror}; nothing was changed", str(path)) from error
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Let the new name itself survive a loss of power, where folders can be synchronised."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
