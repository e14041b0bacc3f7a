"""Constraints of one's own, and joints as constraints: phi and phi_q on plain poses."""

import mpmath
import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import ModelError
from linkwork.mechanism.joint_constraint import derived_gap
from linkwork.mechanism.joints import CATALOGUE
from linkwork.mechanism.mechanism_check import check


class PinInSlot(lw.Constraint):
    def phi(self, a, b):
        return [b.to_local(a.to_world(self.pin))[1]]


def scotch(space="plane"):
    m = lw.Mechanism("scotch", space=space)
    a, b = m.add(lw.Body("a")), m.add(lw.Body("b", position=(0.2, 0) if space == "plane" else (0.2, 0, 0)))
    m.add(lw.Revolute("A", m.ground, a))
    m.add(lw.Revolute("B", m.ground, b))
    return m, a, b


def test_a_constraint_says_only_phi():
    m, a, b = scotch()
    slot = m.add(PinInSlot("slot", a, b, pin=(0.1, 0)))
    check(m)
    assert slot.num_constraints == 1
    assert slot.bodies == (a, b)
    assert slot.phi((0, 0, np.pi / 2), (0.2, 0, np.pi))[0] == pytest.approx(-0.1)
    assert m.constraints == {"slot": slot}
    assert m["slot"] is slot
    assert "slot  PinInSlot, between a, b" in m.summary()


def test_a_copy_has_constraints_on_its_own_bodies():
    m, a, b = scotch()
    m.add(PinInSlot("slot", a, b, pin=(0.1, 0)))
    copied = m.copy()
    assert copied["slot"].bodies == (copied["a"], copied["b"])


def test_a_body_in_use_stays():
    m, a, b = scotch()
    slot = m.add(PinInSlot("slot", a, b, pin=(0.1, 0)))
    m.remove("A")
    with pytest.raises(ValueError, match="'a' is used by 'slot'"):
        m.remove(a)
    assert m.remove(slot) is slot
    assert "slot" not in m


def test_a_given_phi_q_is_compared_with_the_derived_one():
    class Level(lw.Constraint):
        def phi(self, a):
            return [a.position[1]]

        def phi_q(self, a):
            return [[0.0, self.slope, 0.0]]

    m, a, _ = scotch()
    m.add(Level("level", a, slope=1.0))
    check(m)
    m.add(Level("steep", a, slope=2.0))
    with pytest.raises(ModelError, match=r"constraint 'steep': phi_q\[0, 1\] is 2 where phi changes by 1"):
        check(m)


def test_mistakes_are_told_by_name():
    class Nothing(lw.Constraint):
        pass

    m, a, _ = scotch()
    m.add(Nothing("empty", a))
    m.add(PinInSlot("lost", a, lw.Body("stranger"), pin=(0, 0)))
    m.add(lw.Driver("tilt", (a, "z"), 1.0))
    m.add(lw.Driver("motor", "C", 1.0))
    with pytest.raises(ModelError) as error:
        check(m)
    text = str(error.value)
    assert "constraint 'empty': Nothing does not say what is zero" in text
    assert "constraint 'lost': body 'stranger' is not in this mechanism" in text
    assert (
        "driver 'tilt': ('a', 'z') cannot be driven; give one of ('a', 'x'), ('a', 'y'), ('a', 'angle')"
        in text
    )
    assert "driver 'motor': unknown joint 'C'" in text


PLACES = [(space, kind) for space in ("plane", "space") for kind in CATALOGUE if space in kind.spaces]


@pytest.mark.parametrize(("space", "kind"), PLACES, ids=lambda x: getattr(x, "__name__", x))
def test_the_equations_of_a_joint_are_those_derived_from_its_motion(space, kind):
    """Both are zero on the poses it allows, and span the same rows there."""
    generator = np.random.default_rng(3)
    m = lw.Mechanism("m", space=space)
    body = m.add(lw.Body("body"))
    joint = m.add(kind("joint", m.ground, body, **({"pitch": 0.3} if kind is lw.Helical else {})))
    X = joint.motion(generator.normal(scale=0.7, size=joint.nq).tolist())
    ground, there = (np.array(joint.algebra.pose_coordinates(x), float) for x in (joint.algebra.Frame(), X))
    assert np.abs(joint.phi(ground, there)).max(initial=0.0) < 1e-14
    assert np.abs(np.array(derived_gap(joint, X), float)).max(initial=0.0) < 1e-14
    rows = joint.phi_q(ground, there)
    assert len(rows) == joint.num_constraints

    class Derived(kind):
        gap = lw.Joint.gap

    derived = Derived("joint", m.ground, body, **({"pitch": 0.3} if kind is lw.Helical else {}))
    vars(derived)["space"] = space  # which adding it to a mechanism sets
    both = np.concatenate([rows, derived.phi_q(ground, there)])
    if both.size:
        assert np.linalg.matrix_rank(rows) == np.linalg.matrix_rank(both, tol=1e-10) == len(rows)


def random_pose(generator, size):
    return generator.normal(scale=0.4, size=size) + (0, 0, 0, 1, 0, 0, 0)[:size]


def numerical_jacobian(constraint, poses, *values):
    """Return phi_q by central differences of 60 digits."""
    with mpmath.workdps(60):
        flat = [mpmath.mpf(float(x)) for pose in (*poses, values) for x in pose]
        size, h = len(poses[0]), mpmath.mpf(10) ** -20

        def phi(numbers):
            parts = [numbers[k * size : (k + 1) * size] for k in range(len(poses))]
            return constraint.phi(*parts, *numbers[len(poses) * size :])

        columns = []
        for k in range(len(flat)):
            ahead, behind = (
                phi([x + (sign * h if i == k else 0) for i, x in enumerate(flat)]) for sign in (1, -1)
            )
            columns.append([float((a - b) / (2 * h)) for a, b in zip(ahead, behind, strict=True)])
    return np.array(columns).T


@pytest.mark.parametrize(("space", "kind"), PLACES, ids=lambda x: getattr(x, "__name__", x))
def test_phi_q_of_joints_is_exact(space, kind):
    generator = np.random.default_rng(5)
    m = lw.Mechanism("m", space=space)
    a, b = m.add(lw.Body("a")), m.add(lw.Body("b"))
    point = (0.1, 0.2, 0.3) if space == "space" else (0.1, 0.2)
    joint = m.add(kind("joint", a, b, at=point, **({"pitch": 0.3} if kind is lw.Helical else {})))
    poses = [random_pose(generator, joint.algebra.coordinates) for _ in "ab"]
    if joint.num_constraints:
        assert np.abs(joint.phi_q(*poses) - numerical_jacobian(joint, poses)).max() < 1e-12
    else:
        assert joint.phi_q(*poses).shape[0] == 0


def ellipse(s):
    return [1.1 * lw.cos(s), 0.8 * lw.sin(s)]


def helix(s):
    return [lw.cos(s), lw.sin(s), 0.1 * s]


def catalogue(m, a, b):
    """Return every constraint of the catalogue that exists in the space of m, and one driver of each sort."""
    plane = m.space == "plane"
    p, q, n = ((0.1, 0.2), (-0.3, 0.4), (1, 2)) if plane else ((0.1, 0.2, 0.3), (-0.3, 0.4, 0.1), (1, 2, -1))
    A, B = m.add(lw.Revolute("A", m.ground, a)), m.add(lw.Revolute("B", m.ground, b))
    S = m.add(lw.Prismatic("S", a, b))
    cam = {"on_parent": p, "on_child": q}
    yield lw.Distance("distance", a, b, 0.7, on_parent=p, on_child=q)
    yield lw.PointOnLine("line", a, b, axis=n, on_parent=p, on_child=q)
    yield lw.PointOnPlane("surface", a, b, normal=n, on_parent=p, on_child=q)
    yield lw.PointOnCurve("curve", a, b, ellipse if plane else helix, on_parent=p, on_child=q)
    yield lw.Cam("edge", a, b, ellipse, **cam)
    yield lw.Cam("roller", a, b, ellipse, radius=0.2, **cam)
    yield lw.Cam("flat", a, b, ellipse, face=n, **cam)
    yield lw.Pulley("pulley", a, b, over=[n, q], ratio=2.0, on_parent=p, on_child=q)
    yield lw.Absolute("pose", a)
    yield lw.Absolute("part", a, x=0.1, **({"angle": 0.2} if plane else {"z": 0.3}))
    for kind in ("external", "internal", "bevel", "belt", "crossed"):
        yield lw.Gear(kind, A, "B", teeth=(20, 30), kind=kind)
    yield lw.RackPinion("rack", A, S, 0.3)
    yield lw.Coupling("mimic", A, B, -2.0, 0.5)
    yield lw.Driver("hinge", A, 0.3)
    yield lw.Driver("place", (a, "y"), 0.3)
    if plane:
        yield lw.Driver("angle", (a, "angle"), 0.3)
    else:
        m.add(lw.Spherical("ball", a, b))
        yield lw.Driver("ball turn", ("ball", 2), 0.3)
        yield lw.Driver("turn", (a, "qy"), 0.3)


POINTS = "distance line surface curve edge roller flat pulley pose part"
GEARS = "external internal bevel belt crossed rack mimic"
DRIVERS = ("hinge", "place", "angle", "ball turn", "turn")


@pytest.mark.parametrize("space", ["plane", "space"])
@pytest.mark.parametrize("name", [*POINTS.split(), *GEARS.split(), *DRIVERS])
def test_phi_q_of_constraints_is_exact(space, name):
    generator = np.random.default_rng(7)
    m = lw.Mechanism("m", space=space)
    a, b = m.add(lw.Body("a")), m.add(lw.Body("b", position=(0.5, 0.2)))
    made = {c.name: c for c in catalogue(m, a, b)}
    if name not in made:
        assert (space, name) in {("space", "angle"), ("plane", "ball turn"), ("plane", "turn")}
        return
    constraint = m.add(made[name])
    poses = [random_pose(generator, constraint.algebra.coordinates) for _ in constraint.bodies]
    own = generator.normal(size=constraint.unknowns).tolist()
    wanted = numerical_jacobian(constraint, poses, *own)
    found = constraint.phi_q(*poses, *own)
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() < 1e-12
    assert constraint.num_constraints == len(wanted) - constraint.unknowns > 0


def test_every_constraint_of_the_catalogue_is_accepted():
    for space in ("plane", "space"):
        m = lw.Mechanism("m", space=space)
        a, b = m.add(lw.Body("a")), m.add(lw.Body("b", position=(0.5, 0.2, 0)))
        for constraint in catalogue(m, a, b):
            m.add(constraint)
        check(m)


def test_a_driver_of_several_coordinates_says_which():
    m = lw.Mechanism("m")
    a = m.add(lw.Body("a"))
    m.add(lw.Universal("U", m.ground, a))
    m.add(lw.Driver("motor", "U", 0.1))
    m.add(lw.Driver("push", a, 0.1))
    with pytest.raises(ModelError) as error:
        check(m)
    assert "driver 'motor': joint 'U' has 2 coordinates; say which, as in ('U', 0)" in str(error.value)
    assert "driver 'push': 'a' cannot be driven; give one of ('a', 'x'), ('a', 'y')" in str(error.value)


def test_an_attribute_that_own_equations_read_may_be_set_later():
    class PinInSlot(lw.Constraint):
        def phi(self, a, b):
            return [b.to_local(a.to_world(self.pin))[1]]

    m = lw.Mechanism("slot", space="plane")
    a, b = (
        m.add(lw.Body(name, lw.Inertia(1.0, (0, 0), 0.1), position=(0, y)))
        for name, y in (("a", 0.0), ("b", 0.2))
    )
    m.add(lw.Revolute("hinge", m.ground, a, at=(0, 0)))
    m.add(lw.Prismatic("guide", m.ground, b, axis=(1, 0)))
    slot = m.add(PinInSlot("slot", a, b))
    slot.pin = (0.3, 0.2)
    assert lw.simulate(m, 0.1).loop_gaps["slot"].max() < 1e-12
    with pytest.raises(AttributeError, match="has no pn to set to"):
        slot.pn = (0.3, 0.2)
