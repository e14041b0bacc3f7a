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
        raise ValueError(f"{where} 0 is no group; give a bit per group, 1, 2, 4, ...; mask=0 meets nobody")
    return found


def material_wanted(given: Any) -> str:
    """Return what to give in place of something that is no material."""
    if isinstance(given, str):
        return f"lw.Material.{given}" if given in NAMED else f"one of lw.Material.{', '.join(NAMED)}"
    return "lw.Material(friction=...), or a named one as lw.Material.steel"
