"""What a body is drawn with and touched by, as its options say it; and who may touch whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.mechanism.material import NAMED, Material
from linkwork.real_numbers import real_array, shown
from linkwork.spelling import Spelled, require

if TYPE_CHECKING:
    from linkwork.geometry import MeshFile, Solid

EVERYTHING = -1  # a mask of all groups


@dataclass(frozen=True, kw_only=True)
class Collision(metaclass=Spelled):
    """A shape to touch."""

    shape: "Solid | MeshFile"
    name: str | None = None
    material: Material | None = None  # None: that of the body

    def __post_init__(self) -> None:
        require("collision: material", self.material, Material | None, material_wanted(self.material))


def skins_given(where: str, skins: Any, outlines: bool) -> tuple[Any, ...]:
    """Return what a body is drawn with or touched by."""
    if not isinstance(skins, list | tuple | np.ndarray):
        raise TypeError(f"{where} {skins!r}; give a list of them: [lw.Box(...), ...]")
    for skin in skins:
        if not is_skin(skin) and not (outlines and _is_outline(skin)):
            also = ", or points of an outline" if outlines else ""
            raise TypeError(f"{where} has {skin!r}; give shapes or lw.geometry.Visual(shape=...){also}")
    return tuple(skins)


_COLORS = {
    "black": "202326", "blue": "3b6ea5", "brown": "8a6242", "cyan": "4aa8bf", "gray": "868e96",
    "green": "4c9a6a", "grey": "868e96", "orange": "e8883a", "pink": "d47f9a", "purple": "7f68a8",
    "red": "c0443c", "silver": "b8bec6", "steel": "8d99a6", "white": "f1f3f5", "yellow": "d9b53a",
}  # fmt: skip


def color_given(where: str, color: Any) -> tuple[float, float, float, float] | None:
    """Return red, green, blue and opacity, each 0 to 1, of a colour: a name, "#rrggbb", or numbers."""
    if color is None:
        return None
    if isinstance(color, str):
        digits = _COLORS.get(color.lower(), color.removeprefix("#"))
        digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
        if len(digits) not in (6, 8) or not set(digits.lower()) <= set("0123456789abcdef"):
            raise ValueError(
                f'{where} {color!r}; give "#rrggbb", three numbers from 0 to 1, or a name: '
                f"{', '.join(_COLORS)}"
            )
        numbers = [int(digits[k : k + 2], 16) / 255.0 for k in range(0, len(digits), 2)]
    else:
        array = real_array(where, color)
        if array.shape not in ((3,), (4,)) or not ((array >= 0.0) & (array <= 1.0)).all():
            raise ValueError(
                f"{where} {shown(color)}; give red, green, blue, and opacity if less than 1, from 0 to 1"
            )
        numbers = array.tolist()
    red, green, blue, opacity = (*numbers, 1.0)[:4]
    return red, green, blue, opacity


def is_skin(thing: Any) -> bool:
    """Whether it is a shape, or says one."""
    known = any(hasattr(thing, word) for word in ("shape", "surface", "filename"))
    return known and not isinstance(thing, np.ndarray | np.generic | type)


def _is_outline(points: Any) -> bool:
    try:
        array = real_array("outline", points)
    except ValueError:
        return False
    return array.ndim == 2 and array.shape[1] in (2, 3)


def placed_on_ground(shapes: Sequence[Any], material: Material | None) -> list[Any]:
    """Return shapes as ground takes them."""
    for shape in shapes:
        if not is_skin(shape) or isinstance(shape, Collision):
            raise TypeError(f"ground: cannot add {shown(shape)}; give shapes: lw.Plane(), lw.Box(...), ...")
    require("ground: material", material, Material | None, material_wanted(material))
    return [Collision(shape=shape, material=material) for shape in shapes] if material else list(shapes)


def bits(where: str, number: Any) -> int:
    """Return a group or mask: a whole number, each bit of which is a group."""
    require(where, number, int | np.integer, "a whole number, one bit per group")
    if isinstance(number, bool) or abs(number) > 2**53:  # what files keep exactly
        raise ValueError(f"{where} {shown(number)}; give a whole number of 53 bits at most, one per group")
    return int(number)


def group_bits(where: str, number: Any) -> int:
    """Return the groups that something is in, one at least."""
    found = bits(where, number)
    if not found:
        raise ValueError(
            f"{where} 0 is no group; give a bit per group, 1, 2, 4, ...; mask=0 collides with nothing"
        )
    return found


def material_wanted(given: Any) -> str:
    """Return what to give in place of something that is no material."""
    if isinstance(given, str):
        return f"lw.Material.{given}" if given in NAMED else f"one of lw.Material.{', '.join(NAMED)}"
    return "lw.Material(friction=...), or a named one as lw.Material.steel"
