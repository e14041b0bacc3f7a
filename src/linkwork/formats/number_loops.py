"""Decimal numbers in text, as native code: rounded correctly, as Python rounds them.

A number is its digits times a power of ten. Both are sums of two doubles (18 digits, and 15 more), so is
their product, with an error below 2^-96 of it. If the product less that error and the product plus it round
to the same double, this is the number. If not, one in many millions, it is left to Python.
"""

from fractions import Fraction

import numpy as np

from linkwork.native.numba_functions import native

LEAST, MOST = -290, 60  # powers of ten


def _powers() -> tuple[np.ndarray, np.ndarray]:
    exact = [Fraction(10) ** k for k in range(LEAST, MOST + 1)]
    high = [float(x) for x in exact]
    return np.array(high), np.array([float(x - Fraction(h)) for x, h in zip(exact, high, strict=True)])


HIGH, LOW = _powers()  # 10^k as sums of two doubles
WORD, BAD, HARD = 0, 1, 2  # how a number was read: well; it is none, or beyond the bounds; by others


@native
def _split(x):
    c = 134217729.0 * x
    high = c - (c - x)
    return high, x - high


@native
def _product(a, b):
    """Return a * b and what is rounded off (Dekker's)."""
    p = a * b
    a1, a2 = _split(a)
    b1, b2 = _split(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


@native
def is_blank(c):
    return c == 32 or c == 9 or c == 11 or c == 12


@native
def is_end(c):
    return c == 10 or c == 13


@native
def skip_blanks(data, at, end):
    """Return the place of the next byte that is no blank; it may be the end of the line."""
    while at < end and is_blank(data[at]):
        at += 1
    return at


@native
def skip_word(data, at, end):
    while at < end and not is_blank(data[at]) and not is_end(data[at]):
        at += 1
    return at


@native
def skip_line(data, at, end):
    """Return the place after the end of the line."""
    while at < end and not is_end(data[at]):
        at += 1
    return min(at + 1, end)


@native
def _scaled(m, more, places, power, high, low):
    """Return (m + more / 10^places) 10^power, and whether it is right to the last bit."""
    top = float(m >> 32) * 4294967296.0
    rest = float(m & 0xFFFFFFFF)
    a = top + rest
    b = rest - (a - top) + float(more) * high[-places - LEAST]
    h, l = high[power - LEAST], low[power - LEAST]
    p, q = _product(a, h)
    q += a * l + b * h
    d = p * 2.0**-96
    value = p + (q - d)
    return value, value == p + (q + d)


@native
def read_number(data, at, end, largest, high, low):
    """Return the number of a word, the place after it, and how it was read: WORD, BAD or HARD."""
    negative = False
    if at < end and (data[at] == 43 or data[at] == 45):
        negative = data[at] == 45
        at += 1
    m, more, digits, power, seen, point = np.int64(0), np.int64(0), 0, 0, False, False
    while at < end:
        c = data[at]
        if c == 46 and not point:
            point = True
        elif c >= 48 and c <= 57:
            seen = True
            if digits < 18:
                m = m * 10 + (c - 48)
                if m > 0:
                    digits += 1
                if point:
                    power -= 1
            else:
                if digits < 33:
                    more = more * 10 + (c - 48)
                    digits += 1
                if not point:
                    power += 1
        else:
            break
        at += 1
    if not seen:
        return 0.0, at, BAD
    if at < end and (data[at] == 101 or data[at] == 69):
        at += 1
        minus = False
        if at < end and (data[at] == 43 or data[at] == 45):
            minus = data[at] == 45
            at += 1
        if at >= end or data[at] < 48 or data[at] > 57:
            return 0.0, at, BAD
        exponent = 0
        while at < end and data[at] >= 48 and data[at] <= 57:
            exponent = min(exponent * 10 + (data[at] - 48), 100000)
            at += 1
        power += -exponent if minus else exponent
    if at < end and not is_blank(data[at]) and not is_end(data[at]):
        return 0.0, at, BAD
    if m == 0:
        return (-0.0 if negative else 0.0), at, WORD
    if power > MOST:
        return 0.0, at, BAD
    if power < LEAST:
        return 0.0, at, HARD
    value, sure = _scaled(m, more, digits - min(digits, 18), power, high, low)
    if value > largest:
        return 0.0, at, BAD
    return (-value if negative else value), at, (WORD if sure else HARD)


@native
def read_whole(data, at, end, sign):
    """Return a whole number of at most 10 digits, the place after them, and whether there is one.

    Only with `sign` it may have one. What follows the digits is for the caller to look at.
    """
    negative = False
    if sign and at < end and (data[at] == 43 or data[at] == 45):
        negative = data[at] == 45
        at += 1
    value, first = np.int64(0), at
    while at < end and data[at] >= 48 and data[at] <= 57 and at - first < 11:
        value = value * 10 + (data[at] - 48)
        at += 1
    good = at > first and at - first < 11
    return (-value if negative else value), at, good
