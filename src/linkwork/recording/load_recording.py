"""Files of recordings, of one run or of a batch."""

from pathlib import Path

from linkwork.errors import FormatError
from linkwork.recording import array_file
from linkwork.recording.batch import Recordings, restore_batch
from linkwork.recording.recording import Recording


def load_recording(path: str | Path) -> Recording | Recordings:
    """Read what `save` wrote; FormatError says what is wrong with a file."""
    header, arrays = array_file.read(path)
    try:
        match header.get("kind"):
            case "recording":
                return Recording.restored(header, arrays)
            case "recordings":
                return restore_batch(header, arrays)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{path}: is no complete recording: {type(error).__name__}: {error}") from None
    raise FormatError(f"{path}: holds {header.get('kind')!r}, not a recording")
