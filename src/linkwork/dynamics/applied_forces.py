"""What is applied <- t, q, qd: forces of loads on joints and bodies, of joints, and what loads show."""

from linkwork.dynamics import velocities
from linkwork.dynamics.algorithm import (
    EXTERNAL,
    INPUTS,
    QD,
    TAU,
    Algorithm,
    LinkView,
    Loads,
    Loops,
    Pass,
    Port,
    Q,
    T,
)
from linkwork.dynamics.equations_of_motion import SHOWN
from linkwork.dynamics.loop_closure import LOOP_OWN

DRIVE = Port("drive_force", "v", lambda n: (n.nv,))


def placed(link: LinkView, parent: LinkView) -> None:
    velocities.velocities(link, parent)


def placed_and_driven(link: LinkView, parent: LinkView) -> None:
    velocities.velocities(link, parent)
    link.drive_force = link.drive


APPLIED = Algorithm(
    "loads",
    inputs=(T, Q, QD, INPUTS),
    outputs=(TAU, EXTERNAL, DRIVE, SHOWN, LOOP_OWN),
    passes=(Pass(placed_and_driven, "outward"), Loads(), Loops(driven=True)),
    shared={"X_W": "Frame", "v": "Motion"},
    start=velocities.base,
    clear=frozenset({"tau", "external"}),
)

SHOWN_ONLY = Algorithm(
    "shown",
    inputs=(T, Q, QD, INPUTS),
    outputs=(SHOWN,),
    passes=(Pass(placed, "outward"), Loads()),
    shared={"X_W": "Frame", "v": "Motion"},
    start=velocities.base,
)
