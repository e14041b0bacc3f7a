"""What constraints, drivers and loads look like: lines through points of bodies.

Every class says it once, in `sketch(size)`; plots (`kinematics/planar_plot.py`) and pages
(`view/constraint_drawing.py`) draw the same lines. `size` is that of the mechanism [m], for what has no size
of its own. A class of the user's own may do the same:

    class Belt(lw.Constraint):
        def sketch(self, size):
            first, second = self.sides()
            return [Line((first, (0, 0.1)), (second, (0, 0.1)))]
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from linkwork.errors import warn
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import Free
from linkwork.spelling import Spelled, require

Array = np.ndarray

_POINTS = 96  # pieces of a curve
_ROUND = 48  # pieces of a circle
_LONG = 0.5  # of what has no end, per size of the mechanism


class Line(metaclass=Spelled):
    """A line through points of bodies, one body after the other; it moves with them.

    Each piece is a body, itself or by name, and its points: one, or a row of them (k, 2 or 3).
    """

    def __init__(self, *pieces: tuple[Body | str, Any]) -> None:
        for piece in pieces:
            if not isinstance(piece, tuple | list) or len(piece) != 2:
                raise TypeError(f"Line: piece {piece!r}; give (body, points)")
            require("Line: body", piece[0], Body | str, "a Body, or its name")
        self.pieces: tuple[tuple[str, Array], ...] = tuple(
            (str(getattr(body, "name", body)), in_space(points)) for body, points in pieces
        )

    @property
    def body(self) -> str | None:
        """The body that the whole line lies on; None if it goes from one to another."""
        names = {name for name, _ in self.pieces}
        return names.pop() if len(names) == 1 else None

    @property
    def points(self) -> Array:
        """The points (k, 3) of all pieces, each in the frame of its body [m]."""
        return np.concatenate([points for _, points in self.pieces])

    @property
    def ends(self) -> list[tuple[str, Array]]:
        """Every point (3,) with the name of its body."""
        return [(name, point) for name, points in self.pieces for point in points]


def in_space(points: Any) -> Array:
    """Return points (k, 3) of one or several in the plane or in space."""
    given = np.atleast_2d(np.array(points, float))
    if given.shape[1] == 3:
        return given
    lifted = np.zeros((len(given), 3))
    lifted[:, : given.shape[1]] = given
    return lifted


# lines of a kind


def guide(body: Body, place: Any, along: Any, size: float) -> Line:
    """Return a straight line on a body, through a place and along a direction, half the size long."""
    (middle,), (way,) = in_space(place), in_space(along)
    step = 0.5 * _LONG * size * way / np.linalg.norm(way)
    return Line((body, [middle - step, middle + step]))


def curve(body: Body, place: Any, function: Callable[[float], Any], interval: tuple[float, float]) -> Line:
    """Return a curve on a body: points by a parameter, seen from a place."""
    places = np.linspace(float(interval[0]), float(interval[1]), _POINTS + 1).tolist()
    return Line((body, in_space([[float(x) for x in function(s)] for s in places]) + in_space(place)))


def circle(body: Body, radius: float, place: Any = (0.0, 0.0), axes: Array | None = None) -> Line:
    """Return a circle on a body, about the last of some axes (3, 3)."""
    angles = np.linspace(0.0, 2.0 * np.pi, _ROUND, endpoint=False)
    points = radius * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=-1)
    points = points if axes is None else points @ axes.T
    return Line((body, np.concatenate([points, points[:1]]) + in_space(place)))


def wheel(hinge: Joint, radius: float) -> list[Line]:
    """Return a circle about the axis of a hinge, on what it turns, and a spoke that shows how it turns."""
    body, axes, place = _turning(hinge)
    rim = circle(body, radius, place, axes)
    return [rim, Line((body, [place, rim.points[0]]))]


def toothed_wheel(
    hinge: Joint, radius: float, teeth: int, towards: Array, *, gap: bool, ring: bool
) -> list[Line]:
    """Return the outline of a wheel with teeth on what a hinge turns, and a spoke that shows how it turns.

    `radius` is that of the pitch circle. In the direction `towards`, in the world as drawn, there is a tooth
    or a `gap`; the teeth of a `ring` are inside. With the module m = 2 radius / teeth they are 1 m high
    and 1.25 m deep; their flanks are straight, and half of the circle is tooth.
    """
    body, axes, place = _turning(hinge)
    turned = np.eye(3)
    turned[: len(body.position), : len(body.position)] = body.rotation
    x, y, _ = (turned @ axes).T @ towards
    module = 2.0 * radius / teeth
    tip, root = (
        (radius - module, radius + 1.25 * module) if ring else (radius + module, radius - 1.25 * module)
    )
    pitch = 2.0 * np.pi / teeth
    middles = np.arctan2(y, x) + pitch * (np.arange(teeth) + 0.5 * gap)
    angles = (middles[:, None] + pitch * np.array([-0.34, -0.16, 0.16, 0.34])).ravel()
    radii = np.tile([root, tip, tip, root], teeth)
    points = (
        np.stack([radii * np.cos(angles), radii * np.sin(angles), 0.0 * angles], axis=-1) @ axes.T + place
    )
    spoke = points[len(points) // 4]  # not where the wheels meet: two spokes would look like a rod
    return [Line((body, np.concatenate([points, points[:1]]))), Line((body, [place, spoke]))]


def _turning(hinge: Joint) -> tuple[Body, Array, Array]:
    """Return what a hinge turns, and the axes (3, 3) and place (3,) of the hinge on it."""
    side = 0 if hinge.child.name == "ground" else 1
    return hinge.bodies[side], *pose_in_space(hinge.frames()[side])


def pose_in_space(frame: Any) -> tuple[Array, Array]:
    """Return the axes (3, 3) and the place (3,) of a frame in the plane or in space."""
    axes, count = np.eye(3), len(frame.p)
    axes[:count, :count] = np.array(frame.rotation, float)
    return axes, in_space(frame.position)[0]


# all of a mechanism


def sketches(elements: Iterable[Any], size: float) -> Iterator[tuple[str, Line]]:
    """Yield the lines of constraints, drivers and loads by their names; warn of what cannot be drawn."""
    for element in elements:
        try:
            lines = list(element.sketch(size))
        except Exception as error:  # of a curve, or a sketch, of the user's own
            problem = f"{type(error).__name__}: {error}"
            warn(f"{element.word} {element.name!r} is not drawn: {problem}")
            continue
        for line in lines:
            yield element.name, line


def attachments(mechanism: Any) -> dict[str, list[Array]]:
    """Return by body the points (3,) at which joints, constraints and loads hold it."""
    held: dict[str, list[Array]] = {}
    for joint in mechanism.joints.values():
        if not isinstance(joint, Free):
            for body, frame in zip(joint.bodies, joint.frames(), strict=True):
                held.setdefault(body.name, []).append(in_space(frame.position)[0])
    for element in (*mechanism.constraints.values(), *mechanism.loads.values()):
        for body, point in element.attached():
            held.setdefault(body.name, []).append(in_space(point)[0])
    return held
