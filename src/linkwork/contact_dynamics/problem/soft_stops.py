"""Springs and dampers at the limits of joints as rows of a step with contact: met before they are passed.

A coordinate at a distance g from its limit, which it approaches at a rate r, meets a spring k and a damper c
(`mechanism.stop.Stop`). At the end of a step of h it is d = h r - g deep. Backward Euler's impulse there is

    p = h (k d + c r) = h s r - h k g,    s = h k + c,    and never below 0,

so with u = -r and the compliance y = 1 / (h s) it is a SPRING of `friction_cone`,

    u + y p + b >= 0,    b = k g / s.

Where the limit is still to be met, g > 0, the damper works from there on, at the rate d / h: then b = g / h.
As a force at the start of a step, a stop that is not met yet gives nothing, and the next step finds it deep:
a spring that is loaded by no work.

Rows begin with what the spring and damper do at the place and the velocity of now, so nothing has to be
remembered of them. Stops of joints whose displacement is not their coordinate (balls), or which close loops,
exponential ones and those of users are forces.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.problem.contact_problem import CONTACTS, NODES, TABLE
from linkwork.contact_dynamics.problem.friction_cone import SPRING
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import entry
from linkwork.tree.joint_forces import stops_are_rows
from linkwork.varied import real

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray

_REACH = 10.0  # speed with which a coordinate may come from nowhere [rad/s, m/s]
_NO_SPRING = 1e30  # compliance of a stop without stiffness and damping


class SoftStops(NamedTuple):
    """Sides of limits, a row each; `chosen` and `still` change from step to step."""

    position: Any  # (n,) in q
    column: Any  # (n,) in v
    node: Any  # (n,) that moves it
    numbers: Any  # (n, 4) SIGN, LIMIT [rad, m], STIFFNESS [N m/rad, N/m], DAMPING [N m s/rad, N s/m]
    chosen: Any  # (n,) those that may be met in this step come first
    still: Any  # (nv,) 1 where a velocity is asleep


SIGN, LIMIT, STIFFNESS, DAMPING = range(4)  # SIGN 1: met from above, the lower limit; -1: from below
_WHERE = "int64[::1]"
_STOPS = Named(
    SoftStops, dict(zip(SoftStops._fields, (*[_WHERE] * 3, "float64[:, ::1]", *[_WHERE] * 2), strict=True))
)


def soft_stops(model: "Model", first: Array) -> SoftStops:
    """Return the stops of a model that are rows; `first` is where the velocities of nodes begin."""
    places: list[tuple[int, int]] = []
    numbers: list[tuple[float, ...]] = []
    for joint in model.joints.values():
        if joint.name not in model.slices or not stops_are_rows(joint):
            continue
        q, v = model.slices[joint.name]
        inertia = model.moved_inertia[joint.name]
        for k, (limits, moved) in enumerate(zip(joint.limit_pairs(), inertia, strict=True)):
            for sign, limit in zip((1.0, -1.0), map(float, limits)):
                if np.isfinite(limit):
                    places.append((q.start + k, v.start + k))
                    numbers.append((sign, limit, *map(float, joint.stop.numbers(real(moved)))))
    place = np.array(places, np.int64).reshape(-1, 2)
    column = np.ascontiguousarray(place[:, 1])
    return SoftStops(
        *(np.ascontiguousarray(place[:, 0]), column, np.searchsorted(first, column, "right") - 1),
        *(np.array(numbers).reshape(-1, 4), np.zeros(len(column), np.int64), np.zeros(model.nv, np.int64)),
    )


@entry("int64", _STOPS, "float64[::1]", "float64[::1]", "float64")
def near_stops(stops, q, free, h):
    """Choose the stops that may be met within h, from velocities without contact; return how many."""
    count = 0
    for k in range(len(stops.column)):
        i = stops.column[k]
        gap = stops.numbers[k, SIGN] * (q[stops.position[k]] - stops.numbers[k, LIMIT])
        if stops.still[i] == 0 and gap <= h * (_REACH + 2.0 * abs(free[i])):
            stops.chosen[count] = k
            count += 1
    return count


@entry("int64", _STOPS, "int64", NODES, *["float64[::1]"] * 2, "float64", "int64", CONTACTS, TABLE)
def fill_stops(stops, count, nodes, q, v, h, first, c, impulses):
    """Write rows of chosen stops, and impulses to begin with, behind others; return how many there are."""
    for i in range(count):
        k, row = stops.chosen[i], first + i
        sign, limit, stiffness, damping = stops.numbers[k]
        node, j = stops.node[k], stops.column[k]
        n, at = nodes.size[node], nodes.at[node]
        own = j - nodes.first[node]
        c.a[row], c.b[row], c.of[row], c.kind[row], c.friction[row] = node, -1, row, SPRING, 0.0
        for r in range(3 * n):
            c.rows[c.of_a[row] + r] = 0.0
        c.rows[c.of_a[row] + own] = sign
        c.weight[row] = 1.0 / nodes.inverse[at + own * n + own]
        gap, slope = sign * (q[stops.position[k]] - limit), h * stiffness + damping
        c.bias[row, 0] = gap / h if gap > 0.0 or stiffness == 0.0 else gap * stiffness / slope
        c.bias[row, 1] = c.bias[row, 2] = 0.0
        c.spin[row] = 1.0 / (h * slope) if slope > 0.0 else _NO_SPRING
        now = -h * (stiffness * gap + damping * sign * v[j]) if gap < 0.0 else 0.0
        impulses[row, 0], impulses[row, 1], impulses[row, 2] = max(now, 0.0), 0.0, 0.0
    return first + count
