"""qd <- q, momenta of links: the velocities nearest to them, in the sense of kinetic energy.

Links with momenta h, in the directions J of the joints' velocities, want to move in ways that joints forbid.
The impulses of the joints, which do no work on what these allow, leave H qd = J^T h (+ the momenta of the
drives): the equations of forward dynamics at rest and without gravity, with impulses in place of forces.
"""

from linkwork.dynamics import forward_dynamics
from linkwork.dynamics.algorithm import EXTERNAL, QD, QDD, TAU, Algorithm, Q, WorldView


def base(world: WorldView) -> None:
    """Ground stands still, and there is no gravity."""
    world.v = world.algebra.Motion.zero()
    world.a = world.algebra.Motion.zero()


ALGORITHM = Algorithm(
    "impulse",
    inputs=(Q, QD, TAU, EXTERNAL),
    outputs=(QDD,),
    passes=forward_dynamics.ALGORITHM.passes,
    shared=forward_dynamics.ALGORITHM.shared,
    start=base,
    zero=frozenset({"qd"}),
    tree="bodies",
)
