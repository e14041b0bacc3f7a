"""qd, shares of inertia <- q, velocities of bodies: the nearest that joints allow, by kinetic energy.

Bodies with momenta h, in the directions J of the joints' velocities, move in ways that joints forbid. The
impulses of the joints, which do no work on what these allow, leave H qd = J^T h (+ the momenta of the
drives): the equations of forward dynamics at rest and without gravity, with impulses in place of forces.
The shares, see `inertia_check`, are at hand then.
"""

from linkwork.dynamics import forward_dynamics, inertia_check, poses
from linkwork.dynamics.algorithm import EXTERNAL, QDD, TAU, Algorithm, LinkView, Pass, Q, WorldView
from linkwork.dynamics.velocities import VELOCITIES


def base(world: WorldView) -> None:
    """Ground stands still, and there is no gravity."""
    poses.base(world)
    world.a = world.algebra.Motion.zero()


def momenta(link: LinkView, parent: LinkView) -> None:
    """Base to tips: the momentum that each link has; its body's origin moves so along the world's axes."""
    poses.poses(link, parent)
    v = link.body.offset @ link.X_W.axes.local(link.velocity)
    link.c = link.algebra.Motion.zero()
    inertia_check.own_inertias(link, parent)
    link.pA = -(link.inertia @ v)


def inertias(link: LinkView, parent: LinkView) -> None:
    """Tips to base: what the rest of the tree feels like from here, and the momentum it brings."""
    forward_dynamics.hand_down(link, parent, link.tau)
    inertia_check.set_share(link, parent)


ALGORITHM = Algorithm(
    "impulse",
    inputs=(Q, TAU, VELOCITIES, EXTERNAL),
    outputs=(QDD, inertia_check.SHARE),
    passes=(
        Pass(momenta, "outward"),
        Pass(inertias, "inward"),
        Pass(forward_dynamics.accelerations, "outward"),
    ),
    shared={"X_W": "Frame", "IA": "ArticulatedInertia", "Ic": "RigidInertia", "pA": "Force", "a": "Motion"},
    start=base,
    zero=frozenset({"external"}),
    tree="bodies",
)
