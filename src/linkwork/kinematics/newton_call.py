"""The next position of a mechanism by one built-in function, if it is near: q <- values of the drivers.

Newton's method from where the mechanism is. Its first step is the way along the tangent, since the equations
hold there; the others correct it. The result is taken if it passes the tests of `continuation.follow`: the
way and its correction are short, and the start is not near a dead point. Otherwise nothing has changed, and
the caller goes there in smaller steps.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork.kinematics.continuation import KNOWN, MEMORY, NOW
from linkwork.kinematics.equation_system import System
from linkwork.kinematics.newton_step import newton_step
from linkwork.kinematics.step_ports import LARGEST, LENGTH, PIVOT, PORTS
from linkwork.kinematics.tolerances import BEND, FIRM, NOISE, OPEN, ROUNDS, SLACK, SLOW, SMALL, STRIDE
from linkwork.lazy import computed_once
from linkwork.native import entry, store
from linkwork.native.built_in_functions import table
from linkwork.native.llvm_writer import Writer, number

Array = np.ndarray

MOST_UNKNOWNS = 24  # for which a step is unrolled: compiling it takes up to 0.2 s

# the plan: counts, then addresses of the step and of arrays, then the bits of a tolerance
_COUNTS = ("coordinates", "unknowns", "drivers", "references")
_ARRAYS = ("ports", "q", "u", "values", "ref", "located", "report", "memory", "tangent")
_SCRATCH = ("x", "ahead", "kept")  # the step, the first one, q before it
_ADDRESSES = ("step", *_ARRAYS, *_SCRATCH)
_PLAN = (*_COUNTS, *_ADDRESSES, "open")


def near_position(system: System, q: Array, values: Array) -> Callable[[Any, Array], Any]:
    """Return solve(goal, room) for a system that is at q, where its drivers have these values.

    It returns the room, filled with the coordinates there, and changes the values. It returns None if the
    goal is not an array of finite numbers as values are, False if it is not near, and changes nothing then.
    ZeroDivisionError if the equations do not determine the coordinates.
    """
    w, step, none = system.w, newton_step(system, q[None], 1), np.zeros(1)
    scratch = {"x": np.zeros(system.n), "ahead": np.zeros(system.n), "kept": np.zeros(system.nq)}
    scratch |= {"located": np.zeros(system.references + 1), "report": np.zeros(3)}
    read = {"data": system.data, "columns": w.columns, "weights": step.weights, "q": w.q, "ref": w.ref}
    arrays = dict.fromkeys(PORTS, none) | scratch | read | {"new": w.q}
    ports = table([arrays[word].ctypes.data for word in PORTS], keep=tuple(arrays.values()))
    kept = {"q": w.q, "u": w.u, "ref": w.ref, "memory": w.memory, "tangent": w.tangent, "values": values}
    arrays = scratch | kept | {"ports": ports}
    words = {word: array.ctypes.data for word, array in arrays.items()} | {"step": step.address}
    words |= dict(zip(_COUNTS, (system.nq, system.n, len(values), system.references), strict=True))
    words["open"] = int(np.array(OPEN * system.size).view(np.int64))
    plan = table([words[word] for word in _PLAN], keep=tuple(arrays.values()))
    return entry.single_call(_loop(), plan, none, [values.shape, (system.nq,)], 1, 1, keep=system)


@computed_once
def _loop() -> int:
    """Return the address of void solve(plan, ports), the same for all mechanisms."""
    text = _text()
    name = store.digest("newton call", text)
    store.load(name, lambda: (text.replace("@solve(", f"@solve_{name}("), {}), optimize=True)
    return store.address(f"solve_{name}")


def _text() -> str:
    """Return the loop as LLVM text; its ports are two that it does not use, the goal, and room for q."""
    w = Writer()
    plan = {word: w.load("i64", w.at("i64", "%plan", k)) for k, word in enumerate(_PLAN)}
    to = {word: w.value(f"inttoptr i64 {plan[word]} to ptr") for word in _ADDRESSES}
    goal, room = (w.load("ptr", w.at("ptr", "%ports", k)) for k in (2, 3))
    w.store("ptr", goal, w.at("ptr", to["ports"], PORTS.index("u")))
    _copy(w, to["q"], to["kept"], plan["coordinates"])
    found = _iterate(w, plan, to)
    with w.when(found):
        _remember(w, plan, to, goal)
        _copy(w, to["q"], room, plan["coordinates"])
    with w.when(w.op("xor", "i1", found, "true")):
        _copy(w, to["kept"], to["q"], plan["coordinates"])
        w.store("double", number(np.nan), room)  # by which the built-in function knows
    return w.function("void @solve(ptr %plan, ptr %ports)")


def _iterate(w: Writer, plan: dict[str, str], to: dict[str, str]) -> str:
    """Write Newton's method; return whether it has arrived, on a way that is short and hardly bent."""

    def compare(how: str, a: str, b: str) -> str:
        return w.op(f"fcmp {how}", "double", a, b)

    def step() -> list[str]:
        w.do(f"call void {to['step']}(ptr null, ptr {to['ports']})")
        return [w.load("double", w.at("double", to["report"], k)) for k in (LENGTH, LARGEST, PIVOT)]

    pace, open_by, pivot = step()
    _copy(w, to["x"], to["ahead"], plan["unknowns"])
    length, largest = w.variable("double", pace), w.variable("double", open_by)
    correction, found = w.variable("double", number(0.0)), w.variable("i1", "false")
    short, firm = compare("ole", pace, number(STRIDE)), compare("ogt", pivot, number(FIRM))
    with w.when(w.op("and", "i1", short, firm)), w.loop(0, ROUNDS) as (_, end):
        before, way = w.load("double", length), w.load("double", correction)
        arrived = compare("olt", before, number(SMALL))
        with w.when(arrived):
            bend = w.op("fadd", "double", w.op("fmul", "double", pace, number(BEND)), number(SLACK))
            tolerance = w.value(f"bitcast i64 {plan['open']} to double")
            closed = compare("olt", w.load("double", largest), tolerance)
            w.store("i1", w.op("and", "i1", closed, compare("ole", way, bend)), found)
        w.leave_unless(w.op("xor", "i1", arrived, "true"), end)
        next_length, next_largest, _ = step()
        shorter = compare("ole", next_length, w.op("fmul", "double", before, number(SLOW)))
        w.leave_unless(w.op("or", "i1", shorter, compare("ole", next_length, number(NOISE))), end)
        w.store("double", next_length, length)
        w.store("double", next_largest, largest)
        w.store("double", w.op("fadd", "double", way, next_length), correction)
    return w.load("i1", found)


def _remember(w: Writer, plan: dict[str, str], to: dict[str, str], goal: str) -> None:
    """Write what `continuation.follow` keeps: where the way began, how it went, turns, the values now."""
    w.store("double", number(1.0), w.at("double", to["memory"], NOW))
    w.store("double", number(1.0), w.at("double", to["memory"], KNOWN))
    along = w.at("double", to["memory"], MEMORY)
    start = w.at("double", along, plan["drivers"])
    with w.loop(0, plan["drivers"]) as (k, _):
        before = w.load("double", w.at("double", to["values"], k))
        there = w.load("double", w.at("double", goal, k))
        w.store("double", w.op("fsub", "double", there, before), w.at("double", along, k))
        w.store("double", before, w.at("double", start, k))
        w.store("double", there, w.at("double", to["values"], k))
        w.store("double", there, w.at("double", to["u"], w.op("mul", "i64", k, 3)))
    _copy(w, to["kept"], w.at("double", start, plan["drivers"]), plan["coordinates"])
    _copy(w, to["ahead"], to["tangent"], plan["unknowns"])
    _copy(w, to["located"], to["ref"], plan["references"])


def _copy(w: Writer, source: str, target: str, count: str) -> None:
    with w.loop(0, count) as (k, _):
        w.store("double", w.load("double", w.at("double", source, k)), w.at("double", target, k))
