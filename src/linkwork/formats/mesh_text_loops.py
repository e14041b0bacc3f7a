"""Mesh files made of words, as native code: one pass over the bytes, into arrays that are large enough.

What is wrong, or left to Python, is reported by where its line begins; Python looks at that line and says
what it is. `marks[0]` is the byte to go on from, `marks[1:]` count what was found.
"""

from linkwork.formats.number_loops import (
    WORD,
    is_end,
    read_number,
    read_whole,
    skip_blanks,
    skip_line,
    skip_word,
)
from linkwork.native.numba_functions import entry, native

DONE, STOPPED, TOO_MANY = 0, 1, 2
SKIP, LIST, SKIPPED_LIST, REST = -1, -2, -3, -4  # columns of a table that are not kept as numbers
_F, _V, _HASH = 102, 118, 35


@native
def _ended(data, at, end):
    return at >= end or is_end(data[at])


@native
def _matches(data, at, end, word):
    """Return whether a word, in small letters, its length in front, stands here in letters of any size."""
    size = word[0]
    if at + size > end or (at + size < end and skip_word(data, at, end) != at + size):
        return False
    for k in range(size):
        c = data[at + k]
        if (c + 32 if c >= 65 and c <= 90 else c) != word[1 + k]:
            return False
    return True


@native
def _is_among(data, at, end, words):
    """Return whether one of some words stands here; `v` and `f`, by far the most, are none of them."""
    if at + 1 < end and skip_blanks(data, at + 1, end) > at + 1 and (data[at] == _V or data[at] == _F):
        return False
    for k in range(words.shape[0]):  # noqa: SIM110, for the compiler
        if _matches(data, at, end, words[k]):
            return True
    return False


@entry("int64", "uint8[::1]", "int64[::1]")
def count_obj(data, marks):
    """Count vertices, faces and their corners, as far as lines begin with v and f, into `marks[1:4]`."""
    at, end = 0, data.shape[0]
    while at < end:
        at = skip_blanks(data, at, end)
        if at + 1 < end and skip_blanks(data, at + 1, end) > at + 1:
            if data[at] == _V:
                marks[1] += 1
            elif data[at] == _F:
                marks[2] += 1
                corners, at = 0, skip_blanks(data, at + 1, end)
                while not _ended(data, at, end) and data[at] != _HASH:
                    corners += 1
                    at = skip_blanks(data, skip_word(data, at, end), end)
                marks[3] += corners
                marks[4] = max(marks[4], corners)
        at = skip_line(data, at, end)
    return DONE


@native
def _point(data, at, end, largest, high, low, vertices, k):
    """Read three numbers; return where they end, or -1."""
    for axis in range(3):
        at = skip_blanks(data, at, end)
        vertices[k, axis], at, how = read_number(data, at, end, largest, high, low)
        if how != WORD:
            return -1
    return at


@native
def _corner(data, at, end, count):
    """Read a corner, a, a/b, a//c or a/b/c; return the vertex, or -1, and where the corner ends."""
    value, at, good = read_whole(data, at, end, True)
    if not good or value == 0 or value > count or value < -count:
        return -1, at
    if not _ended(data, at, end) and data[at] != 47 and skip_blanks(data, at, end) == at:
        return -1, at
    return (value - 1 if value > 0 else count + value), skip_word(data, at, end)


@entry(
    "int64",
    "uint8[::1]",
    "float64",
    "float64[::1]",
    "float64[::1]",
    "uint8[:, ::1]",
    "float64[:, ::1]",
    "int32[::1]",
    "int32[::1]",
    "int64[::1]",
)
def read_obj(data, largest, high, low, words, vertices, corners, counts, marks):
    """Read vertices and faces from `marks[0]` on, pass over lines that begin with `words`, stop at others."""
    at, end = marks[0], data.shape[0]
    n, m, c = marks[1], marks[2], marks[3]
    how = DONE
    while at < end:
        line = at
        at = skip_blanks(data, at, end)
        if not _ended(data, at, end) and data[at] != _HASH and not _is_among(data, at, end, words):
            kind, blank = data[at], at + 1 < end and skip_blanks(data, at + 1, end) > at + 1
            bad = not blank or (kind != _V and kind != _F)
            bad = bad or (kind == _V and n >= vertices.shape[0]) or (kind == _F and m >= counts.shape[0])
            if not bad and kind == _V:
                at = _point(data, at + 1, end, largest, high, low, vertices, n)
                bad = at < 0
                n += 0 if bad else 1
            elif not bad:
                first, at = c, skip_blanks(data, at + 1, end)
                while not _ended(data, at, end) and data[at] != _HASH:
                    vertex, at = _corner(data, at, end, n)
                    if vertex < 0 or c >= corners.shape[0]:
                        bad = True
                        break
                    corners[c] = vertex
                    c += 1
                    at = skip_blanks(data, at, end)
                if c - first < 3 or bad:
                    bad, c = True, first
                else:
                    counts[m] = c - first
                    m += 1
            if bad:
                at, how = line, STOPPED
                break
        at = skip_line(data, at, end)
    marks[0], marks[1], marks[2], marks[3] = at, n, m, c
    return how


@entry(
    "int64",
    "uint8[::1]",
    "float64",
    "float64[::1]",
    "float64[::1]",
    "uint8[:, ::1]",
    "float64[:, ::1]",
    "int64[::1]",
)
def read_facets(data, largest, high, low, words, corners, marks):
    """Read facets of STL in words from `marks[0]` on; `words` are facet, outer, vertex, endloop, endfacet.

    Stop, at the beginning of that facet, where one is not just so.
    """
    at, end, n = marks[0], data.shape[0], marks[1]
    how = DONE
    while at < end:
        facet, found, step = at, n, 0
        while step < 7 and at < end:  # facet, outer, vertex three times, endloop, endfacet
            line = at
            at = skip_blanks(data, at, end)
            if not _ended(data, at, end):
                word = step if step < 3 else max(2, step - 2)
                if n == corners.shape[0] or not _matches(data, at, end, words[word]):
                    at = line
                    break
                if word == 2:
                    at = _point(data, skip_word(data, at, end), end, largest, high, low, corners, n)
                    if at < 0 or not _ended(data, skip_blanks(data, at, end), end):
                        at = line
                        break
                    n += 1
                step += 1
            at = skip_line(data, at, end)
        if step < 7:
            if step > 0 or at < end:
                at, n, how = facet, found, STOPPED
            break
    marks[0], marks[1] = at, n
    return how


@entry(
    "int64",
    "uint8[::1]",
    "float64",
    "float64[::1]",
    "float64[::1]",
    "int64[::1]",
    "int64",
    "int64",
    "int64",
    "float64[:, ::1]",
    "int32[::1]",
    "int32[::1]",
    "int64[::1]",
)
def read_rows(data, largest, high, low, columns, comment, longest, bound, numbers, corners, counts, marks):
    """Read rows of a table, a line each, from `marks[0]` on until `marks[2]` rows; `marks[1]` are there.

    A column is the place of its number in `numbers`, or SKIP, or a list with its length in front, LIST, whose
    whole numbers, up to `bound`, go to `corners`, or SKIPPED_LIST, both no longer than `longest`; what
    follows REST is whatever it is. `marks[3]` counts corners.
    """
    at, end, row, c = marks[0], data.shape[0], marks[1], marks[3]
    how = DONE
    while row < marks[2]:
        if at >= end:
            how = STOPPED
            break
        line = at
        at = skip_blanks(data, at, end)
        if _ended(data, at, end) or data[at] == comment:
            at = skip_line(data, at, end)
            continue
        bad, first = False, c
        for k in range(columns.shape[0]):
            kind = columns[k]
            if kind == REST:
                break
            at = skip_blanks(data, at, end)
            if kind in (LIST, SKIPPED_LIST):
                size, at, good = read_whole(data, at, end, False)
                bad = not good or size > longest
                bad = bad or not (_ended(data, at, end) or skip_blanks(data, at, end) > at)
                if bad:
                    break
                for _ in range(size):
                    value, at, good = read_whole(data, skip_blanks(data, at, end), end, False)
                    bad = not good or value > bound or (kind == LIST and c >= corners.shape[0])
                    bad = bad or not (_ended(data, at, end) or skip_blanks(data, at, end) > at)
                    if bad:
                        break
                    if kind == LIST:
                        corners[c] = value
                        c += 1
                if kind == LIST:
                    counts[row] = size
            else:
                value, at, state = read_number(data, at, end, largest, high, low)
                bad = state != WORD
                if kind >= 0 and not bad:
                    numbers[row, kind] = value
            if bad:
                break
        if bad:
            at, c, how = line, first, STOPPED
            break
        row += 1
        at = skip_line(data, at, end)
    marks[0], marks[1], marks[3] = at, row, c
    return how


@entry("int64", "uint8[::1]", "float64", "float64[::1]", "float64[::1]", "float64[::1]", "int64[::1]")
def read_numbers(data, largest, high, low, numbers, marks):
    """Read numbers that are separated by white space, whatever the lines, from `marks[0]` on."""
    at, end, n = marks[0], data.shape[0], marks[1]
    while True:
        while at < end and (is_end(data[at]) or skip_blanks(data, at, end) > at):
            at += 1
        marks[0], marks[1] = at, n
        if at >= end:
            return DONE
        if n == numbers.shape[0]:
            return TOO_MANY
        numbers[n], at, how = read_number(data, at, end, largest, high, low)
        if how != WORD:
            return STOPPED
        n += 1


@native
def _whole_at(data, at, size, big, signed):
    value = 0
    for k in range(size):
        byte = int(data[at + k])
        value = value << 8 | byte if big else value | byte << (8 * k)
    if signed and value >= 1 << (8 * size - 1):
        value -= 1 << (8 * size)
    return value


@entry(
    "int64",
    "uint8[::1]",
    "int64[:, ::1]",
    "int64",
    "int64",
    "int64[::1]",
    "int32[::1]",
    "int32[::1]",
    "int64[::1]",
)
def walk_rows(data, columns, big, longest, starts, corners, counts, marks):
    """Walk over `marks[2]` rows of binary properties from `marks[0]` on, and keep where each begins.

    A column: bytes of a list's length, 0 for a number by itself; whether that is signed; bytes of an item;
    whether it is signed; whether the items go to `corners`. Stop at a row that goes beyond the end, has
    a list longer than `longest`, or corners that are no vertex numbers or too many.
    """
    at, end, c = marks[0], data.shape[0], 0
    for row in range(marks[2]):
        starts[row] = marks[0] = at
        marks[1], marks[3] = row, c
        for k in range(columns.shape[0]):
            size = 1
            if columns[k, 0]:
                if at + columns[k, 0] > end:
                    return STOPPED
                size = _whole_at(data, at, columns[k, 0], big, columns[k, 1])
                at += columns[k, 0]
                if size < 0 or size > longest:
                    return STOPPED
            item = columns[k, 2]
            if at + size * item > end:
                return STOPPED
            if columns[k, 4]:
                if c + size > corners.shape[0]:
                    return TOO_MANY
                for i in range(size):
                    value = _whole_at(data, at + i * item, item, big, columns[k, 3])
                    if value < 0 or value > 2147483647:
                        return STOPPED
                    corners[c] = value
                    c += 1
                counts[row] = size
            at += size * item
    marks[0], marks[1], marks[3] = at, marks[2], c
    return DONE
