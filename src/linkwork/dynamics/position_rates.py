"""dq/dt <- q, qd: the velocities, but where positions are quaternions or poses."""

from linkwork.dynamics.algorithm import QD, Algorithm, LinkView, Pass, Port, Q

RATES = Port("qdot", "q", lambda n: (n.nq,))


def rates(link: LinkView, parent: LinkView) -> None:
    link.qdot = link.rates


ALGORITHM = Algorithm(
    "position_rates", inputs=(Q, QD), outputs=(RATES,), passes=(Pass(rates, "outward"),), shared={}
)
