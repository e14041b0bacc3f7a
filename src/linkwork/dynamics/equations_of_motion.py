"""dq/dt, qdd and power <- t, q, qd: how a mechanism moves under all forces of its own.

These are gravity, what joints do by themselves (damping, friction, springs, stops), and loads. The power is
that of all applied forces but gravity; its integral is the work that energies are compared with.
"""

from linkwork.algebra.vector import dot, plus
from linkwork.dynamics import forward_dynamics, loop_closure, poses, position_rates
from linkwork.dynamics import velocities as velocities_of_links
from linkwork.dynamics.algorithm import (
    EXTERNAL,
    INPUTS,
    QD,
    QDD,
    TAU,
    Algorithm,
    LinkView,
    Loads,
    Loops,
    Pass,
    Port,
    Q,
    Solve,
    T,
    WorldView,
)

QDOT = Port("qdot", "q", lambda n: (n.nq,), "dq/dt")
POWER = Port("power", "world", lambda n: ())
SHOWN = Port("shown", "world", lambda n: (n.shown,))


def base(world: WorldView) -> None:
    forward_dynamics.base(world)
    world.P = 0.0


def velocities(link: LinkView, parent: LinkView) -> None:
    forward_dynamics.velocities(link, parent)
    link.qdot = link.rates
    link.P = 0.0


def inertias(link: LinkView, parent: LinkView) -> None:
    """Tips to base: as in forward dynamics; the power of all beyond a joint is handed down with it."""
    tau = [plus(own, applied) for own, applied in zip(link.drive, link.tau, strict=True)]
    parent.P += plus(link.P, plus(dot(tau, link.qd), link.v.dot(link.external)))
    forward_dynamics.hand_down(link, parent, tau)


def total(world: WorldView) -> None:
    world.power = world.P


_SHARED = {"v": "Motion", "IA": "ArticulatedInertia", "pA": "Force", "a": "Motion", "P": None}
_PASSES = Pass(inertias, "inward"), Pass(forward_dynamics.accelerations, "outward")

ALGORITHM = Algorithm(
    "motion",
    inputs=(T, Q, QD, TAU, EXTERNAL),
    outputs=(QDOT, QDD, POWER),
    passes=(Pass(velocities, "outward"), *_PASSES),
    shared=_SHARED,
    start=base,
    finish=total,
    zero=frozenset({"tau", "external"}),
)


# with loads: links know where they are, and the loads come between


def placed_base(world: WorldView) -> None:
    base(world)
    poses.base(world)


def placed_velocities(link: LinkView, parent: LinkView) -> None:
    poses.poses(link, parent)
    velocities(link, parent)


LOADED = Algorithm(
    "motion under loads",
    inputs=(T, Q, QD, INPUTS, TAU, EXTERNAL),
    outputs=(QDOT, QDD, POWER),
    passes=(Pass(placed_velocities, "outward"), Loads(), *_PASSES),
    shared={"X_W": "Frame", **_SHARED},
    start=placed_base,
    finish=total,
    clear=frozenset({"tau", "external"}),
)


# with loops: their joints are looked at where loads are, and their own forces are among these


def _looped(name: str, *outputs: Port, restoring: bool = False) -> Algorithm:
    return Algorithm(
        name,
        inputs=(T, Q, QD, INPUTS, TAU, EXTERNAL),
        outputs=outputs,
        passes=(
            Pass(placed_velocities, "outward"),
            Loads(),
            Loops("acceleration", driven=True, restoring=restoring),
            _PASSES[0],
            loop_closure.ROWS,
            Solve("uD"),
            _PASSES[1],
        ),
        shared={"X_W": "Frame", **_SHARED},
        columns={"uD": None},
        start=placed_base,
        finish=total,
        clear=frozenset({"tau", "external"}),
    )


LOOPED = _looped("motion of loops", QDOT, QDD, POWER)
WATCHED = _looped("motion of loops, and their pivots", QDOT, QDD, POWER, loop_closure.INVERSE_PIVOT)
RESTORED = _looped("motion of loops with restoring wrenches", QDOT, QDD, POWER, restoring=True)
LOOP_FORCES = _looped("forces of loops in motion", QDOT, QDD, POWER, loop_closure.LOOP_FORCE)


# only the rates of positions, through the same ports


def rates(link: LinkView, parent: LinkView) -> None:
    link.qdot = link.rates


def _rates(zero: frozenset[str]) -> Algorithm:
    return Algorithm(
        "rates",
        inputs=(T, Q, QD, INPUTS, TAU, EXTERNAL),
        outputs=(QDOT, QDD, POWER),
        passes=(Pass(rates, "outward"),),
        shared={},
        zero=zero,
    )


RATES, LOADED_RATES = _rates(ALGORITHM.zero | {INPUTS.name}), _rates(LOADED.zero)


# the same where constraints have unknowns of their own; changes are in place of velocities


def _with_unknowns(name: str, fitting: bool) -> Algorithm:
    return Algorithm(
        name,
        inputs=(T, Q, QD, INPUTS, TAU, EXTERNAL),
        outputs=(QDOT, QDD, POWER),
        passes=(Pass(position_rates.placed_rates, "outward"), Loops(fitting=fitting)),
        shared={"X_W": "Frame", "v": "Motion"},
        start=velocities_of_links.base,
        zero=LOADED.zero,
    )


RATES_OF_UNKNOWNS = _with_unknowns("rates of unknowns, too", fitting=False)
CHANGES_OF_UNKNOWNS = _with_unknowns("changes of unknowns, too", fitting=True)
