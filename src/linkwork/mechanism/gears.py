"""Constraints between the coordinates of joints: gears, and rack and pinion."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from linkwork.algebra.number import Number
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Prismatic, Revolute
from linkwork.mechanism.option_mistakes import NOT_ZERO, POSITIVE, number_mistakes
from linkwork.mechanism.sketch import Line, pose_in_space, toothed_wheel, wheel
from linkwork.real_numbers import finite_array, is_finite

GearKind = Literal["external", "internal", "bevel", "belt", "crossed"]
_SENSE = {"external": -1.0, "internal": 1.0, "bevel": -1.0, "belt": 1.0, "crossed": -1.0}


class Gear(Constraint):
    """Let two hinges turn together: `second` turns -ratio times as far as `first`, or +ratio times.

    `ratio` is that of the radii, or of the numbers of teeth, first over second; `teeth` gives both. An
    "external" pair turns in opposite senses, as a "bevel" pair does whose axes both point away from where
    they meet, and a "crossed" belt; an "internal" pair and a "belt" turn in the same sense. Angles are
    joint coordinates, both zero at once: relative to the carrier, in a planetary gear.
    """

    takes = Joint

    def __init__(
        self,
        name: str,
        first: Joint | str,
        second: Joint | str,
        ratio: float | None = None,
        *,
        teeth: tuple[float, float] | None = None,
        kind: GearKind = "external",
    ) -> None:
        super().__init__(name, first, second)
        self.ratio, self.teeth, self.kind = ratio, teeth, kind

    def mistakes(self) -> list[str]:
        found = one_coordinate(self)
        slides = [isinstance(joint, Prismatic) for joint in self.sides()]
        if any(slides) and not all(slides):
            sliding = self.sides()[slides.index(True)].name
            found.append(f"joint {sliding!r} slides and the other does not; use lw.RackPinion")
        if not isinstance(self.kind, str) or self.kind not in _SENSE:
            found.append(f"kind {self.kind!r}; give one of {', '.join(map(repr, _SENSE))}")
        if (self.ratio is None) == (self.teeth is None):
            return [*found, "give ratio= or teeth=(first, second), one of them"]
        if self.ratio is not None:
            wrong = number_mistakes(self, "ratio", wanted=POSITIVE)
            if wrong and is_finite(self.ratio) and self.ratio < 0.0:
                wrong = [f'{wrong[0]}; for a pair that turns in the same sense kind="internal" or "belt"']
            return found + wrong
        try:
            first, second = finite_array("teeth", self.teeth)
            fits = first > 0.0 and second > 0.0
        except (TypeError, ValueError):
            fits = False
        return found if fits else [*found, f"teeth {self.teeth!r}; give two finite numbers above 0"]

    def sketch(self, size: float) -> list[Line]:
        """Draw wheels with parallel axes: with teeth that mesh as drawn; those of belts as circles."""
        hinges = [side for side in self.sides() if isinstance(side, Joint)]
        (p, z), (q, w) = (_drawn_axis(hinge) for hinge in hinges)
        if abs(z @ w) < 0.999:
            return []
        apart = float(np.linalg.norm(np.cross(q - p, z)))
        ratio = abs(self.factor)  # of the radii, first over second
        if self.kind == "internal":
            second = apart / abs(ratio - 1.0) if ratio != 1.0 else 0.0
        else:
            second = apart / (1.0 + ratio) * (0.5 if self.kind in ("belt", "crossed") else 1.0)
        if second == 0.0:
            return []
        if self.kind in ("belt", "crossed") or apart == 0.0:
            return [*wheel(hinges[0], ratio * second), *wheel(hinges[1], second)]
        way = (q - p) - ((q - p) @ z) * z
        return self._toothed(hinges, (ratio * second, second), way / apart)

    def _toothed(self, hinges: Sequence[Joint], radii: Sequence[float], way: np.ndarray) -> list[Line]:
        """Return both wheels: a tooth of the first is in a gap of the second where they meet.

        `way` leads from the first to the second. Wheels side by side meet between their middles, a wheel in
        a ring beyond its own.
        """
        first, second = self._teeth()
        if self.kind != "internal":
            ways, rings = (way, -way), (False, False)
        else:
            outer = radii[0] > radii[1]
            ways, rings = ((way, way) if outer else (-way, -way)), (outer, not outer)
        return [
            *toothed_wheel(hinges[0], radii[0], first, ways[0], gap=False, ring=rings[0]),
            *toothed_wheel(hinges[1], radii[1], second, ways[1], gap=True, ring=rings[1]),
        ]

    def _teeth(self) -> tuple[int, int]:
        """Return how many teeth are drawn: as given, or whole numbers of nearly this ratio."""
        if self.teeth is not None and all(float(n).is_integer() and 4 <= n <= 400 for n in self.teeth):
            return int(self.teeth[0]), int(self.teeth[1])
        ratio = abs(float(self.factor))
        larger = max(ratio, 1.0 / ratio)
        few = min(range(20, 41), key=lambda n: (abs(n * larger - round(n * larger)) / n, n))
        many = min(round(few * larger), 400)
        return (many, few) if ratio > 1.0 else (few, many)

    @property
    def factor(self) -> Number:
        """How far the second turns when the first turns by one."""
        ratio: Any = self.ratio if self.teeth is None else self.teeth[0] / self.teeth[1]
        return _SENSE[self.kind] * ratio

    def phi(self, first: Any, second: Any) -> list[Number]:
        return [second.position - self.factor * first.position]


class RackPinion(Constraint):
    """Let a rack slide by `radius` times the angle of a pinion; both are zero at once [m].

    A negative radius turns the sense round.
    """

    takes = Joint

    def __init__(self, name: str, pinion: Joint | str, rack: Joint | str, radius: float) -> None:
        super().__init__(name, pinion, rack)
        self.radius = radius

    def mistakes(self) -> list[str]:
        found = one_coordinate(self)
        pinion, rack = self.sides()
        if isinstance(pinion, Prismatic) or isinstance(rack, Revolute):
            swapped = isinstance(pinion, Prismatic) and isinstance(rack, Revolute)
            remedy = "exchange them" if swapped else "give a Revolute, then a Prismatic"
            found.append(f"pinion {pinion.name!r} is to turn, and rack {rack.name!r} to slide; {remedy}")
        return found + number_mistakes(self, "radius", wanted=NOT_ZERO)

    def sketch(self, size: float) -> list[Line]:
        pinion = self.sides()[0]
        return wheel(pinion, abs(float(self.radius))) if isinstance(pinion, Joint) else []

    def phi(self, pinion: Any, rack: Any) -> list[Number]:
        return [rack.position - self.radius * pinion.position]


def one_coordinate(constraint: Constraint) -> list[str]:
    """List the joints of a constraint that have not one coordinate."""
    return [
        f"joint {joint.name!r} has {joint.nv} coordinates; give joints that have one"
        for joint in constraint.sides()
        if isinstance(joint, Joint) and (joint.nv != 1 or joint.nq != 1)
    ]


def _drawn_axis(joint: Joint) -> tuple[np.ndarray, np.ndarray]:
    """Return the place of a joint as drawn, and the direction of its axis, in the world."""
    body = joint.parent
    X_WB = joint.algebra.Frame(body.position.tolist(), body.rotation.tolist())
    axes, place = pose_in_space(X_WB @ joint.frames()[0])
    return place, axes[:, 2]
