"""What a body is drawn with and touched by, kept as data."""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from linkwork.geometry.solid import Solid
from linkwork.mechanism.placement import position_vector, rotation_matrix

Colour: TypeAlias = tuple[float, float, float, float]  # red, green, blue, opacity: each 0 to 1


@dataclass(frozen=True, kw_only=True)
class MeshFile:
    """A mesh in a file that has not been opened; `filename` is what the description says, not a checked path.

    `lw.load(mesh_file)` reads it.
    """

    filename: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)  # a negative factor mirrors
    position: Any = None  # (3,) in the body frame [m]
    rotation: Any = None  # (3, 3) from the mesh's axes to those of the body
    folder: str | None = field(default=None, compare=False)  # of the description

    def __post_init__(self) -> None:
        where = f"mesh {self.filename!r}"
        position = position_vector(self.position, where)
        rotation = rotation_matrix(self.rotation, where)
        object.__setattr__(self, "position", tuple(position.tolist()))
        object.__setattr__(self, "rotation", tuple(map(tuple, rotation.tolist())))


@dataclass(frozen=True, kw_only=True)
class Visual:
    """A shape to draw."""

    shape: Solid | MeshFile
    name: str | None = None
    colour: Colour | None = None


@dataclass(frozen=True, kw_only=True)
class Collision:
    """A shape to touch."""

    shape: Solid | MeshFile
    name: str | None = None
