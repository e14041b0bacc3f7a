"""One motion, found in three ways: driven kinematics, recursive dynamics, dynamics in all coordinates.

Accelerations are given to independent joints, at random. Kinematics finds all others, the forces of the
drivers and the reactions; recursive dynamics and that in all coordinates (`maximal_reference`), pushed by
those forces, have to give the same accelerations and the same reactions, wherever `model.diagnose` says that
these are unique. Then motions under loads, by recursive dynamics and in all coordinates.
"""

from typing import Any

import numpy as np
import pytest
from kinematics.maximal_reference import simulate_maximal
from kinematics.mechanism_makers import bare, constrained, random_loop, random_tree, with_masses

import linkwork as lw
from linkwork.mechanism.joints import CATALOGUE
from linkwork.model.idle_forces import component_names

EXAMPLES = {
    "four-bar": lw.examples.four_bar,
    "four-bar in space": lambda: lw.examples.four_bar(space="space"),
    "slider-crank": lw.examples.slider_crank,
    "slider-crank in space": lambda: lw.examples.slider_crank(space="space"),
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
MECHANISMS: dict[str, Any] = {name: (lambda build=build: bare(build())) for name, build in EXAMPLES.items()}
MECHANISMS |= {f"tree {seed}": (lambda seed=seed: random_tree(seed)) for seed in range(8)}
for space in ("plane", "space"):
    for kind in CATALOGUE:
        if space in kind.spaces and kind is not lw.Free and (space, kind) != ("plane", lw.Planar):
            for seed in (0, 1):
                MECHANISMS[f"loop with {kind.__name__} in {space} {seed}"] = (
                    lambda space=space, kind=kind, seed=seed: with_masses(random_loop(space, kind, seed))
                )
    for name in constrained(space):
        MECHANISMS[f"{name} in {space}"] = lambda space=space, name=name: with_masses(
            constrained(space)[name]()
        )


def test_there_are_more_than_fifty():
    assert len(MECHANISMS) > 50


def driven(m, model, q, v, a, names):
    """Return a copy whose drivers give positions q, velocities v and accelerations a at time 0."""
    m = m.copy()
    rates, second = model.position_rates(q, v), _second_rates(model, q, v, a)
    for joint in sorted({name.split("[")[0] for name in names}):
        at_q, _ = model.slices[joint]
        turning = m.joints[joint].quaternion
        for k in range(at_q.stop - at_q.start):
            ball = turning is not None and turning <= k < turning + 4
            wanted = k != turning if ball else _name(m.joints[joint], joint, k) in names
            if wanted:
                x, x1, x2 = (float(array[at_q][k]) for array in (q, rates, second))
                law = lambda t, x=x, x1=x1, x2=x2: x + x1 * t + 0.5 * x2 * t * t  # noqa: E731
                m.add(lw.Driver(f"drive {joint} {k}", (joint, k), law))
    return m


def _name(joint, name, k):
    """Return the name of the velocity that changes the k-th coordinate."""
    return name if joint.nv == 1 else f"{name}[{k}]"


def _second_rates(model, q, v, a, h=1e-6):
    """Return d2q/dt2: differences, and exact where positions are what velocities change."""
    before, after = (
        model.position_rates(q + s * h * model.position_rates(q, v), v + s * h * a) for s in (-1, 1)
    )
    return (after - before) / (2 * h)


def _numbers(force, k):
    return np.array([np.broadcast_to(x, (k + 1,))[k] for x in force.scalars()], float)


def compare_reactions(found, wanted, unique, scale, name):
    for axis, (x, y) in enumerate(zip(found, wanted, strict=True)):
        if axis in unique:
            assert abs(x - y) < 1e-8 * scale, (name, axis, found, wanted)


@pytest.mark.parametrize("name", MECHANISMS)
def test_accelerations_and_reactions_agree(name):
    m = MECHANISMS[name]()
    m.assemble()
    model = m.compile()
    q = model.assemble()
    generator = np.random.default_rng(4)
    v = model.closed_velocity(q, generator.normal(size=model.nv))
    # an acceleration the loops allow: that of some joint forces
    a = model.forward_dynamics(q, v, generator.normal(size=model.nv))
    about = model.diagnose(q)
    names = about.motion.independent
    tau = np.zeros(model.nv)
    forces = model.inverse_dynamics(q, v, a, driven=names) if model.loop_names else None
    if forces is None:
        tau = model.inverse_dynamics(q, v, a)
    else:
        tau[[model.coordinate_names.index(x) for x in names]] = forces
    scale = 1.0 + np.abs(a).max()
    assert np.abs(model.forward_dynamics(q, v, tau) - a).max() < 1e-9 * scale
    recursive = model.reactions(q, v, tau)
    largest = 1.0 + max(np.abs(np.array(recursive[each].scalars(), float)).max() for each in recursive)

    motion = lw.kinematics(driven(m, model, q, v, a, names), [0.0])
    pushed = m.copy()
    for joint, (_, at_v) in model.slices.items():
        if np.any(tau[at_v]):
            pushed.add(lw.Motor(f"motor of {joint}", joint, tau[at_v].tolist()))
    free = simulate_maximal(pushed, np.zeros(1), lw.State(q, v))

    joints = dict(model.slices)
    loop_a = model.loop_accelerations(q, v, a) if model.loop_names else np.zeros(0)
    for way in (motion, free):
        for joint, (_, at_v) in joints.items():
            assert np.abs(way[joint].acceleration[0] - a[at_v]).max(initial=0.0) < 1e-9 * scale, joint
        for joint, (_, at_v) in model.loop_slices.items():
            if joint in m.joints:
                assert np.abs(way[joint].acceleration[0] - loop_a[at_v]).max(initial=0.0) < 1e-8 * scale
        for each in recursive:
            wanted = np.array(recursive[each].scalars(), float)
            doubtful = about.not_unique.get(each, ())
            unique = [k for k, word in enumerate(component_names(model)) if word not in doubtful]
            compare_reactions(_numbers(way[each].reaction, 0), wanted, unique, largest, each)
    for driver in motion.mechanism.drivers.values():
        joint = driver.on[0]
        if m.joints[joint].quaternion is None:
            k = model.slices[joint][1].start + driver.component
            assert motion[driver.name].force[0] == pytest.approx(tau[k], rel=1e-8, abs=1e-8 * largest)


# whole motions, under loads


def sprung_four_bar():
    m = lw.examples.four_bar()
    m.add(lw.Spring("spring", m["coupler"], m.ground, on_child=(0, 0.5), stiffness=40.0, damping=0.5))
    m.joints["D"].damping = 0.01
    return m


def redundant_four_bar():
    """Return a four-bar of spatial hinges, with a motor's rotor, damping and a spring."""
    m = lw.examples.four_bar(space="space")
    m.joints["A"].armature, m.joints["D"].damping = 0.02, 0.3
    m.add(lw.Spring("spring", m["coupler"], m.ground, on_child=(0, 0.5, 0.1), stiffness=40.0))
    return m


def arm(*loads):
    """Return two bodies in space, with a hinge and a ball joint."""
    m = lw.Mechanism("arm")
    upper = m.add(lw.Body("upper", lw.Box(0.1, 0.2, 1.0), mass=1.0, position=(0, 0, -0.5)))
    lower = m.add(lw.Body("lower", lw.Box(0.2, 0.1, 0.8), mass=0.7, position=(0, 0, -1.4)))
    m.add(lw.Revolute("pin", m.ground, upper, at=(0, 0, 0), axis=(0, 1, 0), damping=0.2, stiffness=1.5))
    m.add(lw.Spherical("ball", upper, lower, at=(0, 0, -1)))
    for load in loads:
        m.add(load(m))
    return m


LOADS = {
    "none": (),
    "motor": (lambda m: lw.Motor("load", "pin", lambda t, q, v: 2 * lw.sin(3 * t) - 0.3 * v),),
    "feedback": (lambda m: lw.Feedback("load", "pin", lambda t, q, v: -3 * q["pin"] - 0.5 * v[0]),),
    "force": (
        lambda m: lw.Force("load", m["lower"], lambda body, t: -0.8 * body.velocity, at=(0.1, 0, -0.4)),
    ),
    "torque": (lambda m: lw.Torque("load", m["lower"], lambda body, t: (0.2, lw.sin(t), -0.1)),),
    "spring": (
        lambda m: lw.Spring("load", m["lower"], m.ground, on_child=(1, 0, 0), stiffness=30.0, rest=0.5),
    ),
}
MOTIONS = {
    "sprung four-bar": (sprung_four_bar, {"A": 3.0}),
    "redundant four-bar": (redundant_four_bar, {"A": 3.0}),
    "slider-crank": (lw.examples.slider_crank, {}),
    "chain": (lambda: lw.examples.chain(4), {}),
    **{f"arm, load {name}": (lambda load=load: arm(*load), {"pin": 0.7}) for name, load in LOADS.items()},
}


@pytest.mark.parametrize("name", MOTIONS)
def test_motions_agree(name):
    build, velocities = MOTIONS[name]
    m = build()
    model = m.compile()
    state = model.state(velocities=velocities)
    run = lw.simulate(model, 0.3, state, every=0.1, accuracy=1e-10)
    other = simulate_maximal(m, run.time, state)
    for joint in model.slices:
        assert other[joint].position == pytest.approx(run[joint].position, abs=1e-7)
        assert other[joint].velocity == pytest.approx(run[joint].velocity, abs=1e-6)
    unique = [joint for joint in model.slices if joint not in model.diagnose(run.q[-1]).not_unique]
    for joint in unique:
        assert other[joint].reaction.force == pytest.approx(np.asarray(run[joint].reaction.force), abs=1e-5)
