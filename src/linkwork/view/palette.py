"""Colours of the picture: red, green, blue, each 0 to 255."""

from typing import TypeAlias

Rgb: TypeAlias = tuple[int, int, int]

BODIES: tuple[Rgb, ...] = (
    (78, 121, 167),
    (92, 160, 135),
    (196, 164, 92),
    (186, 92, 84),
    (138, 116, 168),
    (104, 176, 196),
    (146, 158, 84),
    (204, 132, 150),
    (112, 126, 142),
    (150, 112, 86),
)
GROUND: Rgb = (158, 160, 164)
JOINT: Rgb = (64, 68, 74)
PAPER: Rgb = (255, 255, 255)  # inside a circle
SPRING: Rgb = (90, 94, 100)
SELECTED: Rgb = (255, 176, 0)
WRONG: Rgb = (224, 49, 49)
REACTION: Rgb = (204, 51, 63)
APPLIED: Rgb = (0, 128, 96)
DRIVE: Rgb = (88, 101, 198)  # of motors
CONTACT: Rgb = (214, 120, 0)
VELOCITY: Rgb = (40, 90, 200)
AXIS: Rgb = (200, 60, 160)
CENTER: Rgb = (30, 32, 36)
TRACE: Rgb = (225, 120, 0)
GAP: Rgb = (230, 20, 20)
BACKGROUND: Rgb = (250, 250, 251)


def body_colour(number: int) -> Rgb:
    """Return the colour of the body of this number."""
    return BODIES[number % len(BODIES)]


def hexadecimal(colour: Rgb) -> str:
    return "#" + "".join(f"{part:02x}" for part in colour)
