"""The kernels that a wheel carries: those which examples and a chain of all joints need in usual calls."""

import numpy as np

import linkwork as lw
from linkwork import examples
from linkwork.mechanism.mechanism import Mechanism
from linkwork.native import store

_JOINTS = (
    lw.Free,
    lw.Revolute,
    lw.Prismatic,
    lw.Cylindrical,
    lw.Universal,
    lw.Spherical,
    lw.Planar,
    lw.Fixed,
)
_ARGUMENTS = {"chain": (3,), "four_bars": (3,)}


def all_joints() -> Mechanism:
    """Return a chain with one joint of every kind."""
    mechanism = lw.Mechanism("all joints")
    above = mechanism.ground
    for k, joint in enumerate(_JOINTS):
        place = (0.0, 0.0, -0.5 * k)
        body = mechanism.add(lw.Body(f"b{k}", lw.Box(0.1, 0.2, 0.3), density=1000, position=place))
        mechanism.add(joint(f"j{k}", above, body, at=None if joint is lw.Free else place))
        above = body
    last = mechanism.add(lw.Body("last", lw.Sphere(0.1), density=1000, position=(0, 0, -5)))
    mechanism.add(lw.Helical("screw", above, last, at=(0, 0, -5), pitch=0.01))
    return mechanism


def use_all() -> None:
    """Use what is usual of every mechanism: so its kernels are compiled."""
    use(all_joints())
    for name in examples.__all__:
        make = getattr(examples, name)
        use(make(*_ARGUMENTS.get(name, ())))


def use(mechanism: Mechanism) -> None:
    """Simulate a mechanism, alone and in lanes, and compute what is asked for most."""
    model = mechanism.compile()
    if model.contact_names:
        lw.simulate(model, 1 / 60, step=1 / 60)
        return
    run = lw.simulate(model, 1e-3)
    q, v = run.q[0], run.v[0]
    lanes = store.lanes() + 1
    lw.simulate(model, 1e-3, q=np.tile(q, (lanes, 1)), v=np.tile(v, (lanes, 1)))
    model.poses(q)
    model.energy(q, v)
    model.mass_matrix(q)
    model.forward_dynamics(q, v, np.zeros_like(v))
    model.inverse_dynamics(q, v, np.zeros_like(v))
