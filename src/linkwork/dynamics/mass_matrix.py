"""H <- q: the composite-rigid-body algorithm (Featherstone, RBDA 2008, section 6.2).

Composite inertias are summed link by link; motions and the forces they take are then written in one common
frame, that of the link that stands on ground (the world's would lose digits far away): an entry of H is then
one product of a force with a motion, without transforms on the way up.
"""

from linkwork.algebra.number import Number
from linkwork.dynamics.algorithm import Algorithm, LinkView, Pairs, Pass, Port, Q, WorldView

MASS_MATRIX = Port("H", "world", lambda n: (n.nv, n.nv))


def base(world: WorldView) -> None:
    world.X0 = world.algebra.Frame()
    world.moving = 0.0


def columns(link: LinkView, parent: LinkView) -> None:
    """Base to tips: pose and motion subspace of each link in the frame of the first."""
    link.X0 = (parent.X0 @ link.X).switched(parent.moving)
    link.moving = 1.0
    link.J = [link.X0 @ s for s in link.S]
    link.Ic = link.inertia


def composites(link: LinkView, parent: LinkView) -> None:
    """Tips to base: the inertia of all that a joint carries, and its momentum per unit of velocity."""
    link.F = [link.X0 @ (link.Ic @ s) for s in link.S]
    parent.Ic += link.X @ link.Ic


def couple(own: LinkView, other: LinkView) -> Number:
    """Return the momentum of what one joint carries, along the velocity of another above it."""
    return own.F.dot(other.J)


ALGORITHM = Algorithm(
    "mass_matrix",
    inputs=(Q,),
    outputs=(MASS_MATRIX,),
    passes=(Pass(columns, "outward"), Pass(composites, "inward"), Pairs(couple, "H")),
    shared={"X0": "Frame", "moving": None, "Ic": "RigidInertia"},
    columns={"J": "Motion", "F": "Force"},
    start=base,
    clear=frozenset({"H"}),
)
