"""qdd and the forces of loop joints <- q, qd, tau: the articulated-body algorithm with closed loops.

Brandl, Johanni, Otter, IFToMM 1987: a unit of each constraint force is carried towards ground
like any force, and what is left of it beyond each joint is kept. With F that force on a link, y = S^T F is
what it does to the link's joint and z = D^-1 y how the joint gives way, so that row k accelerates along
itself by

    F_k.a = (sum over its links of (F - U D^-1 y).c + y.D^-1 u) + (F.a of ground) + G_kl force_l,
    G_kl  = sum over the links that feel both of y_k.z_l

The force of each row follows from the rate at which its direction turns (the right side); then each joint is
corrected by z times the forces, and the accelerations come as without loops. By the same rows a change of
velocity, or of position, closes the gaps of the loops: the one that takes the least kinetic energy.
"""

from typing import Any

from linkwork.algebra.vector import dot, plus
from linkwork.dynamics import forward_dynamics, poses, velocities
from linkwork.dynamics.algorithm import (
    EXTERNAL,
    INPUTS,
    QD,
    QDD,
    TAU,
    Algorithm,
    LinkView,
    Loops,
    Pass,
    Port,
    Q,
    Rows,
    RowView,
    Solve,
    T,
    WorldView,
)
from linkwork.dynamics.forward_dynamics import combination

LOOP_FORCE = Port("loop_force", "world", lambda n: (n.rows,))
GAP_POSITION = Port("gap_position", "world", lambda n: (n.rows,))
ROW_VELOCITY = Port("row_velocity", "world", lambda n: (n.rows,))
GAP_VELOCITY = Port("gap_velocity", "world", lambda n: (n.rows,))
INVERSE_PIVOT = Port("inverse_pivot", "world", lambda n: (n.rows,))
ROW_FORCE = Port("row_force", "world", lambda n: (n.rows,))
EQUATION_GAP = Port("equation_gap", "world", lambda n: (n.equations,))
EQUATION_FORCE = Port("equation_force", "world", lambda n: (n.equations,))
LOOP_BIAS = Port("loop_bias", "world", lambda n: (n.rows,))
DIRECTION = Port("direction", "world", lambda n: (n.rows, n.algebra.freedoms))
LOOP_Q = Port("loop_q", "world", lambda n: (n.loop_nq,))
LOOP_V = Port("loop_v", "world", lambda n: (n.loop_nv,))
LOOP_A = Port("loop_a", "world", lambda n: (n.loop_nv,))
LOOP_OWN = Port("loop_own", "world", lambda n: (n.loop_nv,))


def base(world: WorldView) -> None:
    forward_dynamics.base(world)
    poses.base(world)


def placed_velocities(link: LinkView, parent: LinkView) -> None:
    """Base to tips: where each link is, and how it moves."""
    poses.poses(link, parent)
    forward_dynamics.velocities(link, parent)


def carry(link: LinkView, row: RowView, beyond: RowView) -> None:
    """Tips to base, row by row: what is felt of a row's force beyond each joint."""
    y = [plus(s.dot(row.F), direct) for s, direct in zip(link.S, row.direct, strict=True)]
    F = row.F - combination(y, link.UD, link.algebra.Force.zero())
    row.y, row.z = y, [dot(d, y) for d in link.Dinv]
    row.right = row.right - plus(link.c.dot(F), dot(y, link.uD))
    beyond.F = link.X @ F


def absorb(root: LinkView, row: RowView) -> None:
    """At the root of a loop: what its rows, eliminated, feel like."""
    root.IA = root.IA.less([row.F], [row.F * -row.inverse])
    root.pA = root.pA - row.F * (row.inverse * row.right)


def at_root(root: LinkView, row: RowView) -> None:
    """What is left of a row's force works against the root's acceleration: that of ground is gravity."""
    row.right = row.right - root.a.dot(row.F)


ROWS = Rows(carry, at_root, absorb)


def _closed(zero: frozenset[str], *outputs: Port) -> Algorithm:
    return Algorithm(
        "forward_dynamics",
        inputs=(Q, QD, TAU, EXTERNAL),
        outputs=outputs,
        passes=(
            Pass(placed_velocities, "outward"),
            Loops("acceleration"),
            Pass(forward_dynamics.inertias, "inward"),
            ROWS,
            Solve("uD"),
            Pass(forward_dynamics.accelerations, "outward"),
        ),
        shared={"X_W": "Frame", "v": "Motion", "IA": "ArticulatedInertia", "pA": "Force", "a": "Motion"},
        columns={"uD": None},
        start=base,
        zero=zero,
    )


_NO_FORCES = frozenset({"external"})
ALGORITHM, WITH_FORCES = _closed(_NO_FORCES, QDD), _closed(frozenset(), QDD)
LOOP_FORCES = _closed(_NO_FORCES, LOOP_FORCE, QDD)
LOOP_FORCES_WITH_FORCES = _closed(frozenset(), LOOP_FORCE, QDD)


# closing gaps


def base_at_rest(world: WorldView) -> None:
    velocities.base(world)
    world.a = world.algebra.Motion.zero()


def placed(link: LinkView, parent: LinkView) -> None:
    """Base to tips: where each link is, and how it moves; nothing accelerates."""
    velocities.velocities(link, parent)
    link.c = link.algebra.Motion.zero()
    link.IA = link.inertia.articulated()
    link.pA = link.algebra.Force.zero()


def inertias(link: LinkView, parent: LinkView) -> None:
    """Tips to base: what the rest of the tree feels like from here."""
    forward_dynamics.hand_down(link, parent, [0.0] * len(link.S))


def _correction(right: Any, outputs: tuple[Port, ...], *zero: str) -> Algorithm:
    return Algorithm(
        f"{right} correction",
        inputs=(T, Q, QD, INPUTS, EXTERNAL),
        outputs=(*outputs, QDD),
        passes=(
            Pass(placed, "outward"),
            Loops(right),
            Pass(inertias, "inward"),
            ROWS,
            Solve("uD"),
            Pass(forward_dynamics.accelerations, "outward"),
        ),
        shared={"X_W": "Frame", "v": "Motion", "IA": "ArticulatedInertia", "pA": "Force", "a": "Motion"},
        columns={"uD": None},
        start=base_at_rest,
        zero=frozenset({"external", *zero}),
    )


VELOCITY_CORRECTION = _correction("velocity", (GAP_VELOCITY,))
POSITION_CORRECTION = _correction("position", (GAP_POSITION,), "qd")


# looking at loop joints


def _looked_at(name: str, *outputs: Port, timed: bool = False) -> Algorithm:
    return Algorithm(
        name,
        inputs=(T, Q, QD, INPUTS) if timed else (Q, QD),
        outputs=outputs,
        passes=(Pass(velocities.velocities, "outward"), Loops()),
        shared={"X_W": "Frame", "v": "Motion"},
        start=velocities.base,
    )


def drifting(link: LinkView, parent: LinkView) -> None:
    """Base to tips: how each link accelerates while all velocities stay as they are."""
    velocities.velocities(link, parent)
    link.a = link.X.local(parent.a) + link.v.cross(link.vJ) + link.cJ


BIAS = Algorithm(  # what the constraint Jacobian times the accelerations has to be
    "loop bias",
    inputs=(Q, QD),
    outputs=(LOOP_BIAS,),
    passes=(Pass(drifting, "outward"), Loops()),
    shared={"X_W": "Frame", "v": "Motion", "a": "Motion"},
    start=base_at_rest,
)


def accelerated(link: LinkView, parent: LinkView) -> None:
    """Base to tips: how each link accelerates."""
    drifting(link, parent)
    for s, x in zip(link.S, link.qdd, strict=True):
        link.a = link.a + s * x


ACCELERATIONS = Algorithm(
    "loop accelerations",
    inputs=(Q, QD, QDD),
    outputs=(LOOP_A,),
    passes=(Pass(accelerated, "outward"), Loops()),
    shared={"X_W": "Frame", "v": "Motion", "a": "Motion"},
    start=base_at_rest,
)
GAPS = _looked_at("gaps", GAP_POSITION, GAP_VELOCITY, timed=True)
ROW_VELOCITIES = _looked_at("row velocities", ROW_VELOCITY)
COORDINATES = _looked_at("loop coordinates", LOOP_Q, LOOP_V)
DIRECTIONS = _looked_at("loop directions", DIRECTION)


# what rows do to bodies

PUSHES = Algorithm(
    "pushes of loops",
    inputs=(Q, ROW_FORCE),
    outputs=(EXTERNAL,),
    passes=(Pass(poses.poses, "outward"), Loops(pushed=True)),
    shared={"X_W": "Frame"},
    start=poses.base,
    clear=frozenset({"external"}),
    tree="bodies",
)


# all equations of constraints with unknowns of their own: gaps, and forces along their gradients


def _of_equations(name: str, inputs: tuple[Port, ...], output: Port) -> Algorithm:
    return Algorithm(
        name,
        inputs=inputs,
        outputs=(output,),
        passes=(Pass(poses.poses, "outward"), Loops()),
        shared={"X_W": "Frame"},
        start=poses.base,
        clear=frozenset({output.name}),
    )


EQUATION_GAPS = _of_equations("gaps of equations", (Q,), EQUATION_GAP)
EQUATION_FORCES = _of_equations("forces of equations", (Q, ROW_FORCE), EQUATION_FORCE)
