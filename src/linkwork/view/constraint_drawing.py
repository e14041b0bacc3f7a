"""Sketches of constraints, drivers and loads on a page: rods between bodies, tubes on them.

What they look like is said by their classes (`mechanism/sketch.py`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from linkwork.geometry import Polygon
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.gears import Gear
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.names import kind_name
from linkwork.mechanism.sketch import Line, sketches
from linkwork.view import tessellate
from linkwork.view.body_pieces import Part, bar
from linkwork.view.tessellate import Shell

Array = np.ndarray
Rod = tuple[str, str, str, Array, Array]  # name, two bodies, and points (3,) on them
Outline = tuple[str, str, Shell, Array]  # name, body, shape and its pose (3, 4) on the body

_THIN = 0.003  # radius of lines, per size of the mechanism
_PLATE = 0.01  # thickness of wheels, per size of the mechanism
_WHEELS = ("external",)  # kinds of gears whose outlines are those of wheels: not of rings, nor of belts


@dataclass(frozen=True)
class Connection:
    """A constraint, a driver or a load: what it is, and between what."""

    name: str
    kind: str  # name of its class
    on: tuple[str, ...]


def connections(mechanism: Mechanism) -> Iterable[Connection]:
    """Return all constraints, drivers and loads."""
    for thing in (*mechanism.constraints.values(), *mechanism.drivers.values(), *mechanism.loads.values()):
        ends = [str(getattr(end, "name", end)) for end in thing.on]
        yield Connection(
            thing.name, kind_name(thing), (thing.drives,) if isinstance(thing, Driver) else tuple(ends)
        )


def sketch_lines(mechanism: Mechanism, size: float) -> list[tuple[str, Line]]:
    """Return the lines of all loads, constraints and drivers, by their names."""
    elements = (*mechanism.loads.values(), *mechanism.constraints.values(), *mechanism.drivers.values())
    return list(sketches(elements, size))


def rods(lines: Sequence[tuple[str, Line]]) -> Iterable[Rod]:
    """Return the lines that go from body to body, as straight rods."""
    for name, line in lines:
        if line.body is None:
            for (a, on_a), (b, on_b) in pairwise(line.ends):
                yield name, a, b, on_a, on_b


def outlines(lines: Sequence[tuple[str, Line]], size: float) -> Iterable[Outline]:
    """Return the lines that lie on one body: straight ones as bars, others as tubes."""
    for name, line in lines:
        if line.body is not None and len(line.points) == 2:
            start, end = line.points
            shape, pose, _ = bar(start, end, _THIN * size)
            yield name, line.body, shape, pose
        elif line.body is not None and len(line.points) > 2:
            yield name, line.body, tessellate.tube(line.points, _THIN * size), np.eye(3, 4)


def toothed_wheels(
    mechanism: Mechanism, lines: Sequence[tuple[str, Line]], size: float
) -> Iterable[tuple[str, Part]]:
    """Return the wheels of gears, with their teeth, as plates on their bodies."""
    for name, line in lines:
        gear = mechanism.constraints.get(name)
        if not isinstance(gear, Gear) or gear.kind not in _WHEELS or line.body in (None, "ground"):
            continue
        if len(line.points) > 8 and np.array_equal(line.points[0], line.points[-1]):
            plate = Polygon(line.points[:-1]).extruded(_PLATE * size)
            yield (
                line.body,
                (tessellate.solid_shell(plate), np.column_stack([plate.rotation, plate.position]), None),
            )
