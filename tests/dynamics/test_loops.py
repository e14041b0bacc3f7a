"""Closed loops: random mechanisms against dense equations, and what a model tells about its loops."""

from dataclasses import dataclass

import naive
import numpy as np
import pytest
from mechanisms import SPACES, kinds, random_forces, rate
from naive_loops import Closed, Drawn, random_closed, random_plane
from seeds import seeds

import linkwork as lw
from linkwork.dynamics import equations_of_motion
from linkwork.errors import AssemblyError, LinkworkError, ModelError
from linkwork.model.loop_closing import moved_by
from linkwork.model.own_forces import motion_kernel

KINDS = [(kind, space) for space in SPACES for kind in kinds(space) if kind is not lw.Free]


@dataclass
class Case:
    drawn: Drawn
    model: lw.Model
    oracle: Closed
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray

    def error(self, a: np.ndarray, forces=None) -> float:
        """Return the error of accelerations, beside them and those without loops."""
        expected = self.oracle.forward_dynamics(self.q, self.v, self.tau, forces)
        free = self.oracle.tree.forward_dynamics(self.q, self.v, self.tau, forces)
        size = max(np.max(np.abs(expected)), np.max(np.abs(free)))
        near = self.oracle.margin(self.q)  # to a position in which the number of freedoms changes
        return float(np.max(np.abs(a - expected)) / size) * min(1.0, 1e4 * near)


def case(drawn: Drawn, seed: int) -> Case:
    model = drawn.mechanism.compile()
    rng = np.random.default_rng(seed)
    q, oracle = drawn.positions(model), Closed(drawn, model)
    v = oracle.closed_velocity(q, rng.normal(size=model.nv))
    return Case(drawn, model, oracle, q, v, rng.normal(size=model.nv) * 5)


@seeds(30, 100)
@pytest.mark.parametrize("space", SPACES)
def test_accelerations_are_those_of_the_dense_equations(space, seeds):
    for seed in seeds:
        c = case(random_closed(seed, space), seed)
        assert c.error(c.model.forward_dynamics(c.q, c.v, c.tau)) < 1e-9, seed
        forces = random_forces(c.drawn.mechanism, np.random.default_rng(seed))
        assert c.error(c.model.forward_dynamics(c.q, c.v, c.tau, forces=forces), forces) < 1e-9, seed


@pytest.mark.parametrize(("kind", "space"), KINDS, ids=lambda x: getattr(x, "__name__", x))
def test_every_joint_can_close_a_loop(kind, space):
    met = 0
    for seed in range(8):
        c = case(random_closed(seed, space, loop=kind), seed)
        met += sum(type(c.drawn.mechanism.joints[name]) is kind for name in c.model.loop_names)
        assert c.error(c.model.forward_dynamics(c.q, c.v, c.tau)) < 1e-9, seed
    assert met >= 8


@seeds(20, 60)
def test_a_planar_mechanism_in_space_moves_the_same_though_it_is_redundant(seeds):
    for seed in seeds:
        flat, deep = (case(drawn, seed) for drawn in random_plane(seed))
        q, v, tau = (
            _renamed(x, flat.model, deep.model, side) for side, x in enumerate((flat.q, flat.v, flat.tau))
        )
        a, b = flat.model.forward_dynamics(flat.q, flat.v, flat.tau), deep.model.forward_dynamics(q, v, tau)
        assert flat.error(a) < 1e-9
        assert flat.error(_renamed(b, deep.model, flat.model, 1)) < 1e-9
        assert len(deep.model.constraint_residual(q)) > len(flat.model.constraint_residual(flat.q))


def _renamed(x, source, target, side):
    y = np.zeros((target.nq, target.nv)[min(side, 1)])
    for name, own in target.slices.items():
        y[own[min(side, 1)]] = x[source.slices[name][min(side, 1)]]
    return y


@seeds(5, 15)
@pytest.mark.parametrize("space", SPACES)
def test_a_lane_gives_the_bits_of_a_single_call(space, seeds):
    for seed in seeds:
        c = case(random_closed(seed, space), seed)
        rng = np.random.default_rng(seed)
        v = np.array([c.oracle.closed_velocity(c.q, rng.normal(size=c.model.nv)) for _ in range(11)])
        q, tau = np.tile(c.q, (11, 1)), rng.normal(size=(11, c.model.nv))
        together = c.model.forward_dynamics(q, v, tau)
        for one, *state in zip(together, q, v, tau, strict=True):
            assert np.array_equal(one, c.model.forward_dynamics(*state))


@seeds(6, 20)
@pytest.mark.parametrize("space", SPACES)
def test_the_reference_by_singular_values_agrees(space, seeds):
    for seed in seeds:
        c = case(random_closed(seed, space), seed)
        assert c.error(c.model.forward_dynamics(c.q, c.v, c.tau, solver="svd")) < 1e-9, seed
        forces = random_forces(c.drawn.mechanism, np.random.default_rng(seed))
        slow = c.model.forward_dynamics(c.q, c.v, c.tau, forces=forces, solver="svd")
        assert c.error(slow, forces) < 1e-9, seed
    many = c.model.forward_dynamics(*(np.tile(x, (3, 1)) for x in (c.q, c.v, c.tau)), solver="svd")
    assert c.error(many[2]) < 1e-9
    with pytest.raises(ValueError, match="solver 'lu'; give"):
        c.model.forward_dynamics(c.q, c.v, c.tau, solver="lu")


@pytest.mark.parametrize("space", SPACES)
def test_loops_end_at_their_roots(space):
    """Four-bars on links of a chain that floats: what is nearer to the base feels them as inertia only."""
    flat = space == "plane"
    m = lw.Mechanism("centipede", space=space)
    rng = np.random.default_rng(0)

    def place(x, y):
        return (x, y) if flat else (x, y, 0)

    def hinge(name, a, b, *at):
        m.add(lw.Revolute(name, a, b, at=place(*at), **({} if flat else {"axis": (0, 0, 1)})))

    def body(name, *at):
        tensor = rng.uniform(0.1, 0.2) if flat else np.diag(rng.uniform(0.1, 0.15, 3))
        return m.add(lw.Body(name, lw.Inertia(rng.uniform(1, 2), place(0, 0), tensor), position=place(*at)))

    last = body("head", -0.5, 0)
    m.add((lw.Planar if flat else lw.Free)("air", m.ground, last))
    for k in range(4):
        segment = body(f"segment {k}", k, 0)
        hinge(f"spine {k}", last, segment, k - 0.5, 0)
        one, two, foot = (
            body(f"{part} {k}", k + x, y)
            for part, x, y in (("one", -0.2, -0.5), ("two", 0.2, -0.5), ("foot", 0, -1))
        )
        for name, a, b, x, y in (
            ("A", segment, one, -0.2, 0),
            ("D", segment, two, 0.2, -0.1),
            ("B", one, foot, -0.2, -1),
            ("C", two, foot, 0.3, -1),
        ):
            hinge(f"{name} {k}", a, b, k + x, y)
        last = segment

    class Level(lw.Constraint):
        def phi(self, a, b):
            return [a.position[1] - b.position[1]]

    for absolute in (False, True):
        if absolute:  # its forces do not cancel: it joins the loops that it meets, and all end at ground
            m.add(Level("level", m["foot 1"], m["foot 2"]))
        model = m.compile()
        roots = [loop.root for loop in model.link_tree.loops]
        assert len(set(roots)) == (3 if absolute else 4)
        assert (0 in roots) == absolute
        q = model.assemble()
        v = model.closed_velocity(q, rng.normal(size=model.nv))
        tau = rng.normal(size=model.nv)
        a = model.forward_dynamics(q, v, tau)
        assert naive.relative_error(a, model.forward_dynamics(q, v, tau, solver="svd")) < 1e-11
        assert np.abs(model.constraint_velocity(q, v)).max() < 1e-13
        many = model.forward_dynamics(*(np.tile(x, (9, 1)) for x in (q, v, tau)))
        assert (many == a).all()


def test_a_specialised_model_knows_its_loops():
    c = case(random_closed(3, "space"), 3)
    assert c.error(c.model.specialize().forward_dynamics(c.q, c.v, c.tau)) < 1e-9


# what a model tells about loops


@pytest.mark.parametrize("space", SPACES)
def test_coordinates_of_loop_joints_are_known(space):
    for seed in range(20):
        c = case(random_closed(seed, space), seed)
        for name, (q, _) in c.model.loop_coordinates(c.q, c.v).items():
            joint = c.drawn.mechanism.joints[name]
            here, there = joint.motion(q.tolist()), joint.motion(c.drawn.coordinates[name].tolist())
            assert np.allclose(here.scalars(), there.scalars(), atol=1e-12)


@seeds(6, 20)
@pytest.mark.parametrize("space", SPACES)
def test_the_jacobian_is_how_gaps_open(space, seeds):
    for seed in seeds:
        c = case(random_closed(seed, space), seed)
        assert np.max(np.abs(c.model.constraint_residual(c.q)), initial=0.0) < 1e-13
        v = np.random.default_rng(seed).normal(size=c.model.nv)
        gaps, start, way = c.model.constraint_residual, c.q, c.model.position_rates(c.q, v)
        opening = rate(lambda t, gaps=gaps, q=start, dq=way: gaps(q + t * dq))
        assert np.allclose(opening, c.model.constraint_jacobian(c.q) @ v, atol=1e-8)
        assert np.allclose(opening, c.model.constraint_velocity(c.q, v), atol=1e-8)


@seeds(6, 20)
@pytest.mark.parametrize("space", SPACES)
def test_the_nearest_closed_velocity_takes_least_energy(space, seeds):
    for seed in seeds:
        c = case(random_closed(seed, space), seed)
        v = np.random.default_rng(seed).normal(size=c.model.nv)
        there = c.model.closed_velocity(c.q, v)
        assert np.max(np.abs(c.model.constraint_velocity(c.q, there)), initial=0.0) < 1e-9
        # the change is square, in the sense of inertia, to all that is allowed
        across = c.v @ c.model.mass_matrix(c.q) @ (there - v)
        assert abs(across) < 1e-9 * np.linalg.norm(c.model.mass_matrix(c.q))


@seeds(6, 20)
@pytest.mark.parametrize("space", SPACES)
def test_reactions_of_all_joints_are_what_bodies_need(space, seeds):
    for seed in seeds:
        c = case(random_closed(seed, space), seed)
        a = c.model.forward_dynamics(c.q, c.v, c.tau)
        if c.oracle.margin(c.q) < 1e-3 or c.oracle.tree.armature.any():
            continue
        reactions = c.model.reactions(c.q, c.v, c.tau)
        bodies, _ = c.oracle.tree.motions(c.q, c.v)
        for body, center, I, m in c.oracle.tree._massive(c.q, c.v):
            force = m * (center.Jv @ a + center.av - c.oracle.tree.gravity)
            torque = I @ (center.Jw @ a + center.aw) + naive.cross(center.w) @ I @ center.w
            for name, joint in c.drawn.mechanism.joints.items():
                if body not in (joint.parent, joint.child):
                    continue
                sign = 1.0 if body is joint.child else -1.0
                X = joint.frames()[1]
                turn, place = naive.turn_in_space(X.rotation), naive.in_space(X.position)
                at = bodies[joint.child.name].at(turn, place)
                whole = np.zeros(6)
                whole[c.oracle.tree.rows] = np.asarray(reactions[name])
                if name in c.model.slices:
                    whole += _drive(joint, c, name, at)
                force -= sign * whole[3:]
                torque -= sign * (whole[:3] + naive.cross(at.p - center.p) @ whole[3:])
            size = 1.0 + np.max(np.abs(reactions.array))
            left = np.concatenate([torque, force])[c.oracle.tree.rows]
            assert np.max(np.abs(left)) < 1e-8 * size, (seed, body.name)


def _drive(joint, c, name, at):
    """Return the force of a joint's drive on its child, in world axes."""
    own_q, own_v = c.model.slices[name]
    X = naive.joint_motion(joint, c.q[own_q], c.v[own_v])
    R = at.R @ X.R.T
    tau = c.tau[own_v]
    turning = X.W.any(axis=0)
    if joint.nv > 1:
        S = np.vstack([X.W, X.V])
        both = S @ np.linalg.solve(S.T @ S, tau)
        return np.concatenate([R @ both[:3], R @ both[3:]])
    return np.concatenate([R @ X.W @ tau, R @ X.V @ np.where(turning, 0.0, tau)])


def test_forces_of_redundant_loops_are_the_smallest():
    for seed in range(10):
        _, drawn = random_plane(seed)
        c = case(drawn, seed)
        if c.oracle.margin(c.q) < 1e-3:
            continue
        forces = c.model.loop_forces(c.q, c.v, c.tau).array.ravel()
        J, _ = c.oracle.constraints(c.q, c.v)
        a = c.oracle.forward_dynamics(c.q, c.v, c.tau)
        needed = c.oracle.tree.inverse_dynamics(c.q, c.v, a) - c.tau
        smallest = np.linalg.lstsq(J.T, needed, rcond=1e-9)[0]
        assert np.linalg.norm(forces) == pytest.approx(np.linalg.norm(smallest), rel=1e-7, abs=1e-9)


# own forces, a long row, assembling


def four_bar(space: str = "plane", coupler: float = 0.4, **options) -> lw.Mechanism:
    m = lw.Mechanism("four-bar", space=space)

    def place(x, y):
        return (x, y) if space == "plane" else (x, y, 0.0)

    axis = {} if space == "plane" else {"axis": (0, 0, 1)}
    rod = lw.Inertia(1.0, (0, 0, 0), np.diag([0.004, 0.01, 0.01]))
    rod = rod if space == "space" else rod.planar()
    crank = m.add(lw.Body("crank", rod, position=place(0.0, 0.05)))
    bar = m.add(lw.Body("coupler", rod, position=place(0.2, 0.1)))
    rocker = m.add(lw.Body("rocker", rod, position=place(0.4, 0.1)))
    m.add(lw.Revolute("A", m.ground, crank, at=place(0, 0), **axis))
    m.add(lw.Revolute("B", crank, bar, at=place(0, 0.1), **axis))
    m.add(lw.Revolute("D", m.ground, rocker, at=place(0.4, 0), **axis))
    ends = {"on_parent": place(coupler - 0.2, 0.1 if coupler == 0.4 else 0.0), "on_child": place(0, 0.1)}
    m.add(lw.Revolute("C", bar, rocker, **ends, **axis, **options))
    return m


@pytest.mark.parametrize("space", SPACES)
def test_a_spring_and_a_damper_in_a_loop_joint_act_on_both_bodies(space):
    model = four_bar(space, damping=0.7, stiffness=5.0, rest=0.2).compile()
    assert model.loop_names == ("C",)
    q = model.assemble(np.array([0.3, -0.4, 0.2])[: model.nq])
    v = model.closed_velocity(q, np.array([2.0, -1.0, 0.5]))
    (angle,), (speed,) = model.loop_coordinates(q, v)["C"]
    torque = -0.7 * speed - 5.0 * (angle - 0.2)
    assert abs(torque) > 0.1
    push = [torque, 0, 0] if space == "plane" else [0, 0, torque, 0, 0, 0]
    forces = {"rocker": push, "coupler": (-np.array(push)).tolist()}
    assert np.allclose(
        model.motion(q, v), model.forward_dynamics(q, v, np.zeros(3), forces=forces), atol=1e-9
    )


@pytest.mark.parametrize("hinges", [("upper", "lower"), ("upper", "middle", "lower")])
@pytest.mark.parametrize(
    ("place", "rotation"), [((0, 0, 0), (1, 0, 0, 0)), ((30, -50, 70), (0.1, 0.7, -0.5, 0.5))]
)
def test_a_door_on_several_hinges_swings_as_on_one(hinges, place, rotation):
    accelerations = []
    X = lw.Frame(position=place, rotation=np.array(rotation) / np.linalg.norm(rotation))
    for names in (hinges[:1], hinges):
        m = lw.Mechanism("door", gravity=X.rotation @ (3.0, 1.0, -9.81))
        inertia = lw.Inertia(20.0, (0, 0, 0), np.diag([4.0, 6.0, 2.0]))
        there = X @ lw.Frame(position=(0.5, 0, 1))
        door = m.add(lw.Body("door", inertia, position=there.position, rotation=there.rotation))
        for k, name in enumerate(names):
            m.add(lw.Revolute(name, m.ground, door, at=X @ lw.Frame(position=(0, 0, 1.8 - 0.8 * k))))
        model = m.compile()
        accelerations.append(model.forward_dynamics(np.array([0.7]), np.array([2.0]), np.array([5.0])))
    assert accelerations[0] == pytest.approx(accelerations[1], rel=1e-9)


def ladder(n: int) -> lw.Mechanism:
    """Return a row of n four-bars, each sharing a rod with the next."""
    m = lw.Mechanism("ladder", space="plane")
    rod = lw.Inertia(1.0, (0, 0), 0.1)
    m.add(lw.Body("rod 0", rod, position=(0, 0.5)))
    m.add(lw.Revolute("foot 0", m.ground, m.bodies["rod 0"], at=(0, 0)))
    for k in range(1, n + 1):
        right = m.add(lw.Body(f"rod {k}", rod, position=(k, 0.5)))
        bar = m.add(lw.Body(f"bar {k}", rod, position=(k - 0.5, 1.0)))
        m.add(lw.Revolute(f"foot {k}", m.ground, right, at=(k, 0)))
        m.add(lw.Revolute(f"left {k}", m.bodies[f"rod {k - 1}"], bar, at=(k - 1, 1)))
        m.add(lw.Revolute(f"right {k}", bar, right, at=(k, 1)))
    return m


def test_a_row_of_loops_takes_memory_in_proportion():
    models = [ladder(n).compile() for n in (10, 20, 40)]
    sizes = [model.kernel("forward_dynamics").single.work_size for model in models]
    assert sizes[2] - sizes[1] == pytest.approx(2 * (sizes[1] - sizes[0]), rel=0.05)
    model = models[0]
    v = model.closed_velocity(model.q_drawn, np.ones(model.nv))
    a = model.forward_dynamics(model.q_drawn, v, np.zeros(model.nv))
    feet = [a[model.slices[f"foot {k}"][1]][0] for k in range(11)]
    assert np.ptp(feet) < 1e-9


def test_any_rows_may_be_the_redundant_ones():
    """Which rows of Bennett's linkage follow from the others changes as it turns; accuracy must not."""
    model = lw.examples.bennett().compile()
    rng = np.random.default_rng(0)
    for angle in np.linspace(-3.0, 3.0, 61):
        state = model.state({model.joint_names[0]: angle - 0.5 * np.pi})
        v = model.closed_velocity(state.q, rng.normal(size=model.nv))
        tau = rng.normal(size=model.nv)
        slow = model.forward_dynamics(state.q, v, tau, solver="svd")
        assert naive.relative_error(model.forward_dynamics(state.q, v, tau), slow) < 1e-11


def test_a_mechanism_is_assembled_near_where_it_was_drawn():
    for space in SPACES:
        model = four_bar(space, coupler=0.45).compile()
        assert np.max(np.abs(model.constraint_residual(model.q_drawn))) > 0.01
        q = model.assemble()
        assert np.max(np.abs(model.constraint_residual(q))) < 1e-12
        assert np.max(np.abs(q - model.q_drawn)) < 0.6
    far = model.assemble(np.array([2.0, 1.0, -1.0]))
    assert np.max(np.abs(model.constraint_residual(far))) < 1e-12


@seeds(6, 20)
@pytest.mark.parametrize("space", SPACES)
def test_random_mechanisms_close_again(space, seeds):
    for seed in seeds:
        c = case(random_closed(seed, space), seed)
        off = moved_by(c.model, c.q, 0.02 * np.random.default_rng(seed).normal(size=c.model.nv))
        try:
            q = c.model.assemble(off)
        except AssemblyError:
            assert c.oracle.margin(c.q) < 0.02, seed  # near a position where the rank changes
            continue
        assert np.max(np.abs(c.model.constraint_residual(q)), initial=0.0) < 1e-11 * max(1.0, c.model.size)


@pytest.mark.parametrize("space", SPACES)
def test_joints_that_are_held_stay_where_they_are(space):
    model = four_bar(space, coupler=0.45).compile()
    held = model.slices["A"]
    start = np.array(model.q_drawn)
    start[held[0]] += 0.1
    q = model.assemble(start, hold=["A"])
    assert np.array_equal(q[held[0]], start[held[0]])
    assert np.max(np.abs(model.constraint_residual(q))) < 1e-12
    v = model.closed_velocity(q, np.ones(model.nv), hold=["A"])
    assert np.array_equal(v[held[1]], [1.0])
    assert np.max(np.abs(model.constraint_velocity(q, v))) < 1e-12
    with pytest.raises(ValueError, match=r"hold: .*'Q'"):
        model.assemble(hold=["Q"])
    with pytest.raises(ValueError, match=f"closed_velocity: v has shape .*; give {model.nv} finite numbers"):
        model.closed_velocity(q, np.full(model.nv, np.nan), hold=["A"])
    with pytest.raises(AssemblyError, match="the velocities of 'A', 'B' open the loops"):
        model.closed_velocity(q, np.ones(model.nv), hold=["A", "B"])


def test_what_cannot_be_assembled_is_named():
    m = four_bar(coupler=1.5)
    with pytest.raises(AssemblyError, match=r"'four-bar' cannot be assembled.*'C' by [0-9.]+ m"):
        m.compile().assemble()


def test_a_loop_joint_has_no_place_in_a_state():
    with pytest.raises(ValueError, match=r"joint 'C' closes a loop.*assemble"):
        four_bar().compile().state(C=0.3)


def test_a_tree_has_no_loops():
    model = lw.examples.cart_pole().compile()
    assert model.loop_names == ()
    assert model.constraint_residual(model.q_drawn).shape == (0,)
    assert np.array_equal(model.assemble(), model.q_drawn)


# loop joints are joints


def loaded_four_bar(space: str, order: str) -> lw.Mechanism:
    """Return a four-bar with forces of all kinds on all joints, which are added in some order."""
    plain = four_bar(space)
    m = lw.Mechanism("loaded", space=space, gravity=plain.gravity)
    for body in plain.bodies.values():
        if body is not plain.ground:
            m.add(lw.Body(body.name, body.inertia, position=body.position, rotation=body.rotation))
    for name in order:
        joint = plain.joints[name]
        inner, outer = (
            m.ground if b is plain.ground else m.bodies[b.name] for b in (joint.parent, joint.child)
        )
        frames = dict(zip(("on_parent", "on_child"), joint.frames(), strict=True))
        own = {"damping": 0.2, "stiffness": 1.5, "friction": 0.05, "limits": (-0.2, 0.3)}
        m.add(type(joint)(name, inner, outer, **frames, **own))
    for k, name in enumerate("ABCD"):
        m.add(lw.Motor(f"motor {name}", name, lambda t, q, v, k=k: 0.3 * k * lw.sin(t + q) - 0.1 * v))
        m.add(lw.TorsionSpring(f"coil {name}", name, stiffness=lambda x: x**3, damping=0.1, rest=0.1))
        one, other = name, "ABCD"[k - 1]
        law = lambda t, q, v, one=one, other=other: -0.3 * q[other] * v[one] + 0.01 * q[one]  # noqa: E731
        m.add(lw.Feedback(f"control {name}", name, law))
    return m


@pytest.mark.parametrize("space", SPACES)
def test_whichever_joint_is_cut_all_do_the_same(space):
    runs, cut = [], set()
    for order in ("ABCD", "DCBA", "BCDA", "CDAB", "BADC"):
        model = loaded_four_bar(space, order).compile()
        if set(model.loop_names) <= cut or "A" in model.loop_names:
            continue
        cut |= set(model.loop_names)
        start = model.state(velocities={"A": 2.0})
        runs.append(lw.simulate(model, 0.5, start, accuracy=1e-11, times=np.linspace(0.0, 0.5, 11)))
    assert len(runs) > 1
    assert runs[0].report.python_laws == ()
    for run in runs[1:]:
        for name in "ABCD":
            for quantity in ("position", "velocity", "acceleration", "force"):
                ours, theirs = (getattr(r[name], quantity) for r in (run, runs[0]))
                np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-7, err_msg=f"{name} {quantity}")
            for kind in ("motor", "coil", "control"):
                ours, theirs = (r[f"{kind} {name}"].force for r in (run, runs[0]))
                np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-7)
            ours, theirs = (
                np.asarray(r[name].reaction.force)[..., :2] for r in (run, runs[0])
            )  # in the plane
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


# refused


def test_what_a_loop_joint_cannot_do_yet_is_said():
    m = four_bar()
    for joint in m.joints.values():
        joint.armature = 0.1
    with pytest.raises(ModelError, match=r"joint 'C' closes a loop and has armature"):
        m.compile()


def test_a_simulation_does_not_forget_the_loops_in_silence():
    model = four_bar().compile()
    with pytest.raises(LinkworkError, match="closed loops"):
        motion_kernel(model, equations_of_motion.ALGORITHM)
