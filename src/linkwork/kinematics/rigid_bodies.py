"""M, h, q' <- q, v: the equations of motion of single bodies (Newton, Euler), as native code over all bodies.

    M v' + h = the forces on a body along its coordinates

A body's unknowns are its place in world axes and its turn about its own; its motion, in its own frame, is
V = E v. With its inertia I in that frame, M = E^T I E and h = E^T (I (E' v - fall) + V x* I V).
"""

from typing import Any

import numpy as np

from linkwork.algebra import rotation
from linkwork.kinematics.driver_count import body_motion
from linkwork.kinematics.driver_forces import along_coordinates, turning_acceleration
from linkwork.kinematics.equation_system import System
from linkwork.native import emit, entry, store
from linkwork.native.built_in import table
from linkwork.native.emit import Pointer, Store
from linkwork.trace.expression import Graph, Operand

Array = np.ndarray

_PORTS = ("data", "q", "v", "M", "h", "rates")


class RigidBodies:
    """Code and arrays for the bodies of a system: `run`, `plan` and `ports` for a call from native code."""

    def __init__(self, system: System) -> None:
        algebra, count = system.algebra, len(system.bodies)
        size, free = system.coordinates, system.free
        numbers = [_numbers(body, system.mechanism.gravity) for body in system.bodies]
        self.M = np.zeros((count, free, free))
        self.h = np.zeros(system.n)
        self.rates = np.zeros(system.nq)  # of q; those of own unknowns are their velocities
        width = len(numbers[0])
        records = np.array([(width * k, size * k, free * k, free * free * k) for k in range(count)], np.int64)
        data = np.array(numbers)
        name = store.digest("rigid bodies", algebra.__name__)

        def build() -> tuple[str, dict[str, Any]]:
            walk = emit.walk(f"bodies_{name}", 1, _PORTS, ("data",), _pointers(), _stores(algebra))
            return emit.module(1, [walk]), {}

        store.load(name, build)
        arrays = data, system.w.q, system.w.v, self.M, self.h, self.rates
        self.run = entry.walker(1)
        kernel = store.address(f"bodies_{name}")
        self.plan = table([1, 0, kernel, records.ctypes.data, count, records.shape[1]], keep=(records,))
        self.ports = table([array.ctypes.data for array in arrays], keep=arrays)


def _numbers(body: Any, gravity: Any) -> list[float]:
    inertia = body.inertia
    return [float(inertia.mass), *inertia.com, *np.ravel(inertia.tensor), *map(float, gravity)]


def _pointers() -> list[Pointer]:
    columns = {"data": 0, "q": 1, "rates": 1, "v": 2, "h": 2, "M": 3}
    return [Pointer(word, word, columns[word]) for word in _PORTS]


def _stores(algebra: Any) -> list[Store]:
    """Return what is computed for one body."""
    graph, size, free = Graph(), algebra.dimension, algebra.freedoms
    angular = algebra.angular

    def symbols(base: str, count: int, first: int = 0) -> list[Any]:
        return graph.symbols((base, first + k) for k in range(count))

    q, v = symbols("q", algebra.coordinates), symbols("v", free)
    mass, com, flat = symbols("data", 1)[0], symbols("data", size, 1), symbols("data", angular**2, 1 + size)
    gravity = symbols("data", size, 1 + size + angular**2)
    tensor = flat[0] if angular == 1 else [flat[3 * k : 3 * k + 3] for k in range(3)]
    inertia = algebra.RigidInertia.about_center(mass, com, tensor)
    X = algebra.pose(q)
    V = body_motion(algebra, X, v)
    fall = algebra.uniform_acceleration(X.axes.local(tuple(gravity)))
    wrench = inertia @ (turning_acceleration(algebra, V) - fall) + V.cross_force(inertia @ V)
    h = along_coordinates(algebra, X, wrench)
    stores: list[Store] = [("h", k, x) for k, x in enumerate(h)]
    for j in range(free):
        unit = [1.0 if i == j else 0.0 for i in range(free)]
        column = along_coordinates(algebra, X, inertia @ body_motion(algebra, X, unit))
        stores += [("M", free * i + j, x) for i, x in enumerate(column)]
    rates: list[Operand] = [*v[:3]]
    if free == 6:
        rates += rotation.quaternion_rates(q[3:], v[3:])
    return stores + [("rates", k, x) for k, x in enumerate(rates)]
