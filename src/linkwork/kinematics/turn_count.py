"""Whole turns of the joints that constraints see, at positions near which a mechanism has been: ref <- q, u.

A gear that has turned by 7 rad looks as if by 7 - 2 pi, and another gear has to know better. In the plane
bodies' angles count turns: a joint has turned by as much as its bodies, from where turns are known. In space
a driven joint has turned by as much as its driver; and an equation of which all joints but one are known says
how often that one has turned:

    phi(q + 2 pi k) = 0,    k = phi(q) / (phi(q) - phi(q + 2 pi))    for phi linear in q, as gears are

Of others nothing is known but the angle that is nearest to where it was.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import pi
from typing import Any

from linkwork.algebra import number
from linkwork.kinematics.equation_system import System
from linkwork.kinematics.step_ports import PORTS, SHARED
from linkwork.kinematics.unrolled_equations import UnrolledEquations, structure
from linkwork.mechanism.constraint import Constraint
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.joint import Joint
from linkwork.native import emit, store
from linkwork.trace.expression import Operand

_CLEAR = 1e-6  # change of an equation in a whole turn, at least, from which their number follows


@dataclass(frozen=True)
class _Reference:
    """A joint coordinate as a constraint sees it."""

    thing: int  # the constraint
    coordinate: tuple[int, int]  # the joint, and which of its coordinates
    turns: bool  # whether it is an angle
    driver: int | None  # that drives it
    angles: tuple[tuple[int, float], ...]  # in the plane: of bodies, among q, and how it turns with them


def turn_count(system: System, lanes: int) -> int:
    """Return the address of void count(plan, ports), in lanes.

    Behind `here` are the values of drivers, references and coordinates at a position where turns are known.
    """
    references = list(_references(system))
    name = store.digest("turn count", lanes, structure(system, lanes), references)

    def build() -> tuple[str, dict[str, Any]]:
        counted = _counted(UnrolledEquations(system, lanes), references)
        stores = [("ref", k, x) for k, x in enumerate(counted)]
        return emit.module(lanes, [emit.straight(f"count_{name}", lanes, PORTS, SHARED, stores)]), {}

    store.load(name, build)
    return store.address(f"count_{name}")


def _references(system: System) -> Iterator[_Reference]:
    """List the references, in the order of their places."""
    driven = {(driver.sides()[0].name, driver.component): k for k, driver in enumerate(system.drivers)}
    joints = list(system.mechanism.joints)
    for number_of, thing in enumerate(system.things):
        if not isinstance(thing, Constraint) or isinstance(thing, Driver):
            continue
        for joint in thing.sides():
            if not isinstance(joint, Joint):
                continue
            for k, turns in enumerate(joint.periodic):
                angles = tuple(_angles(system, joint, k)) if turns and system.algebra.dimension == 2 else ()
                key = joints.index(joint.name), k
                yield _Reference(number_of, key, turns, driven.get((joint.name, k)), angles)


def _angles(system: System, joint: Joint, component: int) -> Iterator[tuple[int, float]]:
    """Return the angles of the bodies of a joint in the plane, and how a coordinate turns with each."""
    q = joint.neutral()
    moved = [x + 0.1 * (k == component) for k, x in enumerate(q)]
    rate = round(10.0 * float(joint.motion(moved).angle - joint.motion(q).angle))  # of the child: +-1
    for body, sense in zip(joint.bodies, (-1.0, 1.0), strict=True):
        if id(body) in system.numbers:
            yield system.coordinates * system.numbers[id(body)] + 2, sense / rate


def _counted(equations: UnrolledEquations, references: list[_Reference]) -> list[Operand]:
    """Return the joint coordinates, their turns counted from here."""
    system = equations.system
    inputs, count = len(system.drivers), len(references)
    here = equations.graph.symbols(("here", k) for k in range(inputs + count + system.nq))
    values_here, ref_here, q_here = here[:inputs], here[inputs : inputs + count], here[inputs + count :]
    near: dict[tuple[int, int], Operand] = {}
    groups: dict[int, list[int]] = {}  # references of each constraint
    for k, reference in enumerate(references):
        groups.setdefault(reference.thing, []).append(k)
        change: Operand | None = None
        if reference.angles:
            change = sum(rate * (equations.q[i] - q_here[i]) for i, rate in reference.angles)
        elif reference.driver is not None:
            change = equations.u[reference.driver] - values_here[reference.driver]
        elif not reference.turns:
            change = 0.0
        if change is not None:
            near[reference.coordinate] = ref_here[k] + change
    waiting = dict(groups)
    while waiting:
        unknown = {
            thing: [k for k in group if references[k].coordinate not in near]
            for thing, group in waiting.items()
        }
        thing = min(unknown, key=lambda each: len(unknown[each]))
        for k in unknown[thing]:
            near[references[k].coordinate] = ref_here[k]
        if unknown[thing]:
            group, last = groups[thing], unknown[thing][-1]
            refs = [near[references[k].coordinate] for k in group]
            near[references[last].coordinate] = _solved(equations, thing, refs, group.index(last))
        del waiting[thing]
    found: list[Operand] = []
    for thing, group in groups.items():
        refs = [near[references[k].coordinate] for k in group]
        found += equations.of(system.things[thing], refs).located
    return found


def _solved(equations: UnrolledEquations, thing: int, refs: list[Operand], last: int) -> Operand:
    """Return the last reference with the whole turns for which the equation holds, if it depends on them."""
    constraint = equations.system.things[thing]
    values = equations.of(constraint, refs)
    before = values.located[last]
    turned = equations.of(constraint, [*refs[:last], before + 2 * pi, *refs[last + 1 :]])
    for phi, after in zip(values.phi, turned.phi, strict=True):
        change = phi - after
        if isinstance(change, float):
            continue
        clear = number.abs(change) > _CLEAR
        turns = number.floor(phi / number.where(clear, change, 1.0) + 0.5)
        return before + 2 * pi * number.where(clear, turns, 0.0)
    return before
