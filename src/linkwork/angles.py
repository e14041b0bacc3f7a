"""Angles as people hand them over, in radians; those that look like degrees are warned of."""

from typing import Any

from linkwork.errors import warn
from linkwork.real_numbers import is_finite, shown
from linkwork.varied import real


def like_degrees(*angles: Any) -> bool:
    """Return whether angles in radians look as if they were meant in degrees: 30, -90, (0, 180).

    A hinge that turns five times and more is rare, and rarer by a round number.
    """
    values = [real(x) for x in angles if is_finite(x)]
    return any(abs(x) >= 30.0 for x in values) and all(abs(x) <= 720.0 and x % 5.0 == 0.0 for x in values)


def degrees_caution(word: str, value: Any, remedy: str = "write lw.degrees(...)") -> str:
    """Say that an angle looks like one in degrees."""
    verb = "are" if isinstance(value, tuple) else "is"
    return f"{word} {value!r} {verb} in radians, many turns; if degrees are meant, {remedy}"


def check_angle(word: str, angle: Any) -> None:
    """Refuse what is no angle, and warn of one that looks like degrees; traced ones and arrays may be."""
    if isinstance(angle, bool | complex | str | bytes | list | tuple | dict) or angle is None:
        raise TypeError(f"{word} {shown(angle)}; give real numbers [rad]")
    warn_of_degrees(word, angle)


def warn_of_degrees(word: str, *angles: Any, remedy: str = "write lw.degrees(...)") -> None:
    """Warn if angles that are plain numbers look like degrees; traced ones do not."""
    if like_degrees(*angles):
        warn(degrees_caution(word, angles[0] if len(angles) == 1 else angles, remedy))
