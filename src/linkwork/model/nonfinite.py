"""The cause of a motion that is not finite: the joint or load by name, and its value."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.dynamics.as_drawn import as_drawn
from linkwork.errors import TraceError
from linkwork.model.driver_law import DriverLaw
from linkwork.tree.load_action import LoadNumbers, act
from linkwork.tree.load_formula import PlacedLoad
from linkwork.tree.loop_as_drawn import is_determined
from linkwork.tree.tree import Link

if TYPE_CHECKING:
    from linkwork.model.model import Model

Array = np.ndarray
Inputs = Mapping[str, float]  # values by name
Found = tuple[list[float], BaseException | None]  # what a load gives, or what it raised instead


_LOOSE = 1e3  # times as drawn: unknowns of a constraint that are worth a name where a run fails
_WHY = "where its curve stands still, or bends as much as what is on it"
_HUGE = 1e100  # a force that is worth a name where accelerations are not finite


@dataclass(frozen=True)
class Fault:
    """What is not finite, by name and in words; `cause` is what a law that must be called raised."""

    name: str
    words: str
    cause: BaseException | None = None


def joint(model: "Model", index: int) -> str:
    """Return the name of the joint that a number of the state (q, v) belongs to, or of the constraint."""
    side, k = (0, index) if index < model.nq else (1, index - model.nq)
    if own := _own_unknown(model, index):
        return own.name
    return next(name for name, parts in model.slices.items() if parts[side].start <= k < parts[side].stop)


def component(model: "Model", index: int) -> str:
    """Return the joint, and the coordinate, of a number of the state (q, v)."""
    side, k, word = (0, index, "position") if index < model.nq else (1, index - model.nq, "velocity")
    if own := _own_unknown(model, index):
        return f"unknown[{index - own.u}] of constraint {own.name!r}"
    name = joint(model, index)
    part = model.slices[name][side]
    number = f"[{k - part.start}]" if part.stop - part.start > 1 else ""
    return f"{word}{number} of joint {name!r}"


def _own_unknown(model: "Model", index: int) -> Any:
    """Return the loop of the constraint that a number of the state (q, v) is an unknown of, if it is one."""
    closing = (loop for loop in model.link_tree.loops if loop.drawn)
    return next((loop for loop in closing if loop.u <= index < loop.u + len(loop.drawn)), None)


def not_finite(model: "Model", t: float, y: Array, inputs: Inputs) -> tuple[str, str]:
    """Find what is not finite at a state: return its name, and the fault in words."""
    fault = find(model, t, y, inputs)
    return fault.name, fault.words


def find(model: "Model", t: float, y: Array, inputs: Inputs, events: Sequence[PlacedLoad] = ()) -> Fault:
    """Find what is not finite at a state: a coordinate, a load, an event, or a joint's own force."""
    y = y[: model.nq + model.nv]
    odd = np.flatnonzero(~np.isfinite(y))
    if len(odd):
        where = int(odd[0])
        return Fault(joint(model, where), f"the {component(model, where)} is {y[where]}")
    if fault := law_fault(model, t, y, inputs, events):
        return fault
    largest = int(np.argmax(np.abs(y)))
    return Fault(joint(model, largest), _value(model, y))


def _value(model: "Model", y: Array) -> str:
    """Tell of the largest number of a state."""
    largest = int(np.argmax(np.abs(y)))
    return f"the {component(model, largest)} is {y[largest]:.3g}"


def law_fault(
    model: "Model", t: float, y: Array, inputs: Inputs, events: Sequence[PlacedLoad] = ()
) -> Fault | None:
    """Find what gives no number, or one that is too large, at a state that has numbers."""
    for placed, (values, error) in _loads(model, t, y, inputs, events):
        what = f"{'event' if placed in events else 'load'} {placed.name!r}"
        if error is not None and placed.formula is None:
            return Fault(placed.name, f"{what} raised {type(error).__name__}: {error}", error)
        if error is not None:  # native code gives what is not a number instead
            return Fault(placed.name, f"{what} gives no finite number: {error}")
        if not all(map(isfinite, values)):
            return Fault(placed.name, f"{what} gives {_odd(values, placed.shown)}")
    if (contacts := model.compliant_contacts) is not None:
        q, v = y[: model.nq], y[model.nq :]
        name, words = contacts.fault(model.body_names, model.poses(q).array, model.velocities(q, v).array)
        if words:
            return Fault(name, words)
    for name, driver in model.mechanism.drivers.items():
        try:
            DriverLaw(driver).at(t, inputs)
        except (ArithmeticError, TraceError, ValueError) as error:
            return Fault(name, str(error))
    for name, forces in _own_forces(model, y):
        if not all(map(isfinite, forces)):
            return Fault(name, _beyond(model, name, y, _odd(forces, 0)))
    if fault := _out_of_domain(model, y) or undetermined(model, y[: model.nq]):
        return fault
    size, name, words = _largest_force(model, t, y, inputs)
    if size > _HUGE:
        said = _value(model, y)
        return Fault(name, f"{words} gives {size:.3g}, more than can be computed with; {said}")
    return None


def _beyond(model: "Model", name: str, y: Array, value: str) -> str:
    """Describe the force of a joint itself, with its position, and with its limits if it is beyond them."""
    q, limits = y[model.slices[name][0]], model.joints[name].limit_pairs()
    here = ", ".join(f"{x:.9g}" for x in q)
    words = f"the spring, damper or stop of joint {name!r} gives {value} at q = {here}"
    if len(limits) == len(q) and ((q < limits[:, 0]) | (q > limits[:, 1])).any():
        words += f", beyond its limits {', '.join(f'({a:.6g}, {b:.6g})' for a, b in limits.tolist())}"
    return words


def _out_of_domain(model: "Model", y: Array) -> Fault | None:
    """Find a joint whose motion has no value, or no derivatives, where it is: a root of what is negative."""
    for link in model.loaded_body_tree.links:
        here, speed = _state_of(model, link, y)
        kind, numbers = link.kind, link.parameters
        try:
            with np.errstate(all="ignore"):
                X, S = kind.motion(here, numbers), kind.subspace(here, numbers)
                c = kind.bias(here, speed, numbers)
            found = [*X.scalars(), *(x for s in S for x in s.scalars()), *c.scalars()]
            at = ", ".join(f"{x:.9g}" for x in here)
            if all(map(isfinite, found)):
                still = [k for k, s in enumerate(S) if not any(s.scalars())]
                if still and not np.any(model.joints[link.name].armature):
                    return Fault(
                        link.name,
                        f"joint {link.name!r} does not move with coordinate {still[0]} at q = {at}, where "
                        "the derivative of motion(q) is zero, so that no inertia resists; give it armature=",
                    )
                continue
        except (ArithmeticError, ValueError):
            at = ", ".join(f"{x:.9g}" for x in here)
        return Fault(
            link.name, f"the motion of joint {link.name!r} has no value, or no derivatives, at q = {at}"
        )
    return None


def undetermined(model: "Model", q: Array) -> Fault | None:
    """Find a constraint whose own unknowns do not follow from where its bodies are: phi_u has lost rank."""
    if not model.link_tree.unknowns:
        return None
    there = as_drawn(model.link_tree, q.tolist())
    for loop in model.link_tree.loops:
        u = q[loop.u : loop.u + len(loop.drawn)].tolist()
        if u and not is_determined(model.link_tree, loop, there, u):
            at = ", ".join(f"{x:.9g}" for x in u)
            words = f"the unknowns of constraint {loop.name!r} are not determined at {at}, {_WHY}"
            return Fault(loop.name, words)
    return None


def hardly_determined(model: "Model", y: Array) -> str:
    """Say which constraint's own unknowns change much more with the joints than as drawn; nothing if none."""
    q, units = y[: model.nq], np.diag(model.coordinate_sizes)
    if not model.link_tree.unknowns or not np.isfinite(q).all():
        return ""
    there, drawn = (
        np.abs(model.position_rates(np.tile(x, (model.nv, 1)), units)).max(axis=0) for x in (q, model.q_drawn)
    )
    for loop in model.link_tree.loops:
        for k in range(loop.u, loop.u + len(loop.drawn)):
            if there[k] > _LOOSE * (1.0 + drawn[k]):
                return f"the unknowns of constraint {loop.name!r} are hardly determined at {q[k]:.9g}, {_WHY}"
    return ""


def largest_force(model: "Model", t: float, y: Array, inputs: Inputs) -> str:
    """Return, in words, what pushes most at a state; nothing if nothing pushes."""
    size, _, words = _largest_force(model, t, y, inputs)
    return f"the largest force there is that of {words}, {size:.3g}" if size > 0.0 else ""


def _largest_force(model: "Model", t: float, y: Array, inputs: Inputs) -> tuple[float, str, str]:
    """Return what pushes most at a state: how much, by name, and in words."""
    found = [
        (placed.name, f"load {placed.name!r}", values)
        for placed, (values, _) in _loads(model, t, y[: model.nq + model.nv], inputs, ())
    ]
    found += [(name, f"joint {name!r} itself", forces) for name, forces in _own_forces(model, y)]
    sizes = [(max((abs(x) for x in values), default=0.0), name, words) for name, words, values in found]
    return max(sizes, default=(0.0, "", ""))


def driven_by(model: "Model", joint: str) -> str:
    """Return, in words, which drivers move a joint; nothing if none does."""
    names = [name for name, driver in model.mechanism.drivers.items() if joint in driver.on]
    return f"it is driven by {', '.join(map(repr, names))}" if names else ""


def fastest(model: "Model", t: float, y: Array, inputs: Inputs) -> int:
    """Return the number of the state (q, v) that changes most, for its size."""
    q, v = y[: model.nq], y[model.nq : model.nq + model.nv]
    own = {name: inputs[name] for name in model.inputs}
    try:
        rates = np.concatenate([model.position_rates(q, v), model.motion(q, v, t, inputs=own)])
    except ArithmeticError:
        rates = np.concatenate([model.position_rates(q, v), v])
    return int(np.argmax(np.abs(rates) / (1.0 + np.abs(y[: len(rates)]))))


def _loads(
    model: "Model", t: float, y: Array, inputs: Inputs, events: Sequence[PlacedLoad]
) -> Iterator[tuple[PlacedLoad, Found]]:
    """Run every load, and event, on plain numbers."""
    placed = (*model.loaded_body_tree.loads, *events)
    if not placed:
        return
    q, v = y[: model.nq], y[model.nq :]
    try:
        seen = model.poses(q), model.velocities(q, v)
    except ArithmeticError:  # numbers too large: bodies are nowhere
        return
    with np.errstate(all="ignore"):
        yield from ((one, _run(one, t, q.tolist(), v.tolist(), inputs, *seen)) for one in placed)


def _run(
    placed: PlacedLoad,
    t: float,
    q: list[float],
    v: list[float],
    inputs: Inputs,
    poses: Any,
    velocities: Any,
) -> Found:
    """Run a load on plain numbers."""

    def frame(k: int) -> Any:
        return placed.sides[k].pose(poses)

    def motion(k: int) -> Any:
        side = placed.sides[k]
        return side.frame @ side.on_body.local(poses[side.body].axes.local(velocities[side.body]))

    def of_joint(k: int) -> tuple[list[float], list[float]]:
        return q[placed.sides[k].q], v[placed.sides[k].v]

    numbers = LoadNumbers(t, frame, motion, of_joint, lambda: (q, v), lambda given: inputs[given.name])
    try:
        outcome = act(placed.load, placed.algebra, placed.sides, placed.slices, numbers, placed.seen)
        if len(outcome.shown) != placed.shown:
            raise ValueError(f"{len(outcome.shown)} numbers, where there were {placed.shown} before")
        return [float(x) for x in (*outcome.shown, *outcome.scalars())], None
    except Exception as error:
        return [], error


def _own_forces(model: "Model", y: Array) -> Iterator[tuple[str, list[float]]]:
    """Return the generalised forces of the joints themselves; NaN where they cannot be computed."""
    for link in model.loaded_body_tree.links:
        here, speed = _state_of(model, link, y)
        try:
            with np.errstate(all="ignore"):
                yield link.name, [float(x) for x in link.kind.own_forces(here, speed, link.parameters)]
        except (ArithmeticError, ValueError):
            yield link.name, [float("nan")]


def _state_of(model: "Model", link: Link, y: Array) -> tuple[list[float], list[float]]:
    """Return positions and velocities of the joint of a link."""
    q, v = link.q, model.nq + link.v
    return y[q : q + link.kind.nq].tolist(), y[v : v + link.kind.nv].tolist()


def _odd(values: Sequence[float], shown: int) -> str:
    """Return the first value that is not finite, and which it is of those a load shows."""
    k, x = next((k, x) for k, x in enumerate(values) if not isfinite(x))
    return f"{x} in component {k}" if 1 < shown > k else f"{x}"
