"""Loop joints: the equations that close the loops of the spanning tree, as formulas on the links they join.

A loop joint joins link a to link b, neither of which hangs on it. Along the directions T that it takes away,
the complement of its motion subspace S, its two frames must not move apart: one equation, a *row*, each. All
is seen in the joint's frame on b. With v_rel the motion of that frame relative to the one on a,

    T.v_rel = 0,    T.(a_b - a_a) = T.(v_b x v_rel + dS/dt v)

and a row's force is T on link b, -T on link a. As with joints (`kind`) and loads (`applied`), a loop joint is
run once on symbols, its numbers become data, and those of one structure share their native code.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from types import ModuleType
from typing import Any

import numpy as np

from linkwork.algebra.number import Number, is_zero, sqrt, where
from linkwork.algebra.vector import dot, minus, product
from linkwork.errors import ModelError
from linkwork.mechanism.joint import Joint
from linkwork.model import drive
from linkwork.model.across import Across
from linkwork.model.kind import Kind, Kinds, lift, structure
from linkwork.model.tie import Tie, tied
from linkwork.model.tree import Tree, link_poses, moved_inertias
from linkwork.trace.expression import Graph, Operand, evaluate

# Near a position where a loop's links are in line, a row has a short lever: rounding errors of its gap, over
# this lever squared, turn the velocities. The row is weak, and dropped, where they would by this much.
_TURN = 1e-7


@dataclass(frozen=True, eq=False)
class Formula:
    """A loop joint over symbols ("X0", k), ("v0", k), ("a0", k) of link a, ("X1", k), ... of link b: their
    poses in the world, motions and accelerations; ("ground", k): the acceleration of ground, which is against
    gravity; ("data", k): its frames on both links, the numbers of its kind; ("parameter", k): what follows.
    """

    algebra: ModuleType
    n_data: int  # numbers before the parameters; the last of them are gains, which are 0: see `Restoring`
    on_ground: tuple[bool, bool]  # a is ground, b is ground
    signature: str  # equal for loop joints that can share their code
    forces_a: tuple[Any, ...]  # per row: the force of a unit of it on link a, in the link's frame
    forces_b: tuple[Any, ...]
    acceleration: tuple[Operand, ...]  # per row: what T.(a_b - a_a) has to be, of those that are not ground
    bias: tuple[Operand, ...]  # per row: what T.(a_b - a_a) lacks when the links accelerate by a0 and a1
    velocity: tuple[Operand, ...]  # per row: T.v_rel, which should be 0 [m/s, rad/s]
    position: tuple[Operand, ...]  # per row: how far the frames are apart [m, rad]
    directions: tuple[Any, ...]  # per row: T along the axes of the world, about the frame on b
    q: tuple[Operand, ...]  # coordinates of the joint
    v: tuple[Operand, ...]  # its velocities
    a: tuple[Operand, ...]  # its accelerations, when the links accelerate by a0 and a1
    own: tuple[Operand, ...]  # the joint's own forces, per velocity
    drive: tuple[Any, ...]  # the same as wrenches on links a and b, in their frames


@dataclass(frozen=True, eq=False)
class Loop:
    """A joint, or a constraint, that closes a loop, on the links of a tree."""

    joint: Joint | Tie
    a: int  # link of the joint's parent, 0 for ground
    b: int  # link of its child
    formula: Formula
    data: tuple[float, ...]  # frames of the joint on links a and b, numbers of its kind, gains, parameters
    row: int  # its first row
    q: int  # its first number in the array of loop joints' coordinates
    v: int
    weak: tuple[float, ...] = ()  # per row: how little, as a pivot, is nothing

    @property
    def name(self) -> str:
        return self.joint.name

    @property
    def rows(self) -> int:
        """How many equations it adds."""
        return len(self.formula.position)


def check_loops(joints: Sequence[Joint]) -> None:
    """Refuse what a joint cannot do yet when it closes a loop."""
    mistakes = [
        f"joint {joint.name!r} closes a loop and has armature, which is not there yet; give it to another"
        for joint in joints
        if joint.per_coordinate("armature").any()
    ]
    if mistakes:
        raise ModelError("; ".join(mistakes))


def close(
    tree: Tree,
    joints: Sequence[Joint],
    q_drawn: Sequence[float],
    moved: Mapping[str, Sequence[float]] | None = None,
) -> Tree:
    """Return the tree with joints that close loops.

    If `moved` says which inertia each coordinate of a joint moves, the joints' own forces are in them.
    """
    if not joints:
        return tree
    loops = _placed(tree, joints, moved)
    poses, inertias = link_poses(tree, q_drawn), moved_inertias(tree, q_drawn)
    return replace(
        tree, loops=tuple(replace(loop, weak=_weak(tree, loop, poses, inertias)) for loop in loops)
    )


def _weak(
    tree: Tree, loop: Loop, poses: Sequence[Any], inertias: Sequence[Sequence[float]]
) -> tuple[float, ...]:
    """Return, per row of a loop, the pivot below which it is weak.

    Elsewhere a row has a pivot of lever^2 / inertia: the lever of a torque is one, that of a force the size
    of the loop; the inertia is the geometric mean of those in the loop.
    """
    Frame, angular = tree.algebra.Frame, tree.algebra.angular
    around = set(felt_by(tree, loop.a)) ^ set(felt_by(tree, loop.b))
    moved = [x for link in around for x in inertias[link - 1] if x > 0.0]
    if not moved:  # a joint between what is welded together moves nothing
        return (0.0 if around else np.inf,) * loop.rows
    places = [poses[link].position for link in around]
    for link, k in ((loop.a, 0), (loop.b, Frame.size)):
        places.append((poses[link] @ Frame.from_scalars(loop.data[k : k + Frame.size])).position)
    size = max(float(np.linalg.norm(np.subtract(p, q))) for p in places for q in places)
    far = max(float(np.linalg.norm(p)) for p in places)
    inertia = float(np.exp(np.mean(np.log(moved))))
    symbols = {"X0": poses[loop.a].scalars(), "X1": poses[loop.b].scalars(), "data": loop.data}

    def drawn(symbol: Any) -> float:
        name, k = symbol.args[0]
        return loop.data[loop.formula.n_data + k] if name == "parameter" else symbols[name][k]

    found = []
    for direction in loop.formula.directions:
        t = evaluate(direction.scalars(), drawn)
        turn, slide = np.linalg.norm(t[:angular]), np.linalg.norm(t[angular:])
        rounding = np.spacing(1.0) * max(turn, far * slide)  # of its gap, and of its lever
        lever = max(turn, size * slide, rounding / _TURN)
        found.append(float(rounding / _TURN * lever / inertia))
    return tuple(found)


def _placed(
    tree: Tree, joints: Sequence[Joint], moved: Mapping[str, Sequence[float]] | None
) -> tuple[Loop, ...]:
    """Place loop joints on the links of a tree, in an order that keeps those that share links together."""
    kinds, known = Kinds(driven=moved is not None), {}
    loops = [_place(joint, tree, kinds, moved, known) for joint in joints]
    loops = [loops[k] for k in _order(tree, loops)]
    rows = accumulate((loop.rows for loop in loops), initial=0)
    qs = accumulate((loop.joint.nq for loop in loops), initial=0)
    vs = accumulate((loop.joint.nv for loop in loops), initial=0)
    return tuple(
        replace(loop, row=row, q=q, v=v) for loop, row, q, v in zip(loops, rows, qs, vs, strict=False)
    )


def felt_by(tree: Tree, end: int) -> list[int]:
    """Return the links that feel a force on a link: those from it to ground, tips first."""
    found = []
    while end:
        found.append(end)
        end = tree.links[end - 1].parent
    return found


def _order(tree: Tree, loops: Sequence[Loop]) -> list[int]:
    """Number loops so that those that share links are near each other (reverse Cuthill and McKee)."""
    if len(loops) < 3:
        return list(range(len(loops)))
    from scipy.sparse import csr_array  # takes a while to import, and most mechanisms do not need it
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    pairs = [
        (k, link) for k, loop in enumerate(loops) for end in (loop.a, loop.b) for link in felt_by(tree, end)
    ]
    rows, columns = np.array(pairs, int).reshape(-1, 2).T
    feels = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(loops), len(tree.links) + 1))
    return reverse_cuthill_mckee(csr_array(feels @ feels.T), symmetric_mode=True).tolist()


def _place(
    joint: Joint,
    tree: Tree,
    kinds: Kinds,
    moved: Mapping[str, Sequence[float]] | None,
    known: dict[str, Formula],
) -> Loop:
    if isinstance(joint, Tie):
        return _place_tie(joint, tree, known)
    kind, numbers = kinds.of(joint, False)
    if moved is not None:
        numbers = [*numbers, *drive.settings(joint, moved[joint.name])]
    a, b = (tree.body_links[body.name] for body in (joint.parent, joint.child))
    formula, parameters = _formula(joint, kind, a == 0, b == 0, known)
    on_a, on_b = (
        tree.body_frames[body.name] @ frame
        for body, frame in zip((joint.parent, joint.child), joint.frames(), strict=True)
    )
    gains = (0.0,) * (2 * len(formula.position))
    data = (*on_a.scalars(), *on_b.scalars(), *numbers, *gains, *parameters)
    return Loop(joint, a, b, formula, tuple(float(x) for x in data), 0, 0, 0)


def _place_tie(tie: Tie, tree: Tree, known: dict[str, Formula]) -> Loop:
    bodies = tie.parent.name, tie.child.name
    a, b = (tree.body_links[body] for body in bodies)
    formula, parameters = _tie_formula(tie, a == 0, b == 0, known)
    frames = (x for body in bodies for x in tree.body_frames[body].scalars())
    data = (*frames, *(0.0,) * (2 * len(formula.position)), *parameters)
    return Loop(tie, a, b, formula, tuple(float(x) for x in data), 0, 0, 0)


def _tie_formula(
    tie: Tie, a_is_ground: bool, b_is_ground: bool, known: dict[str, Formula]
) -> tuple[Formula, list[float]]:
    """Run a constraint on symbols; return its formula and the constants in it."""
    algebra, graph = tie.algebra, Graph()
    Frame, Motion = algebra.Frame, algebra.Motion

    def symbols(name: str, count: int, first: int = 0) -> list[Any]:
        return graph.symbols((name, first + k) for k in range(count))

    still = a_is_ground, b_is_ground
    on = [Frame.from_scalars(symbols("data", Frame.size, k * Frame.size)) for k in (0, 1)]
    X = [(Frame() if still[k] else Frame.from_scalars(symbols(f"X{k}", Frame.size))) @ on[k] for k in (0, 1)]
    v, a = (
        [
            Motion.zero()
            if still[k]
            else on[k].local(Motion.from_scalars(symbols(f"{word}{k}", Motion.size)))
            for k in (0, 1)
        ]
        for word in "va"
    )
    rows = tied(tie, X, v)
    a_ground = Motion.from_scalars(symbols("ground", Motion.size))
    right, lacking = [], []
    for r, drift in enumerate(rows.drift):
        needed, given = -1.0 * drift, -1.0 * drift
        for k in (0, 1):
            if not still[k]:  # accelerations of links are against gravity, which is that of ground
                needed = needed + rows.forces[k][r].dot(X[k].local(a_ground))
                given = given - rows.forces[k][r].dot(a[k])
        right.append(needed)
        lacking.append(given)
    groups = (
        [on[0] @ f for f in rows.forces[0]],
        [on[1] @ f for f in rows.forces[1]],
        right,
        lacking,
        rows.velocity,
        rows.position,
        [X[1].axes @ f for f in rows.forces[1]],
        [],
        [],
        [],
        [],
        [algebra.Force.zero(), algebra.Force.zero()],
    )
    return _shared(groups, f"tie {algebra.__name__} {still}", algebra, 2 * Frame.size, still, known)


def _formula(
    joint: Joint, kind: Kind, a_is_ground: bool, b_is_ground: bool, known: dict[str, Formula]
) -> tuple[Formula, list[float]]:
    """Run a loop joint on symbols; return its formula and the constants in it."""
    algebra = joint.algebra
    Frame, Motion = algebra.Frame, algebra.Motion
    graph = Graph()

    def symbols(name: str, count: int, first: int = 0) -> list[Any]:
        return graph.symbols((name, first + k) for k in range(count))

    X_a = Frame() if a_is_ground else Frame.from_scalars(symbols("X0", Frame.size))
    X_b = Frame() if b_is_ground else Frame.from_scalars(symbols("X1", Frame.size))
    v_a = Motion.zero() if a_is_ground else Motion.from_scalars(symbols("v0", Motion.size))
    v_b = Motion.zero() if b_is_ground else Motion.from_scalars(symbols("v1", Motion.size))
    on_a = Frame.from_scalars(symbols("data", Frame.size))
    on_b = Frame.from_scalars(symbols("data", Frame.size, Frame.size))
    numbers = symbols("data", kind.n_parameters, 2 * Frame.size)

    X_WJ = X_b @ on_b
    X = (X_a @ on_a).local(X_WJ)
    v_b = on_b.local(v_b)
    v_rel = v_b - X.local(on_a.local(v_a))
    across = Across.of(joint, kind, numbers, X, v_rel)
    q, v = across.q, across.v
    T = complement(across.S, algebra)
    gained = v_b.cross(v_rel) + kind.bias(q, v, numbers)
    a_a = Motion.zero() if a_is_ground else Motion.from_scalars(symbols("a0", Motion.size))
    a_b = Motion.zero() if b_is_ground else Motion.from_scalars(symbols("a1", Motion.size))
    lacking = gained - (on_b.local(a_b) - X.local(on_a.local(a_a)))
    a_ground = Motion.from_scalars(symbols("ground", Motion.size))
    if a_is_ground:
        gained = gained + X.local(on_a.local(a_ground))
    if b_is_ground:
        gained = gained - on_b.local(a_ground)
    E = kind.motion(q, numbers).local(X)  # the frame on b, seen from where it should be
    apart = Motion.from_scalars([*algebra.turning(E), *E.p])
    own_forces = kind.own_forces(q, v, numbers)
    on_frame_a, on_frame_b = across.push(own_forces)

    groups = (
        [-(on_a @ (X @ t)) for t in T],
        [on_b @ t for t in T],
        [t.dot(gained) for t in T],
        [t.dot(lacking) for t in T],
        [t.dot(v_rel) for t in T],
        [t.dot(apart) for t in T],
        [X_WJ.axes @ t for t in T],
        q,
        v,
        across.rates(-lacking),
        own_forces,
        [on_a @ on_frame_a, on_b @ on_frame_b],
    )
    about = f"{algebra.__name__} {kind.n_parameters} {a_is_ground} {b_is_ground} {joint.nq} {joint.nv}"
    n_data, on_ground = 2 * Frame.size + kind.n_parameters, (a_is_ground, b_is_ground)
    return _shared(groups, about, algebra, n_data, on_ground, known)


def _shared(
    groups: Sequence[Sequence[Any]],
    about: str,
    algebra: ModuleType,
    n_data: int,
    on_ground: tuple[bool, bool],
    known: dict[str, Formula],
) -> tuple[Formula, list[float]]:
    """Return a formula of these groups, one that is known if it has the same structure, and the constants."""
    roots, constants = lift([x for group in groups for thing in group for x in _scalars(thing)])
    rows = len(groups[0])
    signature = f"{about} {rows} {structure(roots)}"
    if signature not in known:
        lifted = iter(roots)
        pieces = [tuple(_like(thing, lifted) for thing in group) for group in groups]
        known[signature] = Formula(algebra, n_data + 2 * rows, on_ground, signature, *pieces)
    return known[signature], constants


def complement(S: Sequence[Any], algebra: ModuleType) -> list[Any]:
    """Return the forces that do no work on the motions S, an orthonormal basis.

    They are unit vectors as far as S has structural zeros; what is left are columns of Householder's
    orthogonal factor of S. These may jump, the space they span does not.
    """
    columns = [list(s.scalars()) for s in S]
    n = algebra.freedoms
    used = [i for i in range(n) if not all(is_zero(s[i]) for s in columns)]
    basis = [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n) if k not in used]
    m = len(used)
    if m > len(columns):
        rest = [[s[i] for i in used] for s in columns]
        mirrors: list[tuple[list[Number], Number]] = []
        for k in range(len(rest)):
            x = rest[k][k:]
            length = sqrt(dot(x, x))
            x0 = x[0]
            first = length if is_zero(x0) else x0 + where(x0 < 0.0, -length, length)
            w = [*[0.0] * k, first, *x[1:]]
            mirrors.append((w, 2.0 / dot(w, w)))
            rest = [_mirrored(*mirrors[k], column) for column in rest]
        for j in range(len(columns), m):
            t: list[Number] = [1.0 if i == j else 0.0 for i in range(m)]
            for mirror in reversed(mirrors):
                t = _mirrored(*mirror, t)
            whole: list[Number] = [0.0] * n
            for i, x in zip(used, t, strict=True):
                whole[i] = x
            basis.append(whole)
    return [algebra.Force.from_scalars(t) for t in basis]


def _mirrored(w: Sequence[Number], factor: Number, x: Sequence[Number]) -> list[Number]:
    """Return x - factor (w.x) w."""
    along = product(factor, dot(w, x))
    return [minus(a, product(along, b)) for a, b in zip(x, w, strict=True)]


def _scalars(thing: Any) -> Sequence[Operand]:
    return thing.scalars() if hasattr(thing, "scalars") else (thing,)


def _like(thing: Any, numbers: Iterator[Operand]) -> Any:
    """Make a thing of the same kind from the next numbers."""
    if hasattr(thing, "scalars"):
        return type(thing).from_scalars([next(numbers) for _ in thing.scalars()])
    return next(numbers)
