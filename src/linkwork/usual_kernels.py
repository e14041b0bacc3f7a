"""The kernels that are compiled ahead: those of examples, a chain of all joints, and crates on ground."""

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
_COMPLIANT = (
    lw.Material(friction=0.8, stiffness=1e5, damping=100),
    lw.Material(friction=0.8, stiffness=1e5, dissipation=0.5),
    lw.Material(friction=0.4, young=7e10, poisson=0.2, dissipation=0.1),
)
_FEW = 4  # bodies that touch, to an accuracy


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


def crate(material: lw.Material) -> Mechanism:
    """Return a crate and a ball that fall on ground, one on a slide."""
    mechanism = lw.Mechanism("crate")
    mechanism.ground.add(lw.Plane(), material=material)
    box, ball = lw.Box(0.4, 0.3, 0.2), lw.Sphere(0.1)
    mechanism.add(lw.Body("crate", box, density=500, material=material, position=(0, 0, 0.101)))
    body = mechanism.add(lw.Body("ball", ball, density=500, material=material, position=(1, 0, 0.101)))
    mechanism.add(lw.Prismatic("slide", mechanism.ground, body, axis=(0, 0, 1)))
    mechanism.add(lw.Contact("contact"))
    return mechanism


def use_all() -> None:
    """Use what is usual of every mechanism: so its kernels are compiled."""
    use(all_joints())
    for material in (lw.Material.wood, *_COMPLIANT):
        use(crate(material))
    for name in examples.__all__:
        make = getattr(examples, name)
        use(make(*_ARGUMENTS.get(name, ())))


def use(mechanism: Mechanism) -> None:
    """Simulate a mechanism, alone and in lanes, and compute what is asked for most."""
    model = mechanism.compile()
    if model.contact_names:
        lw.simulate(model, 1 / 60, step=1 / 60)
        if len(mechanism.bodies) <= _FEW:
            lw.simulate(model, 0.03)
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
