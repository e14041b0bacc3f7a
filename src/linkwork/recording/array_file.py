"""Files of named arrays with a JSON header: written all or nothing, and checked before anything is used.

    magic (8) | version (4) | length of header (8) | header | arrays, at multiples of 64 bytes | SHA-256 (32)

All numbers are little-endian; the digest is of all that stands before it. The header lists name, dtype, shape
and offset of each array, and holds what the caller gave. Equal content gives equal bytes.
"""

import hashlib
import json
import math
import stat
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.atomic_files import write_atomically
from linkwork.errors import FormatError
from linkwork.formats.json_text import too_much

Array = np.ndarray

_MAGIC = b"\x89LWR\r\n\x1a\n"  # as PNG does it: a transfer that changes line ends or the eighth bit shows
_VERSION = 1
_PREFIX = struct.Struct("<8sIQ")
_DIGEST = hashlib.sha256().digest_size
_ALIGNMENT = 64
_BLOCK = 1 << 20  # bytes that are read at a time to check a file
_DTYPES = {"float64": np.dtype("<f8"), "int64": np.dtype("<i8"), "bool": np.dtype("?")}
_DIMENSIONS = 32  # NumPy 2 has 64; no array of ours has more than 5


def write(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write a header of plain JSON values and arrays of float64, int64 or bool to one file."""
    write_atomically(path, _signed(_parts(header, arrays)))


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return header and arrays (not writable) of a file; FormatError says what is wrong with it."""
    path = path if isinstance(path, Path) else Path(path)
    try:
        content = _content(path)
        start, described = _check_frame(content)
        return described["header"], _arrays(content, start, described["arrays"])
    except _Fault as fault:
        raise FormatError(f"{path}: {fault}") from None


# writing


def _signed(parts: Iterable[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
        yield part
    yield digest.digest()


def _parts(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Iterator[bytes | memoryview]:
    """Yield the bytes before the digest; all that can be wrong is found before the first of them."""
    stored = {name: _storable(name, array) for name, array in sorted(arrays.items())}
    entries, offset = [], 0
    for name, array in stored.items():
        entry = {"name": name, "dtype": array.dtype.name, "shape": list(array.shape), "offset": offset}
        entries.append(entry)
        offset = _aligned(offset + array.nbytes)
    text = json.dumps(
        {"header": dict(header), "arrays": entries}, sort_keys=True, separators=(",", ":"), allow_nan=False
    ).encode()
    yield _PREFIX.pack(_MAGIC, _VERSION, len(text)) + text
    end = _PREFIX.size + len(text)
    yield bytes(_aligned(end) - end)
    for array in stored.values():
        yield array.reshape(-1).view(np.uint8).data
        yield bytes(_aligned(array.nbytes) - array.nbytes)


def _storable(name: str, array: Array) -> Array:
    kind = _DTYPES.get(array.dtype.name)
    if kind is None:
        raise ValueError(f"array {name!r} has dtype {array.dtype}; files hold {', '.join(_DTYPES)}")
    return np.asarray(array, kind, order="C")


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT


# reading


class _Fault(Exception):
    """What is wrong with a file."""


def _content(path: Path) -> bytes:
    """Return the bytes of a file whose beginning and checksum are right; memory is asked for last."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe would block, a device never end
            raise _Fault("is not a regular file")
        with path.open("rb") as file:
            _check_start(file.read(_PREFIX.size), status.st_size)
            file.seek(0)
            digest, left = hashlib.sha256(), status.st_size - _DIGEST
            while left and (block := file.read(min(left, _BLOCK))):
                digest.update(block)
                left -= len(block)
            if digest.digest() != file.read():
                raise _Fault("is damaged: its checksum is not that of its content; take another copy")
            file.seek(0)
            return file.read()
    except FileNotFoundError:
        raise _Fault("there is no such file") from None
    except OSError as error:
        raise _Fault(f"cannot be read: {error.strerror}") from None


def _check_start(start: bytes, size: int) -> None:
    if size < _PREFIX.size + _DIGEST or len(start) < _PREFIX.size:
        raise _Fault(f"has {size} bytes, too few for a recording; it is cut short or something else")
    magic, version, _ = _PREFIX.unpack(start)
    if magic != _MAGIC:
        raise _Fault("is not a file of Linkwork; its first bytes are others")
    if version > _VERSION:
        raise _Fault(
            f"is of version {version}, and this Linkwork reads up to {_VERSION}; it is newer or damaged: "
            "update Linkwork, or take another copy"
        )


def _check_frame(content: bytes) -> tuple[int, dict[str, Any]]:
    """Check the header that is before the arrays; return where they start, and the header."""
    _, version, length = _PREFIX.unpack_from(content)
    if version != _VERSION or length > len(content) - _PREFIX.size - _DIGEST:
        raise _Fault(f"has version {version} and a header of {length} bytes, which cannot be")
    text = memoryview(content)[_PREFIX.size : _PREFIX.size + length]
    if problem := too_much(text):
        raise _Fault(f"has a header with {problem}")
    described = _json(bytes(text))
    match described:
        case {"header": dict(), "arrays": list()} if len(described) == 2:
            return _aligned(_PREFIX.size + length), described
    raise _Fault("has a header without the list of arrays")


def _json(text: bytes) -> Any:
    """Read strict JSON: no NaN, no number beyond the range of doubles, no key twice."""
    try:
        return json.loads(
            text.decode("utf-8"),
            parse_constant=_finite,
            parse_float=_finite,
            object_pairs_hook=_without_duplicates,
        )
    except (ValueError, RecursionError) as error:
        raise _Fault(f"has a header that is not strict JSON: {error}") from None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text}")
    return number


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a key is given twice among {sorted(key for key, _ in pairs)}")
    return found


def _arrays(content: bytes, start: int, entries: list[Any]) -> dict[str, Array]:
    """Return the arrays; sizes are checked in whole numbers before NumPy sees them."""
    arrays: dict[str, Array] = {}
    room = len(content) - _DIGEST - start
    offset = 0
    for entry in entries:
        name, dtype, shape = _entry(entry, offset)
        count = math.prod(shape)
        if name in arrays:
            raise _Fault(f"has two arrays {name!r}")
        if count * dtype.itemsize > room - offset:
            raise _Fault(f"array {name!r} of shape {tuple(shape)} goes beyond the end of the file")
        flat = np.frombuffer(content, dtype, count, start + offset) if count else np.zeros(0, dtype)
        if dtype.kind == "b" and (flat.view(np.uint8) > 1).any():
            raise _Fault(f"array {name!r} has truth values other than 0 and 1")
        try:
            arrays[name] = flat.reshape(shape)
        except ValueError:  # an empty array with a side that NumPy cannot count
            raise _Fault(f"array {name!r} has the shape {tuple(shape)}") from None
        offset = _aligned(offset + count * dtype.itemsize)
    if offset != room:
        raise _Fault(f"has {room} bytes of arrays where its header lists {offset}")
    return arrays


def _entry(entry: Any, offset: int) -> tuple[str, np.dtype, list[int]]:
    match entry:
        case {"name": str(name), "dtype": str(dtype), "shape": list(shape), "offset": int(at)}:
            pass
        case _:
            raise _Fault(f"lists an array without name, dtype, shape and offset: {str(entry)[:80]}")
    if dtype not in _DTYPES:
        raise _Fault(f"array {name!r} has dtype {dtype!r}; allowed are {', '.join(_DTYPES)}")
    if len(shape) > _DIMENSIONS or not all(type(side) is int and side >= 0 for side in shape):
        raise _Fault(f"array {name!r} has the shape {str(shape)[:80]}; sides are whole numbers, 0 or more")
    if at != offset:
        raise _Fault(f"array {name!r} is said to be at {at} and not, after the one before, at {offset}")
    return name, _DTYPES[dtype], shape
