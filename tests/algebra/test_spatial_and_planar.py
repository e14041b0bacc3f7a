"""Every verb of the spatial and the planar algebra, on every kind of number, against dense matrices.

The matrices are those of Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 2. The plane is part of
space: its matrices are the rows and columns of the spatial ones that turn about z and move along x and y.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import sympy
from scipy.spatial.transform import Rotation

from linkwork.algebra import planar, spatial
from linkwork.algebra.dense import inverse_positive
from linkwork.algebra.number import is_one, is_zero
from linkwork.algebra.vector import Symmetric, Vector
from linkwork.trace.expression import Graph

BOTH = pytest.mark.parametrize("algebra", [spatial, planar], ids=["space", "plane"])
TYPES = ("Point", "Motion", "Force", "Frame", "RigidInertia", "ArticulatedInertia")

# dense matrices


def array(x: Any) -> np.ndarray:
    return np.array(x, dtype=object)


def skew(a) -> np.ndarray:
    x, y, z = a
    return array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def inverse(A: np.ndarray) -> np.ndarray:
    return array(mp.inverse(mp.matrix(A.tolist())).tolist())


def in_space(H: np.ndarray) -> np.ndarray:
    """Return a homogeneous matrix of the plane as one of space."""
    if len(H) == 4:
        return H
    (a, b, x), (c, d, y), _ = H
    return array([[a, b, 0, x], [c, d, 0, y], [0, 0, 1, 0], [0, 0, 0, 1]])


def part(A: np.ndarray, plane: bool) -> np.ndarray:
    """Return the part of a spatial matrix or vector that is of the plane."""
    keep = [2, 3, 4]
    if not plane:
        return A
    return A[np.ix_(keep, keep)] if A.ndim == 2 else A[keep]


def motion_matrix(H: np.ndarray) -> np.ndarray:
    """Return X with (motion from outside) = X (motion from inside): [[R, 0], [[p]x R, R]]."""
    R, p = in_space(H)[:3, :3], in_space(H)[:3, 3]
    return part(np.block([[R, np.zeros((3, 3), int)], [skew(p) @ R, R]]), len(H) == 3)


def force_matrix(H: np.ndarray) -> np.ndarray:
    return inverse(motion_matrix(H)).T


def crm(m: np.ndarray) -> np.ndarray:
    """Return the matrix of the cross product of motions: [[w x, 0], [v x, w x]]."""
    full = m if len(m) == 6 else array([0, 0, *m, 0])
    w, v = skew(full[:3]), skew(full[3:])
    return part(np.block([[w, np.zeros((3, 3), int)], [v, w]]), len(m) == 3)


def crf(m: np.ndarray) -> np.ndarray:
    return -crm(m).T


def hat(m: np.ndarray) -> np.ndarray:
    """Return the matrix of a motion that H changes by: H' = H hat."""
    if len(m) == 3:
        return array([[0, -m[0], m[1]], [m[0], 0, m[2]], [0, 0, 0]])
    return np.block([[skew(m[:3]), m[3:, None]], [np.zeros((1, 4), int)]])


def rigid_matrix(mass, moment, tensor: np.ndarray) -> np.ndarray:
    """Return [[I, [h]x], [[h]x^T, m 1]]."""
    plane = len(moment) == 2
    h = skew([*moment, 0] if plane else moment)
    I = array(np.diag(np.array([0, 0, tensor], object))) if plane else tensor
    return part(np.block([[I, h], [h.T, array(np.diag([mass] * 3))]]), plane)


def dense(thing: Any) -> np.ndarray:
    """Return a thing of the algebra as the dense matrix or vector of the book."""
    if isinstance(thing, spatial.Frame | planar.Frame):
        n = 3 if isinstance(thing, spatial.Frame) else 2
        rows = array(thing.scalars()).reshape(n, n + 1)
        return np.vstack([rows, array([[0] * n + [1]])])
    if isinstance(thing, spatial.RigidInertia):
        return rigid_matrix(thing.m, thing.h, array(thing.I.full()))
    if isinstance(thing, planar.RigidInertia):
        return rigid_matrix(thing.m, thing.h, thing.I)
    if isinstance(thing, spatial.ArticulatedInertia | planar.ArticulatedInertia):
        space = isinstance(thing, spatial.ArticulatedInertia)
        I = array(thing.I.full()) if space else array([[thing.I]])
        H = array(thing.H) if space else array([thing.H])
        return np.block([[I, H], [H.T, array(thing.M.full())]])
    if hasattr(thing, "scalars"):
        return array(thing.scalars())
    return array(thing)


# random things of fifty digits


def draw(rng: np.random.Generator, n: int) -> list:
    return [mp.mpf(a) + mp.mpf(b) * mp.mpf("1e-17") for a, b in rng.normal(size=(n, 2))]


def scalars_of(kind: str, algebra: ModuleType, rng: np.random.Generator) -> list:
    """Return the numbers of a random thing, one that can be: a turn is orthogonal, an inertia positive."""
    n = algebra.dimension
    if kind == "Number":
        return draw(rng, 1)
    if kind == "Frame" and algebra is planar:
        (angle,), (x, y) = draw(rng, 1), draw(rng, 2)
        c, s = mp.cos(angle), mp.sin(angle)
        return [c, -s, x, s, c, y]
    if kind == "Frame":
        q = draw(rng, 4)
        return list(spatial.Frame(draw(rng, 3), q).scalars())
    if kind == "RigidInertia":
        mass, com = abs(draw(rng, 1)[0]) + 1, draw(rng, n)
        half = array(draw(rng, n * n)).reshape(n, n)
        tensor = half @ half.T if n == 3 else (half @ half.T)[0, 0]
        return list(algebra.RigidInertia.about_center(mass, com, tensor).scalars())
    if kind == "ArticulatedInertia":
        m = algebra.freedoms
        half = array(draw(rng, m * m)).reshape(m, m)
        A = half @ half.T + np.eye(m, dtype=int)
        k = algebra.angular
        I, M = (Symmetric.of(B.tolist()) if len(B) > 1 else B.ravel() for B in (A[:k, :k], A[k:, k:]))
        return [*I, *A[:k, k:].ravel(), *M]
    return draw(rng, getattr(algebra, kind).size)


def thing(kind: str, algebra: ModuleType, x: Any) -> Any:
    if kind == "Number":
        return x[0]
    return getattr(algebra, kind).from_scalars(x)


def articulated_without(algebra: ModuleType, A: Any, S: list) -> Any:
    """Return what is felt when S is free, with the steps of the articulated-body algorithm."""
    U = [A @ s for s in S]
    D = inverse_positive([[s.dot(u) for u in U] for s in S])
    UD = [sum((u * d for u, d in zip(U, row, strict=True)), algebra.Force.zero()) for row in D]
    return A.without(S, U, UD, [0.0] * len(S))


def dense_without(A: np.ndarray, S: np.ndarray) -> np.ndarray:
    U = A @ S
    return A - U @ inverse(S.T @ U) @ U.T


@dataclass(frozen=True)
class Case:
    """A verb: what it takes, how it is said in the algebra, and what it is in dense matrices."""

    takes: str
    verb: Callable[..., Any]  # of the algebra and the things
    matrices: Callable[..., Any]  # of the same things as matrices


def _linear(t: np.ndarray) -> int:
    """Return where the linear part of a motion or force begins."""
    return 3 if len(t) == 6 else 1


CASES = {
    # frames
    "a frame in a frame": Case("Frame Frame", lambda a, X, Y: X @ Y, lambda X, Y: X @ Y),
    "a frame seen from a frame": Case("Frame Frame", lambda a, X, Y: X.local(Y), lambda X, Y: inverse(X) @ Y),
    "the inverse frame": Case("Frame", lambda a, X: X.inverse, inverse),
    "a point": Case("Frame Point", lambda a, X, p: X @ p, lambda X, p: (X @ [*p, 1])[:-1]),
    "a point from inside": Case(
        "Frame Point", lambda a, X, p: X.local(p), lambda X, p: (inverse(X) @ [*p, 1])[:-1]
    ),
    "turned, then moved": Case("Frame", lambda a, X: X.offset @ X.axes, lambda X: X),
    "the turn alone": Case("Frame Point", lambda a, X, p: X.axes @ p, lambda X, p: X[: len(p), : len(p)] @ p),
    "the move alone": Case("Frame Point", lambda a, X, p: X.offset @ p, lambda X, p: X[:-1, -1] + p),
    "moved by a step": Case(
        "Frame Point Point", lambda a, X, s, p: X.moved(s) @ p, lambda X, s, p: (X @ [*p, 1])[:-1] + s
    ),
    "switched on in part": Case(
        "Frame Number",
        lambda a, X, k: X.switched(k),
        lambda X, k: X * k + np.eye(len(X), dtype=int) * (1 - k),
    ),
    "the motion of a frame whose entries change": Case(
        "Frame Motion",
        lambda a, X, m: X.twist(a.Frame.from_scalars((dense(X) @ hat(dense(m)))[:-1].ravel())),
        lambda X, m: m,
    ),
    # motions and forces through frames
    "a motion from outside": Case("Frame Motion", lambda a, X, m: X @ m, lambda X, m: motion_matrix(X) @ m),
    "a motion from inside": Case(
        "Frame Motion", lambda a, X, m: X.local(m), lambda X, m: inverse(motion_matrix(X)) @ m
    ),
    "a force from outside": Case("Frame Force", lambda a, X, f: X @ f, lambda X, f: force_matrix(X) @ f),
    "a force from inside": Case(
        "Frame Force", lambda a, X, f: X.local(f), lambda X, f: motion_matrix(X).T @ f
    ),
    "through two frames at once": Case(
        "Frame Frame Motion",
        lambda a, X, Y, m: (X @ Y) @ m,
        lambda X, Y, m: motion_matrix(X) @ motion_matrix(Y) @ m,
    ),
    "power is the same from outside": Case(
        "Frame Motion Force", lambda a, X, m, f: (X @ m).dot(X @ f), lambda X, m, f: m @ f
    ),
    "power is the same from inside": Case(
        "Frame Motion Force", lambda a, X, m, f: X.local(f).dot(X.local(m)), lambda X, m, f: m @ f
    ),
    # among motions and forces
    "power": Case("Motion Force", lambda a, m, f: m.dot(f), lambda m, f: m @ f),
    "power, force first": Case("Motion Force", lambda a, m, f: f.dot(m), lambda m, f: m @ f),
    "motion cross motion": Case("Motion Motion", lambda a, v, m: v.cross(m), lambda v, m: crm(v) @ m),
    "motion cross force": Case("Motion Force", lambda a, v, f: v.cross_force(f), lambda v, f: crf(v) @ f),
    "sum of motions": Case("Motion Motion", lambda a, u, v: u + v, lambda u, v: u + v),
    "difference of motions": Case("Motion Motion", lambda a, u, v: u - v, lambda u, v: u - v),
    "the opposite motion": Case("Motion", lambda a, v: -v, lambda v: -v),
    "a motion times a number": Case("Motion Number", lambda a, v, k: v * k, lambda v, k: v * k),
    "a number times a motion": Case("Motion Number", lambda a, v, k: k * v, lambda v, k: v * k),
    "sum of forces": Case("Force Force", lambda a, f, g: f + g, lambda f, g: f + g),
    "difference of forces": Case("Force Force", lambda a, f, g: f - g, lambda f, g: f - g),
    "the opposite force": Case("Force", lambda a, f: -f, lambda f: -f),
    "a force times a number": Case("Force Number", lambda a, f, k: f * k, lambda f, k: f * k),
    "a number times a force": Case("Force Number", lambda a, f, k: k * f, lambda f, k: f * k),
    "velocity of a point": Case(
        "Motion Point", lambda a, m, p: m.at(p), lambda m, p: (hat(m) @ [*p, 1])[:-1]
    ),
    "classical acceleration of the origin": Case(
        "Motion Motion",
        lambda a, dv, v: dv.classical(v),
        lambda dv, v: array([*dv[: _linear(dv)], *(hat(dv) + hat(v) @ hat(v))[:-1, -1]]),
    ),
    "a force at a point": Case(
        "Point Point",
        lambda a, f, p: a.Force.at_point(f, p),
        lambda f, p: part(
            array([*np.cross([*p, 0][:3], [*f, 0][:3]), *[*f, 0][:3]]),
            len(f) == 2,
        ),
    ),
    "a force about another point": Case(
        "Force Point",
        lambda a, f, p: f.about(p),
        lambda f, p: (
            motion_matrix(np.block([[np.eye(len(p), dtype=int), p[:, None]], [array([0] * len(p) + [1])]])).T
            @ f
        ),
    ),
    "uniform acceleration": Case(
        "Point",
        lambda a, g: a.uniform_acceleration(g),
        lambda g: array([0] * (3 if len(g) == 3 else 1) + list(g)),
    ),
    # inertia
    "momentum of a rigid body": Case("RigidInertia Motion", lambda a, I, m: I @ m, lambda I, m: I @ m),
    "sum of rigid bodies": Case("RigidInertia RigidInertia", lambda a, I, J: I + J, lambda I, J: I + J),
    "a rigid body as an articulated one": Case("RigidInertia", lambda a, I: I.articulated(), lambda I: I),
    "a rigid body from outside": Case(
        "Frame RigidInertia",
        lambda a, X, I: X @ I,
        lambda X, I: force_matrix(X) @ I @ inverse(motion_matrix(X)),
    ),
    "kinetic energy is the same from outside": Case(
        "Frame RigidInertia Motion",
        lambda a, X, I, m: (X @ m).dot((X @ I) @ (X @ m)),
        lambda X, I, m: m @ I @ m,
    ),
    "momentum of an articulated body": Case(
        "ArticulatedInertia Motion", lambda a, A, m: A @ m, lambda A, m: A @ m
    ),
    "sum of articulated bodies": Case(
        "ArticulatedInertia ArticulatedInertia", lambda a, A, B: A + B, lambda A, B: A + B
    ),
    "an articulated body from outside": Case(
        "Frame ArticulatedInertia",
        lambda a, X, A: X @ A,
        lambda X, A: force_matrix(X) @ A @ inverse(motion_matrix(X)),
    ),
    "an articulated body free along a motion": Case(
        "ArticulatedInertia Motion",
        lambda a, A, s: articulated_without(a, A, [s]),
        lambda A, s: dense_without(A, s[:, None]),
    ),
    "an articulated body free along two motions": Case(
        "ArticulatedInertia Motion",
        lambda a, A, s: articulated_without(a, A, [s, a.units()[-1]]),
        lambda A, s: dense_without(A, np.column_stack([s, array(np.eye(len(A), dtype=int))[:, -1]])),
    ),
    "an articulated body free to turn": Case(
        "ArticulatedInertia",
        lambda a, A: articulated_without(a, A, a.units()[:1]),
        lambda A: dense_without(A, array(np.eye(len(A), dtype=int))[:, :1]),
    ),
    "an articulated body free to slide backwards": Case(
        "ArticulatedInertia",
        lambda a, A: articulated_without(a, A, [-a.units()[-1]]),
        lambda A: dense_without(A, array(np.eye(len(A), dtype=int))[:, -1:]),
    ),
    # moves of a joint
    "a turn about the axis": Case(
        "Number Point",
        lambda a, q, p: a.turn(q) @ p,
        lambda q, p: array(
            [p[0] * mp.cos(q) - p[1] * mp.sin(q), p[0] * mp.sin(q) + p[1] * mp.cos(q), *p[2:]]
        ),
    ),
    "a slide along the axis": Case(
        "Number Point",
        lambda a, q, p: a.slide(q) @ p,
        lambda q, p: p + (array([0, 0, q]) if len(p) == 3 else array([q, 0])),
    ),
    "a translation": Case("Point Point", lambda a, s, p: a.translation(*s) @ p, lambda s, p: s + p),
    **{
        f"the numbers of a {kind} and back": Case(
            kind, lambda a, x, kind=kind: getattr(a, kind).from_scalars(x.scalars()), lambda x: x
        )
        for kind in TYPES
    },
}


@BOTH
@pytest.mark.parametrize("name", CASES)
def test_every_verb_is_that_of_dense_matrices(numbers, algebra, name):
    case = CASES[name]
    kinds = case.takes.split()
    rng = np.random.default_rng(len(name))
    values = [scalars_of(kind, algebra, rng) for kind in kinds]
    ends = np.cumsum([0, *map(len, values)])

    def formula(*x):
        things = [thing(kind, algebra, x[a:b]) for kind, a, b in zip(kinds, ends, ends[1:], strict=False)]
        return dense(case.verb(algebra, *things))

    matrices = [dense(thing(kind, algebra, x)) for kind, x in zip(kinds, values, strict=True)]
    matrices = [m.item() if m.ndim == 0 else m for m in matrices]
    numbers.check(formula, [x for group in values for x in group], case.matrices(*matrices))


@BOTH
def test_an_inertia_is_given_about_the_centre_of_mass(numbers, algebra):
    rng = np.random.default_rng(5)
    n = algebra.dimension
    mass, com, half = draw(rng, 1)[0] ** 2 + 1, draw(rng, n), array(draw(rng, 9)).reshape(3, 3)
    tensor = half @ half.T
    c = skew([*com, 0][:3])
    about_origin = tensor + mass * c @ c.T

    def formula(m, *x):
        I = array(x[n:]).reshape(3, 3).tolist() if n == 3 else x[-1]
        return dense(algebra.RigidInertia.about_center(m, x[:n], I))

    expected = rigid_matrix(mass, mass * array(com), about_origin if n == 3 else about_origin[2, 2])
    numbers.check(formula, [mass, *com, *tensor.ravel()], expected)


@pytest.mark.parametrize("letter", "xyz")
def test_frames_turned_about_the_axes_of_space(numbers, letter):
    H = array(np.eye(4, dtype=int))
    angle = mp.mpf("0.7")
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[letter]
    H[i, i] = H[j, j] = mp.cos(angle)
    H[j, i], H[i, j] = mp.sin(angle), -mp.sin(angle)
    numbers.check(lambda q: dense(getattr(spatial, f"rotation_{letter}")(q)), [angle], H)


# the two algebras are one


def public(thing: Any) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


ONLY_THERE = {"quaternion", "angle", "turned", "turned_back", "euler", "from_euler"}
ONLY_THERE |= {"axis_angle", "from_axis_angle", "rotation_vector", "from_rotation_vector"}


@pytest.mark.parametrize("kind", TYPES)
def test_the_plane_has_the_verbs_of_space(kind):
    there, here = public(getattr(spatial, kind)), public(getattr(planar, kind))
    fields = {"R", "c", "s"}
    assert (there ^ here) <= ONLY_THERE | fields


@BOTH
def test_sizes_say_how_many_numbers_a_thing_has(algebra):
    rng = np.random.default_rng(0)
    for kind in TYPES:
        assert (
            len(thing(kind, algebra, scalars_of(kind, algebra, rng)).scalars()) == getattr(algebra, kind).size
        )
    assert len(algebra.units()) == algebra.freedoms == algebra.Motion.size
    np.testing.assert_array_equal([unit.scalars() for unit in algebra.units()], np.eye(algebra.freedoms))
    np.testing.assert_array_equal(
        algebra.slide(2.0) @ algebra.Point([0.0] * algebra.dimension),
        [0.0, 0.0, 2.0] if algebra.dimension == 3 else [2.0, 0.0],
    )


@BOTH
def test_nothing_is_structurally_nothing(algebra):
    for kind in ("Motion", "Force", "RigidInertia"):
        assert all(map(is_zero, getattr(algebra, kind).zero().scalars()))
    assert all(is_zero(x) or is_one(x) for x in algebra.Frame().scalars())
    np.testing.assert_array_equal(dense(algebra.Frame()).astype(float), np.eye(algebra.dimension + 1))


# structural zeros


@pytest.mark.parametrize("number", ["traced", "sympy"])
@BOTH
def test_structural_zeros_stay_zero(algebra, number):
    q, p = Graph().symbols("qp") if number == "traced" else sympy.symbols("q p", real=True)
    X = algebra.turn(q) @ algebra.slide(p)
    n = algebra.dimension
    zeros = [is_zero(x) for x in X.scalars()]
    # in space: the turn leaves z alone, and the slide along z leaves x and y
    assert zeros == ([False] * 6 if n == 2 else [False, False, True, True] * 2 + [True, True, False, False])
    turning, sliding = algebra.units()[algebra.angular - 1], algebra.units()[-1 if n == 3 else 1]
    along = X @ turning if n == 3 else X @ sliding  # the axis of the joint: unchanged by its own motion
    expected = turning if n == 3 else None
    if expected is not None:
        assert along.scalars() == expected.scalars()
    assert [is_zero(x) for x in turning.cross(turning).scalars()] == [True] * algebra.freedoms
    body = algebra.RigidInertia(p, [0.0] * n, [q, 0.0, 0.0, q, 0.0, q] if n == 3 else q)
    momentum = body @ sliding
    assert sum(not is_zero(x) for x in momentum.scalars()) == 1
    assert sum(not is_zero(x) for x in body.articulated().scalars()) == (6 if n == 3 else 3)


@pytest.mark.parametrize("k", range(6))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_nothing_is_felt_along_a_free_unit_motion_at_all(k, sign):
    rng = np.random.default_rng(k)
    A = thing(
        "ArticulatedInertia", spatial, [float(x) for x in scalars_of("ArticulatedInertia", spatial, rng)]
    )
    free = dense(articulated_without(spatial, A, [spatial.units()[k] * sign]))
    assert all(x == 0.0 for x in free[k])
    assert all(x == 0.0 for x in free[:, k])
    others = np.delete(np.delete(free, k, 0), k, 1).astype(float)
    assert np.linalg.eigvalsh(others).min() > 0.0


def test_the_rotor_of_a_drive_is_felt_along_a_unit_motion():
    rng = np.random.default_rng(0)
    A = thing(
        "ArticulatedInertia", spatial, [float(x) for x in scalars_of("ArticulatedInertia", spatial, rng)]
    )
    s, rotor = spatial.units()[0], 0.5
    U = A @ s
    felt = dense(A.without([s], [U], [U * (1.0 / (s.dot(U) + rotor))], [rotor])).astype(float)
    full = dense(A).astype(float)
    expected = full - np.outer(full[0], full[0]) / (full[0, 0] + rotor)
    np.testing.assert_allclose(felt, expected, atol=1e-13)
    assert felt[0, 0] > 0.01


# as mathematics


def test_a_planar_turn_by_a_sum_is_two_turns():
    a, b = sympy.symbols("a b", real=True)
    two, one = (planar.turn(a) @ planar.turn(b)).scalars(), planar.turn(a + b).scalars()
    assert all(sympy.simplify(x - y).equals(0) for x, y in zip(two, one, strict=True))


@BOTH
def test_a_frame_times_its_inverse_is_the_identity_for_symbols_too(algebra):
    q, p = sympy.symbols("q p", real=True)
    X = algebra.turn(q) @ algebra.translation(*[p, 2 * p, 3 * p][: algebra.dimension])
    product = sympy.Matrix(dense(X @ X.inverse).tolist())
    assert sympy.simplify(sympy.nsimplify(product)) == sympy.eye(algebra.dimension + 1)


@BOTH
def test_the_motion_of_a_turning_frame_is_its_rate_about_the_axis(algebra):
    q, rate = sympy.symbols("q rate", real=True)
    X = algebra.turn(q)
    changing = algebra.Frame.from_scalars([sympy.diff(x, q) * rate for x in X.scalars()])
    motion = [sympy.simplify(x) for x in X.twist(changing).scalars()]
    expected = [0] * algebra.freedoms
    expected[algebra.angular - 1] = rate
    assert [sympy.simplify(x - y).equals(0) for x, y in zip(motion, expected, strict=True)] == [True] * len(
        motion
    )


# the forms a user meets


def test_a_frame_in_space_takes_a_turn_in_every_form():
    turn = Rotation.from_euler("xyz", [0.3, -0.7, 1.1])
    forms = [turn, turn.as_matrix(), turn.as_matrix().tolist(), turn.as_quat(scalar_first=True).tolist()]
    for form in forms:
        X = spatial.Frame((1.0, 2.0, 3.0), form)
        np.testing.assert_allclose(X.rotation, turn.as_matrix(), atol=1e-15)
        np.testing.assert_allclose(X.quaternion, turn.as_quat(canonical=True, scalar_first=True), atol=1e-15)
        np.testing.assert_array_equal(X.position, (1.0, 2.0, 3.0))


def test_a_frame_in_the_plane_takes_an_angle_or_a_matrix():
    c, s = np.cos(0.4), np.sin(0.4)
    for form in (0.4, [[c, -s], [s, c]], np.array([[c, -s], [s, c]])):
        X = planar.Frame((1.0, 2.0), form)
        np.testing.assert_allclose(X.rotation, [[c, -s], [s, c]], atol=1e-16)
        assert abs(X.angle - 0.4) < 1e-15
        np.testing.assert_array_equal(X.position, (1.0, 2.0))


def test_motions_and_forces_give_their_parts_as_arrays():
    m, f = spatial.Motion((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)), spatial.Force((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
    for x in (m.angular, f.torque):
        np.testing.assert_array_equal(x, (1, 2, 3))
    for x in (m.linear, f.force):
        np.testing.assert_array_equal(x, (4, 5, 6))
    for x in (m, f):
        np.testing.assert_array_equal(np.asarray(x), (1, 2, 3, 4, 5, 6))
    m, f = planar.Motion(1.0, (2.0, 3.0)), planar.Force(1.0, (2.0, 3.0))
    assert m.angular == f.torque == 1.0
    for x in (m.linear, f.force):
        np.testing.assert_array_equal(x, (2, 3))
    for x in (m, f):
        np.testing.assert_array_equal(np.asarray(x, np.float32), (1, 2, 3))


@BOTH
def test_components_that_are_arrays_are_many_things_at_once(algebra):
    rng = np.random.default_rng(2)
    scalars = [[float(x) for x in scalars_of("Frame", algebra, rng)] for _ in range(5)]
    motions = rng.normal(size=(5, algebra.freedoms))
    many = algebra.Frame.from_scalars(np.array(scalars).T)
    n = algebra.dimension
    assert many.rotation.shape == (5, n, n)
    assert many.position.shape == (5, n)
    moved = np.asarray(many @ algebra.Motion.from_scalars(motions.T))
    for k in range(5):
        one = algebra.Frame.from_scalars(scalars[k])
        np.testing.assert_array_equal(many.rotation[k], one.rotation)
        np.testing.assert_allclose(
            moved[k], np.asarray(one @ algebra.Motion.from_scalars(motions[k])), atol=1e-15
        )


def test_a_point_may_be_any_sequence():
    X = spatial.rotation_z(0.5)
    for form in ((1.0, 2.0, 3.0), [1.0, 2.0, 3.0], np.array([1.0, 2.0, 3.0]), Vector((1.0, 2.0, 3.0))):
        np.testing.assert_allclose(X @ form, X.rotation @ [1.0, 2.0, 3.0], atol=1e-16)
        np.testing.assert_allclose(X.local(form), X.rotation.T @ [1.0, 2.0, 3.0], atol=1e-16)


@BOTH
def test_a_repr_says_the_numbers(algebra):
    n = algebra.dimension
    assert "position=(1.0, 2.0" in repr(algebra.translation(*[1.0, 2.0, 3.0][:n]))
    assert "linear=(1.0" in repr(algebra.uniform_acceleration([1.0, 2.0, 3.0][:n]))
    assert "force=(1.0" in repr(algebra.Force.at_point([1.0, 2.0, 3.0][:n], [0.0] * n))
