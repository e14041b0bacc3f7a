"""What every joint promises: contracts over the catalogue, so that a new joint is held to them by itself."""

import inspect
import math
from collections.abc import Iterator, Sequence
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.algebra import planar, rotation, spatial
from linkwork.errors import ModelError, TraceError
from linkwork.mechanism.joint import JointOptions
from linkwork.mechanism.joints import CATALOGUE
from linkwork.native import store
from linkwork.tree.joint_formula import JointFormula, JointFormulas

STEP = mp.mpf("1e-16")  # of central differences with fifty digits: good to thirty
CLOSE = 1e-25


class Knee(lw.Joint):
    """The joint of usage.md: a user's own, which rolls a little while it bends."""

    coordinates = 1

    def motion(self, q):
        return lw.translation(0, 0, -0.02 * (1 - lw.cos(q[0]))) @ lw.rotation_y(q[0])


class Ball(lw.Joint):
    """A user's ball joint that says nothing of its subspace: it has to be derived through the rates."""

    coordinates, positions = 3, 4
    directed = False

    def motion(self, q):
        return lw.Frame(rotation=q)

    def rates(self, q, v):
        return rotation.quaternion_rates(q, v)

    def neutral(self):
        return [1.0, 0.0, 0.0, 0.0]


EVERY = [(joint, space) for joint in CATALOGUE for space in sorted(joint.spaces)]
EVERY += [(Knee, "space"), (Ball, "space")]
EVERY_JOINT = pytest.mark.parametrize(
    ("cls", "space"), EVERY, ids=[f"{joint.__name__} in the {space}" for joint, space in EVERY]
)
BOTH_WAYS = pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])


@pytest.fixture(autouse=True)
def fifty_digits() -> Iterator[None]:
    with mp.workdps(50):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(8)


def needed(cls: type[lw.Joint]) -> dict[str, Any]:
    """Return a number for every option that a joint class insists on."""
    parameters = inspect.signature(cls).parameters.values()
    return {p.name: 0.3 for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty}


def body(name: str, space: str, rng: np.random.Generator) -> lw.Body:
    """Return a body of some inertia, drawn somewhere."""
    inertia = lw.Inertia(1.3, (0.1, -0.2, 0.3), np.diag([0.5, 0.6, 0.7]))
    if space == "plane":
        return lw.Body(name, inertia, position=rng.normal(size=2), rotation=rng.normal())
    return lw.Body(name, inertia, position=rng.normal(size=3), rotation=Rotation.random(rng=rng))


def made(cls: type[lw.Joint], space: str, rng: np.random.Generator, ground: str = "", **options: Any) -> Any:
    """Return a joint of this class between two bodies that are drawn somewhere, or one and ground."""
    m = lw.Mechanism(space=space)  # type: ignore[arg-type]
    parent = m.ground if ground == "parent" else m.add(body("parent", space, rng))
    child = m.ground if ground == "child" else m.add(body("child", space, rng))
    joint = m.add(cls("joint", parent, child, **needed(cls), **options))
    return (m, joint) if ground else joint


def coordinates(joint: lw.Joint, rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
    """Return positions and velocities of fifty digits; a quaternion may have any length."""
    q = [mp.mpf(a) + mp.mpf(b) * mp.mpf("1e-17") for a, b in rng.normal(size=(joint.nq, 2))]
    return q, [mp.mpf(x) for x in rng.normal(size=joint.nv)]


def moved(q: Sequence[Any], rates: Sequence[Any], t: Any) -> list[Any]:
    return [a + t * b for a, b in zip(q, rates, strict=True)]


def array(x: Any) -> np.ndarray:
    return np.array(x.scalars() if hasattr(x, "scalars") else x, dtype=object)


def distance(a: Any, b: Any) -> float:
    return float(np.abs(array(a) - array(b)).max(initial=0))


def pose(joint: lw.Joint, q: Sequence[Any], reverse: bool) -> Any:
    """Return where the joint says the far frame is, met from this side."""
    X = joint.motion(q)
    return X.inverse if reverse else X


def combined(S: Sequence[Any], v: Sequence[Any], algebra: Any) -> Any:
    return sum((s * x for s, x in zip(S, v, strict=True)), algebra.Motion.zero())


# motion, subspace and rates


@EVERY_JOINT
def test_at_neutral_both_frames_coincide(cls, space, rng):
    joint = made(cls, space, rng)
    assert len(joint.neutral()) == joint.nq
    assert distance(joint.motion(joint.neutral()), joint.algebra.Frame()) == 0.0


@EVERY_JOINT
def test_every_pose_of_a_joint_is_a_rigid_one(cls, space, rng):
    joint = made(cls, space, rng)
    for _ in range(3):
        X = joint.motion(coordinates(joint, rng)[0])
        assert distance(X @ X.inverse, joint.algebra.Frame()) < 1e-45


@EVERY_JOINT
@BOTH_WAYS
def test_the_kind_moves_as_the_joint_does(cls, space, rng, reverse):
    joint = made(cls, space, rng)
    kind, parameters = JointFormulas().of(joint, reverse)
    q, _ = coordinates(joint, rng)
    assert (kind.nq, kind.nv, kind.n_parameters) == (joint.nq, joint.nv, len(parameters))
    assert distance(kind.motion(q, parameters), pose(joint, q, reverse)) < 1e-45


@EVERY_JOINT
@BOTH_WAYS
def test_the_subspace_is_the_derivative_of_the_motion(cls, space, rng, reverse):
    joint = made(cls, space, rng)
    kind, parameters = JointFormulas().of(joint, reverse)
    q, _ = coordinates(joint, rng)
    X, S = pose(joint, q, reverse), kind.subspace(q, parameters)
    assert len(S) == joint.nv
    for k, s in enumerate(S):
        rates = joint.rates(q, [mp.mpf(i == k) for i in range(joint.nv)])
        ahead, behind = (array(pose(joint, moved(q, rates, t), reverse)) for t in (STEP, -STEP))
        rate = joint.algebra.Frame.from_scalars((ahead - behind) / (2 * STEP))
        assert distance(s, X.twist(rate)) < CLOSE


@EVERY_JOINT
@BOTH_WAYS
def test_the_bias_is_the_change_of_the_subspace_times_velocity(cls, space, rng, reverse):
    joint = made(cls, space, rng)
    kind, parameters = JointFormulas().of(joint, reverse)
    q, v = coordinates(joint, rng)
    rates = joint.rates(q, v)
    ahead, behind = (
        array(combined(kind.subspace(moved(q, rates, t), parameters), v, joint.algebra))
        for t in (STEP, -STEP)
    )
    assert distance(kind.bias(q, v, parameters), (ahead - behind) / (2 * STEP)) < CLOSE


@EVERY_JOINT
@BOTH_WAYS
def test_rates_are_linear_in_velocity_and_those_of_the_joint(cls, space, rng, reverse):
    joint = made(cls, space, rng)
    kind, parameters = JointFormulas().of(joint, reverse)
    q, v = coordinates(joint, rng)
    _, u = coordinates(joint, rng)
    rates = kind.position_rates(q, v, parameters)
    assert len(rates) == joint.nq
    assert distance(rates, array(joint.rates(q, v))) < 1e-45
    both = kind.position_rates(q, [a + 2 * b for a, b in zip(v, u, strict=True)], parameters)
    assert distance(both, array(rates) + 2 * array(kind.position_rates(q, u, parameters))) < 1e-45


@EVERY_JOINT
def test_a_quaternion_keeps_its_length(cls, space, rng):
    joint = made(cls, space, rng)
    if joint.nq == joint.nv:
        return
    q, v = coordinates(joint, rng)
    assert abs(sum(a * b for a, b in zip(q[-4:], joint.rates(q, v)[-4:], strict=True))) < 1e-45


@EVERY_JOINT
def test_met_the_other_way_round_the_same_velocity_is_the_opposite_motion(cls, space, rng):
    joint = made(cls, space, rng)
    (there, parameters), (back, back_parameters) = (
        JointFormulas().of(joint, reverse) for reverse in (False, True)
    )
    q, v = coordinates(joint, rng)
    X = joint.motion(q)
    forth = combined(there.subspace(q, parameters), v, joint.algebra)
    assert distance(back.motion(q, back_parameters), X.inverse) < 1e-45
    opposite = combined(back.subspace(q, back_parameters), v, joint.algebra)
    assert distance(opposite, -(X @ forth)) < 1e-45


# constraints


@EVERY_JOINT
@BOTH_WAYS
def test_freedoms_and_constraints_share_all_directions_between_them(cls, space, rng, reverse):
    joint = made(cls, space, rng)
    kind, parameters = JointFormulas().of(joint, reverse)
    q, _ = coordinates(joint, rng)
    size = joint.algebra.freedoms
    S = np.array([s.scalars() for s in kind.subspace(q, parameters)], float).reshape(-1, size)
    values, directions = np.linalg.svd(S)[1:]
    assert np.sum(values > 1e-6) == joint.nv  # the freedoms are independent
    constraints = directions[joint.nv :]
    assert len(constraints) == size - joint.nv
    np.testing.assert_allclose(constraints @ S.T, 0.0, atol=1e-14)


@EVERY_JOINT
@pytest.mark.parametrize("ground", ["parent", "child"])
def test_reactions_do_no_work_along_the_freedoms(cls, space, rng, ground):
    m, joint = made(cls, space, rng, ground=ground)
    model = m.compile()
    q, v, tau = rng.normal(size=model.nq), rng.normal(size=model.nv), rng.normal(size=model.nv)
    reaction = model.reactions(q, v, tau)["joint"]
    kind, parameters = JointFormulas().of(joint, reverse=False)
    _, X_CJ = joint.frames()
    X_WJ = (model.poses(q)[joint.child.name] @ X_CJ).axes
    size = np.abs(np.asarray(reaction)).max()
    for s in kind.subspace(q.tolist(), parameters):
        assert abs((X_WJ @ s).dot(reaction)) < 1e-12 * max(1.0, size)
    if joint.nv < joint.algebra.freedoms:
        assert size > 0.1


# where the joint is


def drawn(joint: lw.Joint, body: lw.Body) -> Any:
    """Return the pose a body is drawn in."""
    return joint.algebra.Frame(body.position.tolist(), body.rotation.tolist())


def where(joint: lw.Joint, q: Sequence[float]) -> np.ndarray:
    """Return the pose of the child in the world that coordinates give, the parent where it is drawn."""
    X_PJ, X_CJ = joint.frames()
    return array(drawn(joint, joint.parent) @ X_PJ @ joint.motion(q) @ X_CJ.inverse).astype(float)


def frame(space: str, rng: np.random.Generator) -> Any:
    if space == "plane":
        return planar.Frame(rng.normal(size=2).tolist(), float(rng.normal()))
    return spatial.Frame(rng.normal(size=3).tolist(), rng.normal(size=4).tolist())


SIDES = ("at", "on_parent", "on_child")


@EVERY_JOINT
@pytest.mark.parametrize("side", [None, *SIDES])
@pytest.mark.parametrize("form", ["point", "frame"])
def test_as_drawn_the_child_is_where_it_is_drawn(cls, space, rng, side, form):
    place = frame(space, rng)
    given = {} if side is None else {side: place if form == "frame" else place.p}
    joint = made(cls, space, rng, **given)
    assert len(joint.drawn()) == joint.nq
    np.testing.assert_allclose(
        where(joint, joint.drawn()), array(drawn(joint, joint.child)).astype(float), atol=1e-14
    )


@EVERY_JOINT
@pytest.mark.parametrize("side", SIDES)
def test_the_joint_is_where_it_is_said_to_be(cls, space, rng, side):
    place = frame(space, rng)
    joint = made(cls, space, rng, **{side: place})
    X_PJ, X_CJ = joint.frames()
    said = {"at": drawn(joint, joint.parent) @ X_PJ, "on_parent": X_PJ, "on_child": X_CJ}[side]
    assert distance(said, place) < 1e-14


@EVERY_JOINT
def test_frames_on_both_sides_are_taken_as_they_are(cls, space, rng):
    on_parent, on_child = frame(space, rng), frame(space, rng)
    joint = made(cls, space, rng, on_parent=on_parent, on_child=on_child)
    X_PJ, X_CJ = joint.frames()
    assert distance(X_PJ, on_parent) < 1e-15
    assert distance(X_CJ, on_child) < 1e-15


@EVERY_JOINT
def test_unless_said_a_joint_sits_at_the_origin_of_its_child(cls, space, rng):
    joint = made(cls, space, rng)
    X_PJ, X_CJ = joint.frames()
    assert distance(X_CJ.p, [0.0] * joint.algebra.dimension) < 1e-15
    if cls is not lw.Free:  # whose coordinates are the pose of the child itself
        np.testing.assert_allclose(
            np.array(drawn(joint, joint.parent) @ X_PJ.p), joint.child.position, atol=1e-15
        )


@pytest.mark.parametrize("space", ["space", "plane"])
def test_the_coordinates_of_a_free_body_are_its_pose(space, rng):
    joint = made(lw.Free, space, rng, ground="parent")[1]
    assert distance(joint.motion(joint.drawn()), drawn(joint, joint.child)) < 1e-15


@EVERY_JOINT
def test_compiled_bodies_are_where_they_are_drawn_both_ways_round(cls, space, rng):
    for ground in ("parent", "child"):
        m, _ = made(cls, space, rng, ground=ground)
        model = m.compile()
        (moving,) = m.bodies.values()
        X = model.poses(model.q_drawn)[moving.name]
        np.testing.assert_allclose(X.position, moving.position, atol=1e-14)
        np.testing.assert_allclose(X.rotation, moving.rotation, atol=1e-14)


# axes

AXES = [(0, 0, 1), (0, 0, -1), (0, 1, 0), (3, -4, 12), (1, 1, -1), (0, 0, 5e-3), (1e-200, 0, 1e-200)]
ALMOST_DOWN = [
    (x, y, -1.0) for x, y in [(1e-3, 2e-3), (1e-5, 1e-5), (1.5e-6, 0), (1e-7, 0), (0, 1e-12), (1e-170, 0)]
]
DIRECTED = [
    joint
    for joint, space in EVERY
    if joint.directed and space == "space" and "axis2" not in inspect.signature(joint).parameters
]


@pytest.mark.parametrize("cls", DIRECTED)
@pytest.mark.parametrize("axis", AXES + ALMOST_DOWN, ids=str)
def test_the_axis_of_a_joint_is_the_axis_said(cls, rng, axis):
    joint = made(cls, "space", rng, axis=axis)
    R = joint.alignment().rotation
    scaled = np.array(axis) / np.abs(axis).max()
    np.testing.assert_allclose(R[:, 2], scaled / np.linalg.norm(scaled), rtol=1e-14, atol=1e-100)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(R) > 0


@pytest.mark.parametrize("cls", DIRECTED)
@pytest.mark.parametrize("side", SIDES)
def test_an_axis_is_meant_in_the_frame_the_place_is_given_in(cls, rng, side):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    place = frame("space", rng)
    joint = made(cls, "space", rng, axis=axis, **{side: place})
    X_PJ, X_CJ = joint.frames()
    said = {"at": drawn(joint, joint.parent) @ X_PJ, "on_parent": X_PJ, "on_child": X_CJ}[side]
    np.testing.assert_allclose(said.rotation[:, 2], place.rotation @ axis, atol=1e-14)
    np.testing.assert_allclose(
        where(joint, joint.drawn()), array(drawn(joint, joint.child)).astype(float), atol=1e-14
    )


@pytest.mark.parametrize("cls", DIRECTED)
def test_an_axis_alone_is_meant_in_the_world(cls, rng):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    joint = made(cls, "space", rng, axis=axis)
    X_PJ, X_CJ = joint.frames()
    for side, X in ((joint.parent, X_PJ), (joint.child, X_CJ)):
        np.testing.assert_allclose((drawn(joint, side) @ X).rotation[:, 2], axis, atol=1e-14)


def test_a_universal_joint_turns_about_its_first_axis_then_its_second(rng):
    first, second = np.array([2.0, -1.0, 2.0]), np.array([0.0, 2.0, 1.0])
    joint = made(lw.Universal, "space", rng, axis=first, axis2=second)
    R = joint.alignment().rotation
    np.testing.assert_allclose(R[:, 0], first / 3.0, atol=1e-15)
    np.testing.assert_allclose(R[:, 1], second / math.sqrt(5.0), atol=1e-15)
    assert np.linalg.det(R) == pytest.approx(1.0)
    expected = Rotation.from_euler("XY", [0.3, -0.8]).as_matrix()
    np.testing.assert_allclose(joint.motion([0.3, -0.8]).rotation, expected, atol=1e-15)


@pytest.mark.parametrize("axis", [(1, 0), (0, -2), (3, 4), (-1, 0)])
def test_a_slider_of_the_plane_slides_along_its_axis(rng, axis):
    joint = made(lw.Prismatic, "plane", rng, axis=axis, on_parent=(0.0, 0.0))
    X_PJ, _ = joint.frames()
    np.testing.assert_allclose(
        (X_PJ @ joint.motion([2.0])).position, 2.0 * np.array(axis) / np.linalg.norm(axis), atol=1e-15
    )


# planar twins

TWINS = [cls for cls in CATALOGUE if cls.spaces == {"space", "plane"}]
ALONG_X = {lw.Prismatic: {"axis": (1, 0, 0)}}  # the way a slider of the plane slides unless told


def in_space(q: Sequence[float], cls: type[lw.Joint]) -> list[float]:
    """Return the coordinates in space of coordinates in the plane."""
    if cls is lw.Free:
        x, y, angle = q
        return [x, y, 0.0, math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)]
    return list(q)


def embedded(motion: Any) -> np.ndarray:
    w, x, y = motion.scalars()
    return np.array([0.0, 0.0, w, x, y, 0.0])


@pytest.mark.parametrize("cls", TWINS)
def test_a_joint_of_the_plane_is_that_of_space(cls, rng):
    """A twin moves, turns and pushes alike, seen in the world."""
    models = {}
    for space in ("plane", "space"):
        m = lw.Mechanism(space=space, gravity=(0.3, -9.0, 0.0)[: 2 if space == "plane" else 3])
        child = m.add(
            lw.Body("child", lw.Inertia(1.3, (0.1, -0.2, 0.0), np.diag([0.5, 0.6, 0.7])), rotation=0.3)
        )
        place = (0.4, 0.1) if space == "plane" else (0.4, 0.1, 0.0)
        options = ALONG_X.get(cls, {}) if space == "space" else {}
        m.add(cls("joint", m.ground, child, at=place, **needed(cls), **options))
        models[space] = m.compile()
    plane, space = models["plane"], models["space"]
    q, v = rng.normal(size=plane.nq), rng.normal(size=plane.nv)
    Q = np.array(in_space(q, cls))
    V = np.array([0.0, 0.0, v[0], v[1], v[2], 0.0]) if cls is lw.Free else v
    flat, full = plane.poses(q)["child"], space.poses(Q)["child"]
    np.testing.assert_allclose(full.position, [*flat.position, 0.0], atol=1e-14)
    np.testing.assert_allclose(full.rotation[:2, :2], flat.rotation, atol=1e-14)
    velocity = space.velocities(Q, V)["child"]
    np.testing.assert_allclose(np.asarray(velocity), embedded(plane.velocities(q, v)["child"]), atol=1e-14)
    a, A = plane.forward_dynamics(q, v, v), space.forward_dynamics(Q, V, V)
    expected = np.array([0.0, 0.0, a[0], a[1], a[2], 0.0]) if cls is lw.Free else a
    np.testing.assert_allclose(A, expected, atol=1e-12)


# kinds: code that joints share


def test_joints_that_differ_by_a_number_share_their_code(rng):
    kinds = JointFormulas()
    (one, first), (two, second) = (
        kinds.of(lw.Helical("screw", lw.Body("a"), lw.Body("b"), pitch=pitch), False) for pitch in (0.3, 0.5)
    )
    assert one is two
    assert first != second
    for parameters, pitch in ((first, 0.3), (second, 0.5)):
        assert one.motion([2 * math.pi], parameters).p[2] == pytest.approx(pitch)


@pytest.mark.parametrize("pitch", [0.0, 2 * math.pi, -2 * math.pi, 4 * math.pi, 1e-300])
def test_a_number_that_happens_to_be_simple_is_right_too(pitch):
    kind, parameters = JointFormulas().of(lw.Helical("screw", lw.Body("a"), lw.Body("b"), pitch=pitch), False)
    assert kind.motion([3.0], parameters).p[2] == pytest.approx(3.0 * pitch / (2 * math.pi))


def test_two_joints_of_one_class_share_their_code_wherever_they_are(rng):
    kinds = JointFormulas()
    first = made(lw.Revolute, "space", rng, axis=(0, 1, 0))
    second = made(lw.Revolute, "space", rng, at=(1, 2, 3), damping=0.5, limits=(-1, 1))
    assert kinds.of(first, False)[0] is kinds.of(second, False)[0]
    assert kinds.of(first, False)[0] is not kinds.of(first, True)[0]


def test_a_users_joint_that_moves_alike_shares_the_code_of_the_catalogue(rng):
    class Hinge(lw.Joint):
        def motion(self, q):
            return lw.rotation_z(q[0])

    kinds = JointFormulas()
    assert (
        kinds.of(made(Hinge, "space", rng), False)[0] is kinds.of(made(lw.Revolute, "space", rng), False)[0]
    )


def test_a_joint_of_the_plane_has_code_of_its_own(rng):
    flat, full = (JointFormulas().of(made(lw.Revolute, space, rng), False)[0] for space in ("plane", "space"))
    assert flat.signature != full.signature
    assert flat.algebra is planar
    assert full.algebra is spatial


def test_a_signature_is_the_same_in_every_mechanism_and_that_of_no_other_joint(rng):
    def signatures() -> dict[tuple[str, str, bool], str]:
        return {
            (cls.__name__, space, reverse): JointFormulas().of(made(cls, space, rng), reverse)[0].signature
            for cls, space in EVERY
            for reverse in (False, True)
        }

    found = signatures()
    assert found == signatures()
    owners: dict[str, set[tuple[str, str]]] = {}
    for (name, space, _), signature in found.items():
        owners.setdefault(signature, set()).add((name, space))
    assert [group for group in owners.values() if len(group) > 1] == []


def test_what_a_users_joint_reads_of_its_bodies_is_its_own(rng):
    class Wheel(lw.Body):
        radius = 0.1

    class Rolling(lw.Joint):
        def motion(self, q):
            wheel: Any = self.child
            return lw.translation(wheel.radius * q[0], 0, 0) @ lw.rotation_y(q[0])

    kinds = JointFormulas()
    for radius in (0.3, 0.5):
        joint = made(Rolling, "space", rng)
        joint.child = Wheel("wheel")
        joint.child.radius = radius
        kind, parameters = kinds.of(joint, False)
        assert kind.motion([2.0], parameters).p[0] == pytest.approx(2.0 * radius)


def test_structural_zeros_of_a_subspace_are_known_when_code_is_made(rng):
    kind: JointFormula = JointFormulas().of(made(lw.Revolute, "space", rng), False)[0]
    assert kind.S == (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    assert kind.c == (0.0,) * 6
    slider = JointFormulas().of(made(lw.Prismatic, "plane", rng), False)[0]
    assert slider.S == (0.0, 1.0, 0.0)


def chain(masses: Sequence[float], gravity: float = -9.81, **options: Any) -> lw.Mechanism:
    m = lw.Mechanism("chain", gravity=(0, 0, gravity))
    parent = m.ground
    for k, mass in enumerate(masses):
        link = m.add(
            lw.Body(
                f"link {k}", lw.Inertia(mass, (0.1, 0, 0.2), np.eye(3) * mass / 7), position=(0, 0.1 * k, k)
            )
        )
        m.add(lw.Revolute(f"joint {k}", parent, link, axis=(k % 2, 1, 0), **options))
        parent = link
    return m


def results(m: lw.Mechanism) -> list[np.ndarray]:
    """Use every algorithm, for one and for many."""
    model = m.compile()
    x = np.linspace(0.1, 0.5, model.nv)
    found = []
    for q in (x, np.tile(x, (3, 1))):
        a = model.forward_dynamics(q, x, x)
        found += [a, model.inverse_dynamics(q, x, a), model.mass_matrix(q), model.bias_forces(q, x)]
        found += [model.gravity_forces(q), model.energy(q, x), model.momentum(q, x), model.center_of_mass(q)]
        found += [model.poses(q).array, model.velocities(q, x).array, model.reactions(q, x, x).array]
        found += [model.accelerations(q, x, x).array, model.jacobian(q, m_last(m))]
    return found


def m_last(m: lw.Mechanism) -> str:
    return list(m.bodies)[-1]


def test_an_edited_mass_or_another_link_compiles_nothing(monkeypatch):
    monkeypatch.setenv("LINKWORK_CACHE", "")
    before = results(chain([1.0]))

    def refuse(text: str) -> bytes:
        raise AssertionError("something was compiled")

    monkeypatch.setattr(store, "compile_text", refuse)
    heavier = results(chain([1.0 + math.pi / 10]))
    assert not np.allclose(before[2], heavier[2])  # and the edit counts
    results(chain([1.1, 2.2 + math.pi / 100]))
    results(chain([0.123 * k + 1.0 for k in range(17)], gravity=-1.62, damping=0.3, limits=(-2, 2)))


def test_few_links_of_one_build_move_by_the_same_code(monkeypatch):
    """Code for a whole mechanism has its zeros and ones in it, but no other of its numbers."""

    def motion(masses: list[float], strength: float) -> np.ndarray:
        m = chain(masses)
        last = m.bodies[m_last(m)]
        m.add(lw.Motor("drive", next(iter(m.joints)), lambda t, q, v: strength * lw.sin(t) - 0.1 * v))
        m.add(lw.Spring("spring", m.ground, last, on_parent=(0.3, 0.2, 3.0), stiffness=10 * strength))
        m.joints[f"joint {len(masses) - 1}"].at = (0.01 * strength, 0.2, 0.7)
        return m.compile().motion(np.full(len(masses), 0.3), np.full(len(masses), 0.2), 0.5)

    monkeypatch.setenv("LINKWORK_CACHE", "")
    before = motion([1.0 + math.e / 10, 2.0], 3.5)
    monkeypatch.setattr(store, "compile_text", lambda text: pytest.fail("something was compiled"))
    after = motion([1.0 + math.pi / 10, 2.5], 4.5)
    assert not np.allclose(before, after)


# what is refused


def test_a_place_is_given_once(rng):
    (mistake,) = made(lw.Revolute, "space", rng, at=(0, 0, 0), on_child=(0, 0, 0)).mistakes()
    assert mistake.startswith("at= and on_parent=/on_child= exclude each other")


@pytest.mark.parametrize("cls", [cls for cls in CATALOGUE if not cls.directed])
def test_a_joint_without_an_axis_takes_none(cls, rng):
    joint = made(cls, "space", rng, axis=(0, 0, 1))
    assert joint.mistakes() == [f"a {cls.__name__} joint has no axis; drop axis="]


def test_a_universal_joint_takes_both_axes_or_neither(rng):
    for alone in ("axis", "axis2"):
        (mistake,) = made(lw.Universal, "space", rng, **{alone: (1, 0, 0)}).mistakes()  # type: ignore[arg-type]
        assert "takes axis= and axis2= together" in mistake
    (mistake,) = made(lw.Universal, "space", rng, axis=(1, 0, 0), axis2=(1, 1, 0)).mistakes()
    assert "not square" in mistake


def test_a_joint_has_a_pose_as_drawn():
    class Ball(lw.Joint):
        coordinates, positions, quaternion = 3, 4, 0

        def motion(self, q: Any) -> spatial.Frame:
            return spatial.Frame(rotation=rotation.from_quaternion(q))

    class Inverse(lw.Joint):
        coordinates = 1

        def motion(self, q: Any) -> spatial.Frame:
            return spatial.Frame((1 / q[0], 0, 0))

    def compiled(joint: type[lw.Joint]) -> lw.Model:
        m = lw.Mechanism("odd")
        body = m.add(lw.Body("body", lw.Sphere(0.1), mass=1.0))
        m.add(joint("odd", m.ground, body, damping=0.1))
        return m.compile()

    with pytest.raises(ModelError, match=r"'odd'.*neutral\(\) gives the quaternion \[0.0, 0.0, 0.0, 0.0\]"):
        compiled(Ball)
    with pytest.raises(ModelError, match=r"joint 'odd' has no pose at \[0.0\]: float division by zero"):
        lw.simulate(compiled(Inverse), 1.0)


@EVERY_JOINT
def test_a_joint_of_no_options_has_no_mistakes(cls, space, rng):
    assert made(cls, space, rng).mistakes() == []


@pytest.mark.parametrize(
    ("space", "count", "words"),
    [
        ("space", 1.5, "coordinates is 1.5; give a whole number"),
        ("space", -1, "coordinates is -1; give a whole number"),
        ("space", 7, "coordinates is 7; a joint in space has 6 at most"),
        ("plane", 4, "coordinates is 4; a joint in the plane has 3 at most"),
    ],
)
def test_coordinates_are_counted_and_no_more_than_a_body_has(space, count, words, rng):
    class Odd(lw.Joint):
        coordinates = count

        def motion(self, q):
            return self.algebra.Frame()

    (mistake,) = made(Odd, space, rng, damping=1.0, limits=(0, 1)).mistakes()
    assert words in mistake


def test_a_misspelt_option_of_a_special_joint_is_refused():
    with pytest.raises(TypeError, match="dampin"):
        lw.Helical("screw", lw.Body("a"), lw.Body("b"), pitch=0.1, dampin=1)  # type: ignore[call-arg]


def test_the_options_of_joints_are_written_once():
    keywords = [p.name for p in inspect.signature(lw.Joint).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert sorted(JointOptions.__annotations__) == sorted(keywords)


def test_a_joint_that_does_not_say_how_it_moves_is_told_so(rng):
    class Lazy(lw.Joint):
        pass

    (mistake,) = made(Lazy, "space", rng).mistakes()
    assert mistake == "Lazy does not say how it moves; define motion(self, q) -> Frame"


def test_a_motion_that_is_no_frame_is_refused_by_name(rng):
    class Odd(lw.Joint):
        def motion(self, q):
            return q[0]

    with pytest.raises(ModelError, match=r"joint 'joint': motion\(q\) returned .*Expr; return a Frame"):
        JointFormulas().of(made(Odd, "space", rng), False)
    with pytest.raises(ModelError, match=r"motion\(q\) returned .*Frame; return a Frame.* of the plane"):
        JointFormulas().of(made(Knee, "plane", rng), False)


def test_an_if_in_a_motion_is_refused_with_its_line(rng):
    class Stop(lw.Joint):
        def motion(self, q):
            return lw.rotation_z(q[0] if q[0] > 0 else 0.0)

    line = Stop.motion.__code__.co_firstlineno + 1
    with pytest.raises(TraceError, match=rf"test_joints\.py:{line}: .*lw\.where"):
        JointFormulas().of(made(Stop, "space", rng), False)


# numbers per coordinate


def test_one_number_serves_all_coordinates_of_a_joint(rng):
    joint = made(
        lw.Spherical, "space", rng, damping=0.5, armature=(1.0, 2.0, 3.0), limits=[(-1, 1), (-2, 2), (-3, 3)]
    )
    np.testing.assert_array_equal(joint.per_coordinate("damping"), [0.5] * 3)
    np.testing.assert_array_equal(joint.per_coordinate("armature"), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(joint.limit_pairs(), [(-1, 1), (-2, 2), (-3, 3)])
    one = made(lw.Cylindrical, "space", rng, limits=(-1, 1))
    np.testing.assert_array_equal(one.limit_pairs(), [(-1, 1)] * 2)
    np.testing.assert_array_equal(made(lw.Revolute, "space", rng).limit_pairs(), [(-np.inf, np.inf)])


def test_none_is_no_limit_on_that_side(rng):
    joint = made(lw.Cylindrical, "space", rng, limits=[(None, 1), (-2, None)])
    np.testing.assert_array_equal(joint.limit_pairs(), [(-np.inf, 1), (-2, np.inf)])
    assert joint.mistakes() == []
    assert made(lw.Fixed, "space", rng, limits=(None, 1)).limit_pairs().shape == (0, 2)


def test_a_repr_names_the_joint_and_its_bodies(rng):
    assert repr(made(lw.Revolute, "space", rng)) == "Revolute('joint', 'parent', 'child')"
    assert repr(lw.Revolute("joint", "a", "b")) == "Revolute('joint', 'a', 'b')"  # type: ignore[arg-type]


def test_every_joint_is_offered_to_users():
    assert all(getattr(lw, joint.__name__) is joint for joint in CATALOGUE)
    assert all(joint.spaces <= {"space", "plane"} for joint in CATALOGUE)
