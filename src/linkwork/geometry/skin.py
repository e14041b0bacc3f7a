"""What a body is drawn with and touched by, kept as data."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from linkwork.geometry.mesh import Mesh
from linkwork.geometry.solid import Solid
from linkwork.mechanism.body_skin import Collision
from linkwork.mechanism.placement import position_vector, rotation_matrix
from linkwork.spelling import Spelled, require

Colour: TypeAlias = tuple[float, float, float, float]  # red, green, blue, opacity: each 0 to 1


@dataclass(frozen=True, kw_only=True)
class MeshFile(metaclass=Spelled):
    """A mesh in a file that has not been opened; `filename` is what the description says, not a checked path.

    `lw.load(mesh_file)` reads it.
    """

    filename: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)  # a negative factor mirrors
    position: Any = None  # (3,) in the body frame [m]
    rotation: Any = None  # (3, 3) from the mesh's axes to those of the body
    folder: str | None = field(default=None, compare=False)  # of the description
    hull: bool = False  # whether it stands for the convex hull of the mesh

    def __post_init__(self) -> None:
        where = f"mesh {self.filename!r}"
        if not all(self.scale):
            raise ValueError(f"{where}: scale {self.scale}; give three factors that are not zero")
        require(f"{where}: hull", self.hull, bool, "True or False")
        position = position_vector(self.position, where)
        rotation = rotation_matrix(self.rotation, where)
        object.__setattr__(self, "position", tuple(position.tolist()))
        object.__setattr__(self, "rotation", tuple(map(tuple, rotation.tolist())))


@dataclass(frozen=True, kw_only=True)
class Visual(metaclass=Spelled):
    """A shape to draw."""

    shape: Solid | MeshFile
    name: str | None = None
    colour: Colour | None = None


Skin = TypeVar("Skin", Visual, Collision)


def skins(things: Iterable[Any], kind: type[Skin]) -> list[Skin]:
    """Return what a body is drawn with or touched by, shapes by themselves as well; not outlines."""
    found: list[Skin] = []
    for thing in things:
        if isinstance(thing, kind):
            found.append(thing)
        elif isinstance(thing, Solid | MeshFile):
            found.append(kind(shape=thing))
        elif isinstance(thing, Visual | Collision):
            found.append(kind(shape=thing.shape))
    return found


def hulled(things: Iterable[Any]) -> list[Collision]:
    """Return what a body is touched by, with meshes as their convex hulls."""
    return [replace(skin, shape=_hull(skin.shape)) for skin in skins(things, Collision)]


def _hull(shape: Solid | MeshFile) -> Solid | MeshFile:
    if isinstance(shape, MeshFile):
        return replace(shape, hull=True)
    return shape.hull() if isinstance(shape, Mesh) else shape
