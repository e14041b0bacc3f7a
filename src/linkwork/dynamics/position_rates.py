"""dq/dt <- q, qd: the velocities, but for quaternions, poses, and unknowns of constraints."""

from linkwork.dynamics import velocities
from linkwork.dynamics.algorithm import QD, Algorithm, LinkView, Loops, Pass, Port, Q

RATES = Port("qdot", "q", lambda n: (n.nq,))


def rates(link: LinkView, parent: LinkView) -> None:
    link.qdot = link.rates


def placed_rates(link: LinkView, parent: LinkView) -> None:
    """Base to tips: where each link is, and how it moves."""
    velocities.velocities(link, parent)
    rates(link, parent)


def _rates(name: str, fitting: bool) -> Algorithm:
    return Algorithm(
        name,
        inputs=(Q, QD),
        outputs=(RATES,),
        passes=(Pass(placed_rates, "outward"), Loops(fitting=fitting)),
        shared={"X_W": "Frame", "v": "Motion"},
        start=velocities.base,
    )


ALGORITHM = Algorithm(
    "position_rates", inputs=(Q, QD), outputs=(RATES,), passes=(Pass(rates, "outward"),), shared={}
)
WITH_UNKNOWNS = _rates("position rates, and those of unknowns", fitting=False)
CHANGES = _rates("changes of positions, and of unknowns", fitting=True)  # with a change in place of qd
