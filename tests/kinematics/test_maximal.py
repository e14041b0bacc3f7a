"""Maximal-coordinate dynamics agrees with the recursive dynamics."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.kinematics.maximal import MaximalDynamics, _start
from linkwork.kinematics.system import System

EXAMPLES = {
    "four-bar": lw.examples.four_bar,
    "four-bar in space": lambda: lw.examples.four_bar(space="space"),
    "slider-crank": lw.examples.slider_crank,
    "steam engine": lw.examples.steam_engine,
    "Jansen": lw.examples.jansen_leg,
    "Bennett": lw.examples.bennett,
    "Bricard": lw.examples.bricard,
    "delta": lw.examples.delta_robot,
    "Stewart": lw.examples.stewart_platform,
    "three cylinders": lw.examples.three_cylinder_engine,
    "chain": lambda: lw.examples.chain(8),
    "cart-pole": lw.examples.cart_pole,
    "acrobat": lw.examples.acrobat,
}


def bare(m):
    """Return the mechanism without loads and forces of joints, which forward dynamics takes as tau."""
    for load in list(m.loads):
        m.remove(load)
    for joint in m.joints.values():
        joint.damping = joint.friction = joint.stiffness = 0.0
        joint.limits = None
    return m


def random_tree(seed):
    generator = np.random.default_rng(seed)
    space = ("space", "plane")[seed % 2]
    m = lw.Mechanism("tree", space=space)
    bodies = [m.ground]
    kinds = [lw.Revolute, lw.Prismatic, lw.Revolute]
    kinds += [lw.Spherical, lw.Universal, lw.Cylindrical, lw.Planar] if space == "space" else []
    for k in range(6):
        size = 3 if space == "space" else 2
        tensor = np.diag(generator.uniform(1, 1.5, 3)) if space == "space" else 1.2
        inertia = lw.Inertia(generator.uniform(0.5, 2), generator.normal(size=size), tensor)
        body = m.add(lw.Body(f"b{k}", inertia, position=generator.normal(size=size)))
        kind = kinds[generator.integers(len(kinds))]
        options = {}
        if kind in (lw.Revolute, lw.Prismatic, lw.Cylindrical, lw.Planar) and space == "space":
            options["axis"] = generator.normal(size=3)
        elif kind is lw.Prismatic:
            options["axis"] = generator.normal(size=2)
        at = generator.normal(size=size)
        options["armature"] = 0.3 * (k % 2)
        m.add(kind(f"j{k}", bodies[generator.integers(len(bodies))], body, at=at, **options))
        bodies.append(body)
    return m


def compare(m):
    model = m.compile()
    generator = np.random.default_rng(4)
    v = model.closed_velocity(model.q_drawn, generator.normal(size=model.nv))
    q = model.assemble()
    system = System(m.copy())
    _, bodies_q, bodies_v = _start(system, m, lw.State(q, v))
    a, _ = MaximalDynamics(system)(0.0, bodies_q, bodies_v)
    joint_a = model.forward_dynamics(q, v, np.zeros(model.nv))
    wanted = model.body_accelerations(q, v, joint_a)
    size = system.algebra.dimension
    scale = max(1.0, float(np.abs(wanted.array).max()))
    for k, body in enumerate(system.bodies):
        linear = a[system.free * k : system.free * k + size]
        assert np.abs(linear - np.asarray(wanted[body.name].linear, float)).max() < 1e-9 * scale, body.name


@pytest.mark.parametrize("name", EXAMPLES)
def test_accelerations_agree_on_examples(name):
    compare(bare(EXAMPLES[name]()))


@pytest.mark.parametrize("seed", range(40))
def test_accelerations_agree_on_random_trees(seed):
    compare(random_tree(seed))


def test_a_simulation_agrees_with_the_recursive_one():
    m = lw.examples.four_bar()
    m.add(lw.Spring("spring", m["coupler"], m.ground, on_child=(0, 0.5), stiffness=40.0, damping=0.5))
    model = m.compile()
    state = model.state(velocities={"A": 3.0})
    times = [0.0, 0.1, 0.4]
    run = lw.simulate(model, 0.4, state, times=times, accuracy=1e-10)
    motion = lw.simulate(model, 0.4, state, times=times, accuracy=1e-10, method="maximal")
    assert motion["A"].position == pytest.approx(run["A"].position, abs=1e-7)
    assert motion["A"].velocity == pytest.approx(run["A"].velocity, abs=1e-6)
    assert motion["B"].reaction.force == pytest.approx(np.asarray(run["B"].reaction.force), abs=1e-5)


def test_a_mechanism_with_constraints_swings():
    """A mass on a Distance to ground is a pendulum."""
    m = lw.Mechanism("pendulum", space="plane")
    bob = m.add(lw.Body.from_points("bob", [1.0, 1.0], [(0.1, 0), (-0.1, 0)], position=(1, 0)))
    m.add(lw.Distance("rod", m.ground, bob, 1.0))
    m.add(lw.Absolute("level", bob, angle=0.0))
    motion = lw.simulate(m, 1.0, method="maximal", accuracy=1e-9, every=0.1)
    energy = 0.5 * (motion["bob"].velocity ** 2).sum(axis=1) + 9.81 * motion["bob"].position[:, 1]
    assert np.abs(energy).max() < 1e-6
    assert np.abs(np.linalg.norm(motion["bob"].position, axis=1) - 1.0).max() < 1e-12
