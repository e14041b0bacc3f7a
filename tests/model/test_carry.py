"""An edited mechanism's model is grown from the old one, and a state is carried over by name."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw

SPACES = ("space", "plane")


def placed(space: str, x: float, z: float) -> tuple[float, ...]:
    return (x, 0.0, z) if space == "space" else (x, z)


def axis(space: str) -> dict[str, tuple[float, ...]]:
    return {"axis": (0, 1, 0)} if space == "space" else {}


def chain(space: str = "space", links: int = 4, floating: bool = False) -> lw.Mechanism:
    """Return a chain of bars, the first on ground or on a Free joint."""
    m = lw.Mechanism("chain", space=space)
    parent = m.ground
    for k in range(links):
        inertia = lw.Inertia(1.0 + 0.3 * k, (0.02, 0.03, 0.01 * k), np.diag([0.1, 0.12, 0.07]))
        body = m.add(lw.Body(f"b{k}", inertia, position=placed(space, 0, -k - 0.5)))
        if k == 0 and floating:
            m.add(lw.Free("air", parent, body))
        else:
            m.add(lw.Revolute(f"j{k}", parent, body, at=placed(space, 0, -k), damping=0.1, **axis(space)))
        parent = body
    return m


def somewhere(model: lw.Model, seed: int = 0) -> lw.State:
    rng = np.random.default_rng(seed)
    q = model.q_drawn + rng.normal(scale=0.4, size=model.nq)
    for first in model.quaternions:
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    q = model.assemble(q)
    return lw.State(q, model.closed_velocity(q, rng.normal(size=model.nv)), 0.7)


def total_momentum(model: lw.Model, state: lw.State) -> np.ndarray:
    """Return angular momentum about the world's origin, and linear momentum: textbook sums over bodies."""
    poses, velocities = model.poses(state.q), model.velocities(state.q, state.v)
    angular, linear = np.zeros(3), np.zeros(3)
    for name, body in model.mechanism.bodies.items():
        R, p = np.eye(3), np.zeros(3)
        n = 3 if model.space == "space" else 2
        R[:n, :n] = np.array(poses[name].rotation)
        p[:n] = poses[name].position
        motion = np.array(velocities[name].scalars(), float)
        w, u = (motion[:3], motion[3:]) if n == 3 else (np.array([0, 0, motion[0]]), np.append(motion[1:], 0))
        com, tensor = np.zeros(3), np.zeros((3, 3))
        com[:n] = body.inertia.com
        if n == 3:
            tensor = body.inertia.tensor
        else:
            tensor[2, 2] = body.inertia.tensor
        c = p + R @ com
        push = body.inertia.mass * (u + np.cross(w, R @ com))
        linear += push
        angular += np.cross(c, push) + R @ tensor @ R.T @ w
    return np.concatenate([angular, linear])


def same_places(old: lw.Model, before: lw.State, new: lw.Model, after: lw.State) -> None:
    """Check that all bodies that are in both are where they were."""
    was, now = old.poses(before.q), new.poses(after.q)
    for name in set(old.body_names) & set(new.body_names):
        np.testing.assert_allclose(now[name].scalars(), was[name].scalars(), rtol=0, atol=1e-12)


def same_motions(old: lw.Model, before: lw.State, new: lw.Model, after: lw.State) -> None:
    was, now = old.velocities(before.q, before.v), new.velocities(after.q, after.v)
    for name in set(old.body_names) & set(new.body_names):
        np.testing.assert_allclose(now[name].scalars(), was[name].scalars(), rtol=1e-12, atol=1e-12)


def same_model(grown: lw.Model, fresh: lw.Model) -> None:
    """Check that two models are the same, bit for bit."""
    for word in ("name", "space", "nq", "nv", "body_names", "joint_names", "load_names", "loop_names"):
        assert getattr(grown, word) == getattr(fresh, word), word
    for word in ("gravity", "parents", "masses", "centers", "inertias", "joint_starts", "q_drawn", "limits"):
        assert getattr(grown, word).tobytes() == getattr(fresh, word).tobytes(), word
    for word in ("damping", "friction", "stiffness", "rest", "armature", "quaternions", "weak_pivots"):
        assert getattr(grown, word).tobytes() == getattr(fresh, word).tobytes(), word
    assert grown.digest == fresh.digest
    at = somewhere(fresh, 3)
    assert grown.motion(at.q, at.v).tobytes() == fresh.motion(at.q, at.v).tobytes()
    tau = np.sin(np.arange(fresh.nv))
    assert (
        grown.forward_dynamics(at.q, at.v, tau).tobytes() == fresh.forward_dynamics(at.q, at.v, tau).tobytes()
    )
    assert grown.poses(at.q).array.tobytes() == fresh.poses(at.q).array.tobytes()


@pytest.mark.parametrize("space", SPACES)
def test_a_joint_that_vanishes_leaves_its_child_free_with_its_momentum(space):
    m = chain(space)
    model = m.compile()
    state = somewhere(model)
    m.remove("j2")
    new, after = lw.carry(model, state, m)
    assert new.joint_names == ("j0", "j1", "b2 free", "j3")
    same_places(model, state, new, after)
    same_motions(model, state, new, after)
    was, now = total_momentum(model, state), total_momentum(new, after)
    np.testing.assert_allclose(now, was, rtol=0, atol=1e-12 * np.abs(was).max())
    assert new.kinetic_energy(after.q, after.v) == pytest.approx(
        model.kinetic_energy(state.q, state.v), rel=1e-12
    )
    assert after.t == state.t


@pytest.mark.parametrize("space", SPACES)
def test_a_joint_that_comes_back_at_once_changes_nothing(space):
    m = chain(space)
    model = m.compile()
    state = somewhere(model)
    m.remove("j1")
    middle = lw.carry(model, state, m)
    m.undo()
    new, after = lw.carry(*middle, m)
    same_model(new, model)
    np.testing.assert_allclose(after.q, state.q, atol=1e-12)
    np.testing.assert_allclose(after.v, state.v, atol=1e-11)


@pytest.mark.parametrize("space", SPACES)
def test_a_weld_of_floating_bodies_keeps_momentum_and_loses_energy(space):
    m = lw.Mechanism(space=space, gravity=placed(space, 0, 0))
    for name, x in (("a", 0.0), ("b", 1.0)):
        inertia = lw.Inertia(1.0 + x, (0.1, 0.2, 0.0), np.diag([0.1, 0.2, 0.25]))
        m.add(lw.Body(name, inertia, position=placed(space, x, 0)))
    model = m.compile(floating=True)
    rng = np.random.default_rng(5)
    state = lw.State(model.q_drawn.copy(), rng.normal(size=model.nv))
    m.add(lw.Fixed("weld", m["a"], m["b"]))
    new, after = lw.carry(model, state, m)
    assert new.joint_names == ("a free", "weld")
    same_places(model, state, new, after)
    was, now = total_momentum(model, state), total_momentum(new, after)
    np.testing.assert_allclose(now, was, rtol=0, atol=1e-12 * np.abs(was).max())
    assert new.kinetic_energy(after.q, after.v) < 0.999 * model.kinetic_energy(state.q, state.v)


@pytest.mark.parametrize("space", SPACES)
def test_a_hinge_between_floating_bodies_acts_through_its_point(space):
    m = lw.Mechanism(space=space, gravity=placed(space, 0, 0))
    for name, x in (("a", 0.0), ("b", 1.0)):
        inertia = lw.Inertia(1.0 + x, (0.1, 0.2, 0.0), np.diag([0.1, 0.2, 0.25]))
        m.add(lw.Body(name, inertia, position=placed(space, x, 0)))
    model = m.compile(floating=True)
    state = lw.State(model.q_drawn.copy(), np.random.default_rng(6).normal(size=model.nv))
    joint = lw.Spherical if space == "space" else lw.Revolute
    m.add(joint("pin", m["a"], m["b"], at=placed(space, 0.5, 0)))
    new, after = lw.carry(model, state, m)
    was, now = total_momentum(model, state), total_momentum(new, after)
    np.testing.assert_allclose(now, was, rtol=0, atol=1e-12 * np.abs(was).max())
    # what b gains is an impulse at the pin: no change of its angular momentum about it
    pin, n = np.array([0.5, 0.0, 0.0]), 3 if space == "space" else 2
    gains = []
    for name in "ab":
        inertia = m[name].inertia
        moved = [
            np.array(at.velocities(s.q, s.v)[name].scalars(), float)
            for at, s in ((model, state), (new, after))
        ]
        change = moved[1] - moved[0]
        w, u = (change[:3], change[3:]) if n == 3 else (np.array([0, 0, change[0]]), np.append(change[1:], 0))
        com, place = np.zeros(3), np.zeros(3)
        com[:n], place[0] = inertia.com, 0.0 if name == "a" else 1.0
        push = inertia.mass * (u + np.cross(w, com))
        tensor = inertia.tensor if n == 3 else np.diag([0, 0, float(inertia.tensor)])
        gains.append(np.cross(place + com - pin, push) + tensor @ w)
    np.testing.assert_allclose(gains, 0.0, atol=1e-12)


@pytest.mark.parametrize("cut", ["A", "B", "C", "D"])
def test_another_cut_of_a_loop_is_the_same_motion(cut):
    m = lw.examples.four_bar()
    model = m.compile()
    state = somewhere(model)
    new, after = lw.carry(model, state, m, cut=[cut])
    assert new.loop_names == (cut,)
    same_places(model, state, new, after)
    same_motions(model, state, new, after)


def test_a_loop_opened_floats_on_and_closed_again_is_as_it_was():
    m = lw.examples.four_bar()
    model = m.compile()
    state = somewhere(model)
    m.remove("C")
    opened, loose = lw.carry(model, state, m)
    assert opened.loop_names == ()
    same_places(model, state, opened, loose)
    same_motions(model, state, opened, loose)
    m.undo()
    closed, after = lw.carry(opened, loose, m)
    same_model(closed, model)
    same_places(model, state, closed, after)
    same_motions(model, state, closed, after)


def test_closing_a_loop_takes_the_least_change_of_kinetic_energy():
    m = lw.examples.four_bar()
    pin = m.remove("C")
    model = m.compile()
    drawn = lw.State(model.q_drawn.copy(), np.random.default_rng(2).normal(size=model.nv))
    m.add(pin)
    new, after = lw.carry(model, drawn, m)
    assert new.loop_gap(after.q) < 1e-12  # type: ignore
    H, J = new.mass_matrix(after.q), new.constraint_jacobian(after.q)
    same_places(model, drawn, new, after)
    order = [name for name in new.joint_names if name in model.joint_names]
    if len(order) == new.nv:  # C itself is cut: the coordinates are the same
        v = np.array([drawn.v[model.slices[name][1].start] for name in new.joint_names])
        change = H @ (after.v - v)
        np.testing.assert_allclose(change, J.T @ np.linalg.lstsq(J.T, change, rcond=None)[0], atol=1e-12)
    np.testing.assert_allclose(J @ after.v, 0.0, atol=1e-12)
    assert new.kinetic_energy(after.q, after.v) < model.kinetic_energy(drawn.q, drawn.v)


def test_what_cannot_meet_is_refused():
    m = lw.examples.four_bar()
    pin = m.remove("C")
    model = m.compile()
    with m.edit():
        m.add(pin)
        m["coupler"].position = (50.0, 50.0)
        pin.at = None
        pin.on_parent, pin.on_child = (0.0, 0.0), (100.0, 0.0)
    with pytest.raises(lw.AssemblyError, match="cannot be assembled"):
        lw.carry(model, model.state(), m)


@pytest.mark.parametrize("space", SPACES)
def test_new_bodies_are_as_drawn_and_at_rest_on_what_they_hang_on(space):
    m = chain(space)
    model = m.compile()
    state = somewhere(model)
    box = m.add(lw.Body("box", m["b3"].inertia, position=placed(space, 0.5, -3.5)))  # type: ignore
    m.add(lw.Prismatic("rail", m["b3"], box, axis=placed(space, 1, 0)))
    new, after = lw.carry(model, state, m)
    same_places(model, state, new, after)
    same_motions(model, state, new, after)
    at_q, at_v = new.slices["rail"]
    assert (after.q[at_q], after.v[at_v]) == (0.0, 0.0)
    poses = new.poses(after.q)
    np.testing.assert_allclose(poses["b3"].local(poses["box"]).position, placed(space, 0.5, 0), atol=1e-13)


def test_a_link_put_between_two_others():
    m = chain()
    model = m.compile()
    state = somewhere(model)
    with m.edit():
        m.remove("j2")
        link = m.add(lw.Body("link", m["b0"].inertia, position=(0, 0, -2)))  # type: ignore
        m.add(lw.Spherical("upper", m["b1"], link, at=(0, 0, -2)))
        m.add(lw.Spherical("lower", link, m["b2"], at=(0, 0, -2)))
    new, after = lw.carry(model, state, m)
    same_places(model, state, new, after)
    same_model(new, m.compile())


def test_a_mass_that_changes_keeps_velocities():
    m = chain()
    model = m.compile()
    state = somewhere(model)
    m["b1"].inertia = lw.Inertia(9.0, (0, 0, 0), np.eye(3))
    new, after = lw.carry(model, state, m)
    assert after.q.tobytes() == state.q.tobytes()
    assert after.v.tobytes() == state.v.tobytes()
    same_model(new, m.compile())


def test_a_run_goes_on_as_if_nothing_had_happened():
    m = chain()
    model = m.compile()
    half = lw.simulate(model, 0.5, somewhere(model)).final
    new, after = lw.carry(model, half, m)
    assert new.mechanism["b0"] is model.mechanism["b0"]
    goes_on, carried = lw.simulate(model, 1.0, half), lw.simulate(new, 1.0, after)
    assert carried.final.q.tobytes() == goes_on.final.q.tobytes()


def test_the_users_own_code_is_looked_at_again():
    strength = [1.0]
    m = chain()
    m.add(lw.Motor("motor", "j0", lambda t, q, v: strength[0]))
    model = m.compile()
    state = somewhere(model)
    model.motion(state.q, state.v)
    strength[0] = 7.0
    m["j3"].damping = 0.2
    new, _ = lw.carry(model, state, m)
    same_model(new, m.compile())


def test_loads_and_stops_go_with_the_edit():
    m = chain()
    m.add(lw.Spring("spring", m["b0"], m["b3"], stiffness=30.0))
    m["j1"].limits = (-1.0, 1.0)
    model = m.compile()
    state = somewhere(model)
    model.motion(state.q, state.v)
    for name in ("j3", "j1"):
        m.remove(name)
        model, state = lw.carry(model, state, m)
        same_model(model, m.compile(floating=True))


edits = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 30), st.floats(0.1, 1.0)), min_size=1, max_size=6
)


def edited(m: lw.Mechanism, number: int, kind: int, which: int, x: float) -> None:
    """Change something, as numbers say."""
    bodies, joints = list(m.bodies.values()), list(m.joints.values())
    body, other = bodies[which % len(bodies)], bodies[(which // 3) % len(bodies)]
    joint = joints[which % len(joints)] if joints else None
    if kind == 0 and joint and joint.nv:
        joint.damping = x
    elif kind == 1 and joint:
        m.remove(joint)
    elif kind == 2:
        body.inertia = lw.Inertia(x, (0, x, 0), np.eye(3))
    elif kind == 3:
        new = m.add(lw.Body(f"n{number} {x}", bodies[0].inertia, position=(x, x, 0)))
        m.add(lw.Spherical(f"s{number} {x}", body, new, at=(x, 0, 0)))
    elif kind == 4 and body is not other:
        m.add(lw.Spring(f"k{number} {x}", body, other, stiffness=x))
    elif kind == 5:
        m.gravity = (0, 0, -x)
    elif kind == 6:
        new = m.add(lw.Body(f"w{number} {x}", bodies[0].inertia, position=(x, -x, 0)))
        m.add(lw.Fixed(f"f{number} {x}", body, new))
    elif kind == 7 and joint and joint.nv and len(joints) > 1:
        joint.limits = (-x, x)


@settings(max_examples=25, deadline=None)
@given(edits)
def test_whatever_is_edited_the_model_is_that_of_the_mechanism(sequence):
    m = chain(links=3)
    model = m.compile()
    state = somewhere(model)
    for number, edit in enumerate(sequence):
        edited(m, number, *edit)
        new, after = lw.carry(model, state, m)
        same_model(new, m.compile(floating=True))
        same_places(model, state, new, after)
        model, state = new, after


def test_assignments_to_an_editable_copy_reach_the_next_model():
    from linkwork.mechanism.snapshot import editable_copy

    m = lw.Mechanism("two")
    a = m.add(lw.Body("a", lw.Sphere(0.1), density=1000))
    b = m.add(lw.Body("b", lw.Sphere(0.1), density=1000, position=(1, 0, 0)))
    m.add(lw.Free("one", m.ground, a))
    m.add(lw.Free("other", m.ground, b))
    m.add(lw.Contact("contact"))
    copy = editable_copy(m)
    model = copy.compile()
    copy.contacts["contact"].without = [("a", "b")]
    grown, _ = lw.carry(model, model.state(), copy)
    assert len(grown.mechanism.contacts["contact"].without) == 1
