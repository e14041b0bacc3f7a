"""H <- q: the composite-rigid-body algorithm (Featherstone, RBDA 2008, section 6.2), in one common frame.

All links beyond one on ground are written in the frame of that first one (the world's would lose digits far
away), so a composite inertia is a plain sum, and an entry of H is one product of a force with a motion,
without transforms.
"""

from typing import Any

from linkwork.dynamics.algorithm import Algorithm, Pairs, Pass, Port, Q

MASS_MATRIX = Port("H", "world", lambda n: (n.nv, n.nv))


def base(world: Any) -> None:
    world.X0 = world.algebra.Frame()
    world.moving = 0.0


def columns(link: Any, parent: Any) -> None:
    """Base to tips: pose, motion subspace and inertia of each link in the frame of the first."""
    link.X0 = (parent.X0 @ link.X).switched(parent.moving)
    link.moving = 1.0
    link.J = [link.X0 @ s for s in link.S]
    link.Ic = link.X0 @ link.inertia


def composites(link: Any, parent: Any) -> None:
    """Tips to base: the inertia of all that a joint carries, and its momentum per unit of velocity."""
    link.F = [link.Ic @ column for column in link.J]
    parent.Ic += link.Ic


def couple(own: Any, other: Any) -> Any:
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
