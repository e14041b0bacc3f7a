"""Mass, centre of mass and inertia tensor of a rigid body."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial
from operator import mul
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from linkwork.algebra import planar, spatial
from linkwork.lazy import kept
from linkwork.mechanism.journaled import frozen
from linkwork.mechanism.placement import Array, Space, plain
from linkwork.real_numbers import finite_array, is_real, real_array
from linkwork.spelling import Spelled, fixed, spelled_methods
from linkwork.varied import real

ALGEBRA = {"space": spatial, "plane": planar}

TOLERANCE = 1e-6  # a tensor may be wrong by this share of its trace: six typed digits

# Published robots carry tensors that no real body has. Of the 69 files of example-robot-data 6.0, 18 do, on
# 56 links: placeholders of a microgram, sensors, feet, rounded zeros of 1e-18. What counts is how much of
# the mechanism is wrong: the excess moment over the sum of the traces of all its bodies. In 17 files that
# is at most 0.6 %; in one (romeo_laas_small, a torso with a negative moment) 11 %. A slip in a mechanism of
# a few similar bodies is off by 10 % or more. So up to GROSS it is a warning, beyond that a mistake, and
# below ROUNDING nothing.
GROSS = 1e-2
ROUNDING = 1e-12

_UNTURNED = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@spelled_methods
@fixed("make another lw.Inertia, and set body.inertia to it")
@dataclass(frozen=True, eq=False)
class Inertia(metaclass=Spelled):
    """Say how a body resists being moved.

    A tensor of three numbers is diagonal: moments about the axes of the body. In the plane `com` has two
    numbers and `tensor` is one, the moment about the normal. A tensor as it was
    published, whose largest moment exceeds the sum of the others, as no real body has it, is refused unless
    it is said to be `unphysical`; models note it then.

    >>> Inertia(2.0, (0, 0, 0.5), np.diag([0.1, 0.1, 0.02])).moved((1, 0, 0), np.eye(3)).com
    array([1. , 0. , 0.5])
    """

    mass: float  # [kg]
    com: Array  # (3,) or (2,) centre of mass in the body frame [m]
    tensor: Array  # (3, 3) or () about the centre of mass, along the axes of the body frame [kg m^2]
    unphysical: bool  # the tensor is to be used though no real body has it

    def __init__(self, mass: float, com: ArrayLike, tensor: ArrayLike, *, unphysical: bool = False) -> None:
        shapes = {(3,): (3, 3), (2,): ()}
        if not is_real(mass):
            raise ValueError(f"inertia: mass {mass!r}; give a number in kg")
        com, tensor = _frozen("com", com), _frozen("tensor", tensor)
        if com.shape == tensor.shape == (3,):
            tensor = frozen(np.diag(tensor))
        if shapes.get(com.shape) != tensor.shape:
            raise ValueError(
                f"inertia with a centre of mass of shape {com.shape} and a tensor of shape {tensor.shape}; "
                "give 3 numbers and a 3x3 matrix, or 3 moments, in space; 2 numbers and a moment in the plane"
            )
        if not isinstance(unphysical, bool):
            raise ValueError(f"inertia: unphysical {unphysical!r}; give True or False")
        self._take(real(mass), com, tensor, unphysical)

    def _take(self, mass: float, com: Array, tensor: Array, unphysical: bool) -> None:
        vars(self).update(mass=mass, com=com, tensor=tensor, unphysical=unphysical)

    @classmethod
    def _of(cls, mass: float, com: Any, tensor: Any, unphysical: bool) -> "Inertia":
        """Return the inertia of numbers that were checked before: lists, and a number in the plane."""
        made = object.__new__(cls)
        made._take(mass, frozen(np.array(com)), frozen(np.array(tensor)), unphysical)
        return made

    @staticmethod
    @cache
    def zero(space: Space) -> "Inertia":
        """Return the inertia of nothing."""
        if space == "space":
            return Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
        return Inertia(0.0, np.zeros(2), 0.0)

    @classmethod
    def from_points(cls, masses: ArrayLike, positions: ArrayLike) -> Self:
        """Return the inertia of point masses; positions (n, 3) in space or (n, 2) in the plane."""
        m, p = (
            finite_array("point masses: masses", masses),
            finite_array("point masses: positions", positions),
        )
        if m.ndim != 1 or p.shape not in ((m.size, 2), (m.size, 3)):
            raise ValueError(
                f"point masses of shape {m.shape} at positions of shape {p.shape}; "
                "give n masses, and n positions of 2 or 3 numbers"
            )
        total = m.sum()
        com = m @ p / total if total else np.zeros(p.shape[1])
        d = p - com
        if p.shape[1] == 2:
            return cls(total, com, m @ (d * d).sum(axis=1))
        second = (m[:, None] * d).T @ d
        return cls(total, com, np.trace(second) * np.eye(3) - second)

    @property
    def space(self) -> Space:
        """Where it lives: "space" or "plane"."""
        return "space" if self.com.size == 3 else "plane"

    @kept
    def rigid(self) -> Any:
        """The same as a `RigidInertia` of the algebra, about the origin of the body frame."""
        kind = ALGEBRA[self.space].RigidInertia
        return kind.about_center(real(self.mass), self.com.tolist(), self.tensor.tolist())

    @property
    def matrix(self) -> Array:
        """The inertia about the origin of the body frame as a matrix, angular first: (6, 6), or (3, 3)."""
        return self.rigid.matrix

    def __add__(self, other: "Inertia") -> "Inertia":
        """Join two bodies; both must be given in the same frame."""
        if self.space != other.space:
            raise ValueError("a planar and a spatial inertia do not add; use .planar() on the spatial one")
        mass, odd = self.mass + other.mass, self.unphysical or other.unphysical
        if mass == 0.0:
            return Inertia._of(mass, self.com, self.tensor + other.tensor, odd)
        here, there = self.com.tolist(), other.com.tolist()
        share, reduced = other.mass / mass, self.mass * other.mass / mass
        d = [y - x for x, y in zip(here, there, strict=True)]
        com = [x + share * y for x, y in zip(here, d, strict=True)]
        spread = _spread(d)
        if self.space == "plane":
            return Inertia._of(mass, com, self.tensor + other.tensor + reduced * spread, odd)
        rows = zip(self.tensor.tolist(), other.tensor.tolist(), spread, strict=True)
        tensor = [[a + b + reduced * c for a, b, c in zip(*row, strict=True)] for row in rows]
        return Inertia._of(mass, com, tensor, odd)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Inertia)
            and self.mass == other.mass
            and np.array_equal(self.com, other.com)
            and np.array_equal(self.tensor, other.tensor)
            and self.unphysical == other.unphysical
        )

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(Inertia, unphysical=self.unphysical)
        return made, (self.mass, self.com, self.tensor)  # so that a copy's arrays are read-only too

    def __deepcopy__(self, memo: object) -> "Inertia":
        return self

    def __hash__(self) -> int:
        return hash((self.mass, self.com.tobytes(), self.tensor.tobytes()))

    def moved(self, position: ArrayLike, rotation: ArrayLike) -> "Inertia":
        """Return the inertia seen from outside when its frame is put at this position and rotation matrix."""
        turn, place, center = _rows(rotation), _rows(position), self.com.tolist()
        com = [p + sum(map(mul, row, center)) for p, row in zip(place, turn, strict=True)]
        if self.space == "plane":
            return Inertia._of(self.mass, com, self.tensor, False)
        tensor = self.tensor.tolist()
        if turn != _UNTURNED:
            half = [[a * x + b * y + c * z for x, y, z in zip(*tensor, strict=True)] for a, b, c in turn]
            tensor = [[a * x + b * y + c * z for x, y, z in turn] for a, b, c in half]  # R T R^T
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = tensor  # whose halves differ by rounding
        xy, xz, yz = 0.5 * (xy + yx), 0.5 * (xz + zx), 0.5 * (yz + zy)
        return Inertia._of(self.mass, com, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], self.unphysical)

    def seen_from(self, position: ArrayLike, rotation: ArrayLike) -> "Inertia":
        """Return the inertia in a frame that is at this position and rotation matrix; `moved` undoes it."""
        turn = np.asarray(rotation, dtype=np.float64)
        shift = np.asarray(position, dtype=np.float64)
        return self.moved(-turn.T @ shift, turn.T)

    def about(self, point: ArrayLike) -> Array:
        """Return the tensor about a point in place of the centre of mass, by the parallel-axis theorem."""
        return self.tensor + self.mass * np.array(_spread(np.asarray(point, dtype=np.float64) - self.com))

    @classmethod
    def from_about(
        cls,
        mass: float,
        com: ArrayLike,
        tensor: ArrayLike,
        point: ArrayLike,
        *,
        unphysical: bool = False,
    ) -> Self:
        """Return the inertia whose tensor is given about a point in place of the centre of mass."""
        d = np.asarray(point, dtype=np.float64) - np.asarray(com, dtype=np.float64)
        spread = mass * np.array(_spread(d))
        return cls(mass, com, np.asarray(tensor, dtype=np.float64) - spread, unphysical=unphysical)

    def planar(self) -> "Inertia":
        """Project onto the x-y plane: mass, centre (x, y), moment about z."""
        if self.space == "plane":
            return self
        return Inertia(self.mass, self.com[:2], self.tensor[2, 2])

    def principal(self) -> tuple[Array, Array]:
        """Return the principal moments, smallest first, and the rotation whose columns are their axes.

        The rotation is right-handed; the largest component of its first two columns is positive.
        """
        if self.space == "plane":
            return self.tensor.reshape(1), np.eye(2)
        moments, axes = np.linalg.eigh(self.tensor)
        for k in (0, 1):
            axes[:, k] *= np.sign(axes[np.argmax(np.abs(axes[:, k])), k])
        axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
        return moments, axes

    def repaired(self) -> "Inertia":
        """Return the nearest inertia that a real body can have.

        In a real body the second moments of mass along the principal axes, half the trace minus each moment,
        are not negative; here those that are become zero.
        """
        if self.space == "plane":
            return Inertia(self.mass, self.com, max(0.0, float(self.tensor)))
        moments, axes = np.linalg.eigh(0.5 * (self.tensor + self.tensor.T))
        second = np.maximum(0.5 * moments.sum() - moments, 0.0)
        tensor = (axes * (second.sum() - second)) @ axes.T
        return Inertia(self.mass, self.com, 0.5 * (tensor + tensor.T))

    @kept
    def sound(self) -> bool:
        """Whether a real body can have it, up to rounding."""
        return not self.problems()

    @property
    def oddity(self) -> str:
        """What no real body has, in words, of an inertia that is said to be unphysical; empty if nothing."""
        found = Inertia(self.mass, self.com, self.tensor).problems() if self.unphysical else []
        return found[0].partition(";")[0] if found else ""

    def problems(self, allowed: float = 0.0) -> list[str]:
        """List what is wrong, in words; empty when all is well.

        Principal moments may be off by `allowed` [kg m^2], and in any case by rounding; the triangle
        inequality may be broken by what is said to be unphysical.
        """
        found = []
        if not np.isfinite(self.mass):
            found.append(f"mass {self.mass} is not finite")
        elif self.mass < 0.0:
            found.append(f"mass {self.mass:.6g} kg is negative")
        if not np.isfinite(self.com).all():
            found.append(f"centre of mass {plain(self.com)} is not finite")
        if not np.isfinite(self.tensor).all():
            found.append(f"inertia tensor {plain(self.tensor)} is not finite")
        elif self.space == "plane":
            if self.tensor < -allowed:
                found.append(f"moment of inertia {float(self.tensor):.6g} kg m^2 is negative")
        else:
            found.extend(self._tensor_problems(allowed))
        return found

    def _tensor_problems(self, allowed: float) -> list[str]:
        if np.abs(self.tensor - self.tensor.T).max() > TOLERANCE * np.abs(self.tensor).max():
            return [f"inertia tensor {plain(self.tensor)} is not symmetric; make both halves agree"]
        a, b, c = moments = np.linalg.eigvalsh(self.tensor)
        allowed = max(allowed, TOLERANCE * float(np.abs(moments).sum()))
        if a < -allowed:
            return [f"principal moments {plain(moments)} kg m^2: one is negative; allowed is 0 or more"]
        if c - a - b > allowed and not self.unphysical:
            return [
                f"principal moments {plain(moments)} kg m^2: the largest exceeds the sum of the others "
                "(triangle inequality), which no real body has; give the tensor about the centre of mass, or "
                "unphysical=True if it is to be used as it is"
            ]
        return []


def rotational(inertias: Iterable[Inertia]) -> float:
    """Return the sum of the traces of all tensors, against which a flaw in one is judged [kg m^2]."""
    traces = (float(np.trace(np.atleast_2d(inertia.tensor))) for inertia in inertias)
    return sum(abs(trace) for trace in traces if np.isfinite(trace))


def sound_inertias(masses: Array, centers: Array, tensors: Array) -> bool:
    """Whether all of N inertias are `sound`; tensors (N, 9), or (N, 1) in the plane."""
    if not (np.isfinite(masses).all() and np.isfinite(centers).all() and np.isfinite(tensors).all()):
        return False
    if (masses < 0.0).any():
        return False
    if tensors.shape[1] == 1:
        return not (tensors < 0.0).any()
    tensors = tensors.reshape(-1, 3, 3)
    skew = np.abs(tensors - tensors.swapaxes(1, 2)).max(axis=(1, 2))
    moments = np.linalg.eigvalsh(tensors)
    allowed = TOLERANCE * np.abs(moments).sum(axis=1)
    excess = moments[:, 2] - moments[:, 1] - moments[:, 0]
    odd = (skew > TOLERANCE * np.abs(tensors).max(axis=(1, 2))) | (moments[:, 0] < -allowed)
    return not (odd | (excess > allowed)).any()


def _frozen(what: str, value: ArrayLike) -> Array:
    return frozen(real_array(f"inertia: {what}", value))


def _rows(table: Any) -> Any:
    """Return a vector, or the rows of a matrix, as tuples."""
    if isinstance(table, tuple):
        return table
    rows = np.asarray(table, dtype=np.float64).tolist()
    return tuple(map(tuple, rows)) if isinstance(rows[0], list) else rows


def _spread(d: Any) -> Any:
    """Return the inertia of a unit mass at d about the origin: (3, 3), or a number in the plane."""
    if len(d) == 2:
        return d[0] * d[0] + d[1] * d[1]
    x, y, z = d
    xx, yy, zz = x * x, y * y, z * z
    return [[yy + zz, -x * y, -x * z], [-x * y, xx + zz, -y * z], [-x * z, -y * z, xx + yy]]
