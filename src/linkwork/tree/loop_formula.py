"""What closes loops, as formulas on the links that it is between.

A loop joint joins link a to link b, neither of which hangs on it. Along the directions T that it takes away,
the complement of its motion subspace S, its two frames must not move apart: one equation, a *row*, each. All
is seen in the joint's frame on b. With v_rel the motion of that frame relative to the one on a,

    T.v_rel = 0,    T.(a_b - a_a) = T.(v_b x v_rel + dS/dt v)

and a row's force is T on link b, -T on link a. A constraint has forces on any number of links, and on the
joints that these hang on (`constraint_rows`). As with joints (`joint_formula`) and loads (`load_formula`),
each is run once on symbols, its numbers become data, and those of one structure share their native code.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

from linkwork.algebra.complement import complement
from linkwork.algebra.vector import dot
from linkwork.errors import ModelError
from linkwork.lazy import LOCK
from linkwork.mechanism.input import Input
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.joints import CATALOGUE
from linkwork.trace.expression import Graph, Operand
from linkwork.trace.graph_walks import is_smooth, reachable
from linkwork.tree.constraint_rows import ConstraintRows, constraint_rows
from linkwork.tree.joint_formula import JointFormula, lift, structure
from linkwork.tree.joint_kinematics import JointKinematics
from linkwork.tree.loop_constraint import LoopConstraint

Formulas = dict[str, "LoopFormula"]  # that are known, by signature


@dataclass(frozen=True, eq=False)
class LoopFormula:
    """Over symbols of the links it is between, its *ends*, numbered and without ground: ("X0", k), ("v0", k),
    ("a0", k) of the first: pose in the world, motion and acceleration; ("q0", k), ("qd0", k): coordinates and
    velocities of the joint that this link hangs on, ("qdd0", k) its accelerations; ("X1", k), ... of the
    next; ("ground", k): the acceleration of ground, which is against gravity; ("t", 0): time; ("u", k):
    unknowns of a constraint's own; ("input0", 0), ("input1", 0), ...: inputs; ("data", k): frames on the
    links, the numbers of a joint's kind; ("parameter", k): what follows.
    """

    algebra: ModuleType
    n_data: int  # numbers before the parameters; the last of them are gains, which are 0: see `Restoring`
    signature: str  # equal for those that can share their code
    forces: tuple[Any, ...]  # per end, per row: the force of a unit of it on the link, in the link's frame
    direct: tuple[Any, ...]  # per end, per row: generalised forces on its joint; no rows if it is left alone
    acceleration: tuple[Operand, ...]  # per row: what forces times accelerations have to be
    bias: tuple[Operand, ...]  # per row: what that lacks when the links accelerate by a0, a1, ...
    velocity: tuple[Operand, ...]  # per row: how fast the links open it, which should be -pace [m/s, rad/s]
    position: tuple[Operand, ...]  # per row: how far it is open [m, rad]
    pace: tuple[Operand, ...]  # per row: how fast it opens when nothing moves, if it is a driver's
    directions: tuple[Any, ...]  # per row: its force on the child along the axes of the world
    smooth: bool  # whether what it holds, and pushes by itself, neither bends nor jumps
    inputs: int = 0  # how many it reads
    q: tuple[Operand, ...] = ()  # coordinates of the joint, or a constraint's own unknowns
    v: tuple[Operand, ...] = ()  # its velocities
    a: tuple[Operand, ...] = ()  # its accelerations, when the links accelerate by a0, a1
    own: tuple[Operand, ...] = ()  # the joint's own forces, per velocity
    drive: tuple[Any, ...] = ()  # per end: the same as a wrench on the link, in its frame
    shift: tuple[Operand, ...] = ()  # Newton's change of a constraint's own unknowns, the links staying
    square: tuple[Any, ...] = ()  # per row: how much of each of its equations, if it has unknowns of its own
    equations: tuple[Operand, ...] = ()  # and how far each of these is open

    @property
    def ends(self) -> int:
        return len(self.forces)

    @cached_property
    def called(self) -> str:
        """The name of the constraint, if it must be called and cannot be native."""
        nodes = reachable((*self.position, *self.pace))
        return next((x.args[0].function.element for x in nodes if x.op == "called"), "")


def padding(algebra: ModuleType) -> int:
    """Return how many rows of one loop are carried at once in one mechanism, and so how many it may have."""
    return 8 if algebra.freedoms > 4 else 4


class _Symbols:
    """The symbols of a formula."""

    def __init__(self, algebra: ModuleType):
        self._algebra, self._graph = algebra, Graph()

    def of(self, name: str, count: int, first: int = 0) -> list[Any]:
        return list(self._graph.symbols((name, first + k) for k in range(count)))

    def frame(self, name: str, first: int = 0) -> Any:
        return self._algebra.Frame.from_scalars(self.of(name, self._algebra.Frame.size, first))

    def motion(self, name: str) -> Any:
        return self._algebra.Motion.from_scalars(self.of(name, self._algebra.Motion.size))

    def pose_of(self, end: int | None) -> Any:
        """Return the pose of the link at an end, None for ground."""
        return self._algebra.Frame() if end is None else self.frame(f"X{end}")

    def motion_of(self, word: str, end: int | None, place: Any = None) -> Any:
        """Return the velocity, or acceleration, of the link at an end, seen from a place on it if given."""
        if end is None:
            return self._algebra.Motion.zero()
        moved = self.motion(f"{word}{end}")
        return moved if place is None else place.local(moved)


def _check_count(closing: LoopConstraint, count: int) -> None:
    """Raise ModelError if a constraint has too few equations for its own unknowns, or too many."""
    what, most, own = f"{closing.constraint.word} {closing.name!r}", padding(closing.algebra), closing.nq
    if own >= count > 0:
        raise ModelError(
            f"{what} has {count} equations for {own} unknowns of its own, and takes nothing away; "
            "give more equations, or fewer unknowns"
        )
    if count - own > most:
        raise ModelError(
            f"{what} has {count - own} equations, and cannot have more than {most} to move with a mechanism; "
            "make several constraints of it"
        )


def _without_own(rows: Any, parts: dict[str, Any], u: Sequence[Any], qdd: Sequence[Any]) -> dict[str, Any]:
    """Return the parts of rows without the unknowns of a constraint's own, and the formulas of these."""
    opening = [-1.0 * x for x in parts["bias"]]
    for pushes, gained in zip(rows.direct, qdd, strict=True):
        opening = [x + dot(push, gained) for x, push in zip(opening, pushes, strict=True)]
    parts = {word: rows.own.without(part, word in ("forces", "direct")) for word, part in parts.items()}
    parts |= {"q": u, "v": rows.own.fitting(rows.velocity), "a": rows.own.fitting(opening)}
    parts |= {"own": [0.0] * len(u), "shift": rows.own.fitting(rows.position)}
    return parts | {"square": rows.own.square, "equations": rows.position}


def constraint_formula(
    closing: LoopConstraint,
    body_ends: Sequence[int | None],
    joint_ends: Sequence[int],
    ends: int,
    known: Formulas,
) -> tuple[LoopFormula, list[float], tuple[Input, ...]]:
    """Run a constraint on symbols, the end of each of its bodies and joints given, None for ground; return
    its formula, the constants in it and the inputs that it reads.
    """
    algebra, symbols = closing.algebra, _Symbols(closing.algebra)
    size = algebra.Frame.size
    on = [symbols.frame("data", k * size) for k in range(len(body_ends))]
    X = [symbols.pose_of(end) @ place for end, place in zip(body_ends, on, strict=True)]
    v, a = (
        [symbols.motion_of(word, end, place) for end, place in zip(body_ends, on, strict=True)]
        for word in "va"
    )
    q, qd, qdd = (
        [symbols.of(f"{word}{end}", joint.nq) for end, joint in zip(joint_ends, closing.joints, strict=True)]
        for word in ("q", "qd", "qdd")
    )
    u = symbols.of("u", closing.nq)
    rows = constraint_rows(
        closing, X, v, q, qd, symbols.of("t", 1)[0], u, lambda n: symbols.of(f"input{n}", 1)[0]
    )
    # Accelerations of links are against gravity, which is that of ground.
    ground = symbols.motion("ground")
    held = [(n, X[n].local(ground), a[n]) for n, end in enumerate(body_ends) if end is not None]
    needed, lacking = _accelerations(rows, held)
    count = len(rows.position)
    _check_count(closing, count)
    nothing = [algebra.Force.zero()] * count
    pushed = [[place @ push for push in pushes] for place, pushes in zip(on, rows.forces, strict=True)]
    direct: dict[int, Sequence[Any]] = dict(zip(joint_ends, rows.direct, strict=True))
    parts = {
        "forces": _summed(pushed, body_ends, ends, nothing),
        "direct": [direct.get(end, []) for end in range(ends)],
        "acceleration": needed,
        "bias": lacking,
        "velocity": rows.velocity,
        "position": rows.position,
        "pace": rows.pace,
        "directions": _directions(closing, X, rows, nothing),
    }
    if rows.own:
        parts = _without_own(rows, parts, u, qdd)
    about = f"constraint {algebra.__name__} {ends} {list(body_ends)} {list(joint_ends)}"
    smooth = is_smooth((*rows.position, *rows.velocity))
    count = len(rows.inputs)
    formula, constants = _shared(parts, about, algebra, len(on) * size, known, smooth, count)
    return formula, constants, rows.inputs


def _directions(
    closing: LoopConstraint, X: Sequence[Any], rows: ConstraintRows, nothing: list[Any]
) -> list[Any]:
    """Return what a unit of each row does to the child, in the axes of ground."""
    if closing.child not in closing.bodies:
        return nothing
    child = closing.bodies.index(closing.child)
    return [X[child].axes @ force for force in rows.forces[child]]


def _accelerations(rows: ConstraintRows, held: Sequence[tuple[int, Any, Any]]) -> tuple[list[Any], list[Any]]:
    """Return what accelerations of joints have to give each row, and what they lack.

    `held` are the bodies that move: their number, and acceleration if joints give none, and as it is.
    """
    needed, lacking = [], []
    for r, (bend, gain) in enumerate(zip(rows.bend, rows.gain, strict=True)):
        right, left = -1.0 * (bend + gain), -1.0 * bend
        for n, at_rest, moving in held:
            right = right + rows.forces[n][r].dot(at_rest)
            left = left - rows.forces[n][r].dot(moving)
        needed.append(right)
        lacking.append(left)
    return needed, lacking


def _summed(
    pushes: Sequence[Sequence[Any]], on: Sequence[int | None], ends: int, nothing: Sequence[Any]
) -> list[list[Any]]:
    """Return the force of each row on each end: the sum of those on its bodies, None for ground."""
    forces = [list(nothing) for _ in range(ends)]
    for end, own in zip(on, pushes, strict=True):
        if end is not None:
            forces[end] = [total + push for total, push in zip(forces[end], own, strict=True)]
    return forces


def joint_formula(
    joint: Joint, kind: JointFormula, a: int | None, b: int | None, known: Formulas
) -> tuple[LoopFormula, list[float]]:
    """Run a joint on symbols, the ends its parent and its child belong to given, None for ground; return its
    formula and the constants in it.

    Joints of the catalogue are determined by their class, its `parameters` and their kind: they are run once.
    """
    if type(joint) not in CATALOGUE:
        return _traced(joint, kind, a, b, known)
    numbers = tuple(getattr(joint, word) for word in joint.parameters)
    key = type(joint), joint.space, kind, numbers, a, b
    with LOCK:
        if key not in _by_class:
            if len(_by_class) >= _MOST_CLASSES:
                _by_class.pop(next(iter(_by_class)))
            _by_class[key] = _traced(joint, kind, a, b, {})
        formula, constants = _by_class[key]
    return known.setdefault(formula.signature, formula), list(constants)


_MOST_CLASSES = 500
_by_class: dict[Hashable, tuple["LoopFormula", list[float]]] = {}


def _traced(
    joint: Joint, kind: JointFormula, a: int | None, b: int | None, known: Formulas
) -> tuple[LoopFormula, list[float]]:
    algebra, symbols = joint.algebra, _Symbols(joint.algebra)
    Frame, Motion, Force = algebra.Frame, algebra.Motion, algebra.Force
    X_a, X_b = symbols.pose_of(a), symbols.pose_of(b)
    v_a, v_b, a_a, a_b = (symbols.motion_of(word, end) for word in "va" for end in (a, b))
    on_a, on_b = symbols.frame("data"), symbols.frame("data", Frame.size)
    numbers = symbols.of("data", kind.n_parameters, 2 * Frame.size)

    X_WJ = X_b @ on_b
    X = (X_a @ on_a).local(X_WJ)
    v_b = on_b.local(v_b)
    v_rel = v_b - X.local(on_a.local(v_a))
    across = JointKinematics.of(joint, kind, numbers, X, v_rel)
    q, v = across.q, across.v
    T = complement(across.S, algebra)
    gained = v_b.cross(v_rel) + kind.bias(q, v, numbers)
    lacking = gained - (on_b.local(a_b) - X.local(on_a.local(a_a)))
    a_ground = symbols.motion("ground")
    if a is None:
        gained = gained + X.local(on_a.local(a_ground))
    if b is None:
        gained = gained - on_b.local(a_ground)
    E = kind.motion(q, numbers).local(X)  # the frame on b, seen from where it should be
    apart = Motion.from_scalars([*algebra.turning(E), *E.p])
    own_forces = kind.own_forces(q, v, numbers)
    on_frame_a, on_frame_b = across.push(own_forces)

    ends = len({a, b} - {None})
    pushes = [-(on_a @ (X @ t)) for t in T], [on_b @ t for t in T]
    drives = [on_a @ on_frame_a], [on_b @ on_frame_b]
    parts = {
        "forces": _summed(pushes, (a, b), ends, [Force.zero()] * len(T)),
        "direct": [[] for _ in range(ends)],
        "acceleration": [t.dot(gained) for t in T],
        "bias": [t.dot(lacking) for t in T],
        "velocity": [t.dot(v_rel) for t in T],
        "position": [t.dot(apart) for t in T],
        "pace": [0.0] * len(T),
        "directions": [X_WJ.axes @ t for t in T],
        "q": q,
        "v": v,
        "a": across.rates(-lacking),
        "own": own_forces,
        "drive": [push for (push,) in _summed(drives, (a, b), ends, [Force.zero()])],
    }
    about = f"{algebra.__name__} {kind.n_parameters} {a} {b} {joint.nq} {joint.nv}"
    return _shared(parts, about, algebra, 2 * Frame.size + kind.n_parameters, known, kind.smooth)


def _shared(
    parts: Mapping[str, Sequence[Any]],
    about: str,
    algebra: ModuleType,
    n_data: int,
    known: Formulas,
    smooth: bool,
    inputs: int = 0,
) -> tuple[LoopFormula, list[float]]:
    """Return a formula of these parts, one that is known if it has the same structure, and the constants."""
    roots, constants = lift([x for part in parts.values() for x in _scalars(part)])
    rows = len(parts["position"])
    signature = f"{about} {rows} {inputs} {structure(roots)}"
    if signature not in known:
        lifted = iter(roots)
        made = {word: _like(part, lifted) for word, part in parts.items()}
        known[signature] = LoopFormula(
            algebra, n_data + 2 * rows, signature, smooth=smooth, inputs=inputs, **made
        )
    return known[signature], constants


def _scalars(thing: Any) -> list[Operand]:
    """Return the numbers that a thing, or things in lists, are made of."""
    if hasattr(thing, "scalars"):
        return list(thing.scalars())
    return [x for item in thing for x in _scalars(item)] if isinstance(thing, list | tuple) else [thing]


def _like(thing: Any, numbers: Iterator[Operand]) -> Any:
    """Make a thing of the same shape from the next numbers."""
    if hasattr(thing, "scalars"):
        return type(thing).from_scalars([next(numbers) for _ in thing.scalars()])
    if isinstance(thing, list | tuple):
        return tuple(_like(item, numbers) for item in thing)
    return next(numbers)
