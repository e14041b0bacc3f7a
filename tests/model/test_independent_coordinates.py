"""Closed mechanisms in independent coordinates, and drives: against dense equations and closed forms."""

from dataclasses import dataclass
from math import cos, sin, sqrt

import numpy as np
import pytest
from mechanisms import SPACES, random_forces
from naive_loops import Closed, Drawn, random_closed, random_plane
from seeds import seeds
from test_gallery import GALLERY

import linkwork as lw
from linkwork.errors import AssemblyError, LinkworkError
from linkwork.model.loop_closing import moved_by


@dataclass
class Case:
    model: lw.Model
    oracle: Closed
    q: np.ndarray
    v: np.ndarray
    rng: np.random.Generator

    @property
    def names(self) -> tuple[str, ...]:
        return self.model.independent_joints(self.q)


def case(drawn: Drawn, seed: int) -> Case | None:
    """Return a closed mechanism that moves, away from singular positions."""
    model = drawn.mechanism.compile()
    oracle, q = Closed(drawn, model), drawn.positions(model)
    rng = np.random.default_rng(seed)
    v = oracle.closed_velocity(q, rng.normal(size=model.nv))
    well = oracle.margin(q) > 1e-3 and np.linalg.norm(v) > 1e-3
    return Case(model, oracle, q, v, rng) if well else None


def cases(seeds):
    for seed in seeds:
        for drawn in (*(random_closed(seed, space) for space in SPACES), random_plane(seed)[1]):
            if c := case(drawn, seed):
                yield c


def mixed_names(c: Case) -> list[str]:
    """Return independent coordinates of which one is that of a joint that closes a loop, if this can be."""
    names = list(c.names)
    for other in c.model.loop_coordinate_names:
        for k in range(len(names)):
            tried = [*names[:k], other, *names[k + 1 :]]
            try:
                B = c.model.velocity_map(c.q, tried)
            except LinkworkError:
                continue
            if np.abs(B).max() < 30.0:
                return tried
    return names


def speeds(c: Case, names: list[str], v: np.ndarray) -> np.ndarray:
    """Return the velocities of coordinates by name."""
    loops = c.model.loop_coordinates(c.q, v)
    every = dict(zip(c.model.coordinate_names, v, strict=True))
    every |= dict(
        zip(
            c.model.loop_coordinate_names, np.concatenate([x[1] for x in loops.values()] or [[]]), strict=True
        )
    )
    return np.array([every[name] for name in names])


def kinetic_energy(c: Case) -> float:
    return c.oracle.tree.kinetic_energy(c.q, c.v) + 0.5 * float(c.oracle.tree.armature @ c.v**2)


@seeds(8, 25)
def test_all_velocities_follow_from_independent_ones(seeds):
    met = mixed = 0
    for c in cases(seeds):
        J, _ = c.oracle.constraints(c.q, c.v)
        for names in (list(c.names), mixed_names(c)):
            B = c.model.velocity_map(c.q, names)
            assert np.abs(J @ B).max(initial=0.0) < 1e-8 * np.abs(B).max()
            assert B.shape[1] == c.model.nv - np.linalg.matrix_rank(J, tol=1e-7)
            y = speeds(c, names, c.v)
            assert np.allclose(B @ y, c.v, atol=1e-8 * (1 + np.abs(B).max()))
            mixed += bool({*names} - {*c.model.coordinate_names})
        met += 1
    assert met > 1.6 * len(seeds)
    assert mixed > 0.8 * len(seeds)


@seeds(8, 25)
def test_the_rate_of_the_map_is_its_derivative(seeds):
    for c in cases(seeds):
        for names in (list(c.names), mixed_names(c)):
            B = c.model.velocity_map(c.q, names)
            if np.abs(B).max() > 30.0:
                continue
            y = speeds(c, names, c.v)
            h = 1e-5
            sides = [c.model.assemble(moved_by(c.model, c.q, side * h * c.v)) for side in (1, -1)]
            rate = (
                (c.model.velocity_map(sides[0], names) - c.model.velocity_map(sides[1], names)) @ y / (2 * h)
            )
            found = c.model.velocity_map_rate(c.q, c.v, names)
            assert np.allclose(found, rate, atol=1e-4 * (1 + np.abs(found).max()))


@seeds(8, 25)
def test_equations_in_independent_coordinates_are_those_of_the_dense_ones(seeds):
    for c in cases(seeds):
        names = mixed_names(c)
        M = c.model.mass_matrix(c.q, independent=names)
        h = c.model.bias_forces(c.q, c.v, independent=names)
        B, rate = c.model.velocity_map(c.q, names), c.model.velocity_map_rate(c.q, c.v, names)
        tau = c.rng.normal(size=c.model.nv) * 5
        a = B @ np.linalg.solve(M, B.T @ tau - h) + rate
        expected = c.oracle.forward_dynamics(c.q, c.v, tau)
        assert np.allclose(a, expected, atol=1e-7 * (np.abs(expected).max() + np.abs(B).max()))
        assert np.array_equal(M, M.T)
        y = speeds(c, names, c.v)
        assert 0.5 * y @ M @ y == pytest.approx(kinetic_energy(c), rel=1e-7)
        still = c.model.bias_forces(c.q, 0 * c.v, independent=names)
        assert np.allclose(
            c.model.gravity_forces(c.q, independent=names), still, atol=1e-9 + 1e-9 * abs(still).max()
        )


@seeds(8, 25)
def test_energies_of_closed_mechanisms_are_those_of_their_bodies(seeds):
    for c in cases(seeds):
        kinetic, potential = kinetic_energy(c), c.oracle.tree.potential_energy(c.q)
        assert c.model.kinetic_energy(c.q, c.v) == pytest.approx(kinetic, rel=1e-9)
        assert c.model.energy(c.q, c.v) == pytest.approx(kinetic + potential, rel=1e-9)


@seeds(8, 25)
def test_drives_produce_the_acceleration_and_are_the_smallest(seeds):
    several = 0
    for c in cases(seeds):
        names = mixed_names(c)
        forces = random_forces(c.oracle.drawn.mechanism, c.rng)
        others = [
            name for name in (*c.model.coordinate_names, *c.model.loop_coordinate_names) if name not in names
        ]
        for driven in (names, [*names, *others[:2]]):
            a = c.model.velocity_map(c.q, names) @ c.rng.normal(size=len(names))
            a += c.model.velocity_map_rate(c.q, c.v, names)
            f = c.model.inverse_dynamics(c.q, c.v, a, driven=driven, forces=forces)
            tau = c.model.generalized_forces(c.q, f, driven)
            size = 1.0 + np.abs(a).max() + np.abs(tau).max()
            again = c.oracle.forward_dynamics(c.q, c.v, tau, forces)
            assert np.allclose(again, a, atol=1e-6 * size)
            # virtual work: the drives' power is that of the generalised forces
            assert f @ speeds(c, driven, c.v) == pytest.approx(tau @ c.v, abs=1e-8 * size)
            # any other choice, with whatever the loops bear, is larger
            J, _ = c.oracle.constraints(c.q, c.v)
            E = np.column_stack([speeds(c, driven, x) for x in np.eye(c.model.nv)])
            idle = np.linalg.svd(np.vstack([E, J]).T)[2]
            rank = np.linalg.matrix_rank(np.vstack([E, J]), tol=1e-7)
            change = idle[rank:, : len(driven)]
            assert np.abs(change @ f).max(initial=0.0) < 1e-6 * (1 + np.abs(f).max())
            several += len(driven) > len(names)
    assert several > 0.8 * len(seeds)


@pytest.mark.parametrize("name", ["four-bar", "Bricard", "steam engine", "delta robot", "Stewart platform"])
def test_batches_are_rows_of_single_calls(name):
    model = GALLERY[name][0]().compile()
    rng = np.random.default_rng(0)
    q = np.array([model.assemble(model.q_drawn + 0.01 * rng.normal(size=model.nq)) for _ in range(4)])
    names = model.independent_joints(q)
    B = model.velocity_map(q, names)
    v = (B @ rng.normal(size=(4, len(names), 1)))[..., 0]
    a = (B @ rng.normal(size=(4, len(names), 1)))[..., 0] + model.velocity_map_rate(q, v, names)
    for whole, one in (
        (B, lambda k: model.velocity_map(q[k], names)),
        (model.velocity_map_rate(q, v, names), lambda k: model.velocity_map_rate(q[k], v[k], names)),
        (model.mass_matrix(q, independent=names), lambda k: model.mass_matrix(q[k], independent=names)),
        (
            model.bias_forces(q, v, independent=names),
            lambda k: model.bias_forces(q[k], v[k], independent=names),
        ),
        (model.gravity_forces(q, independent=names), lambda k: model.gravity_forces(q[k], independent=names)),
        (
            model.inverse_dynamics(q, v, a, driven=names),
            lambda k: model.inverse_dynamics(q[k], v[k], a[k], driven=names),
        ),
        (model.generalized_forces(q, v[:, : len(names)], names), None),
    ):
        assert whole.shape[0] == 4
        for k in range(4 if one else 0):
            assert np.allclose(whole[k], one(k), rtol=1e-9, atol=1e-11)
    out = np.zeros((4, len(names), len(names)))
    assert model.mass_matrix(q, independent=names, out=out) is out
    assert np.array_equal(out, model.mass_matrix(q, independent=names))


# closed forms


def test_a_slider_crank_in_closed_form():
    """Crank angle x from the piston's line: piston at r cos x + sqrt(l^2 - r^2 sin^2 x), by hand."""
    r, l = 0.1, 0.3
    model = lw.examples.slider_crank(r, l).compile()
    bodies = {name: model.mechanism.bodies[name] for name in ("crank", "rod", "piston")}
    crank, rod, piston = (bodies[name].inertia for name in ("crank", "rod", "piston"))
    g = -model.gravity[1]
    for angle, speed, gain in ((0.4, 3.0, -2.0), (2.0, -7.0, 5.0), (4.0, 1.0, 0.0)):
        state = model.state(bearing=angle - np.pi / 3, velocities={"bearing": speed})
        # positions of the centres and the rod's angle as functions of x, and two derivatives by hand
        s, c = sin(angle), cos(angle)
        k = sqrt(l**2 - r**2 * s**2)
        k1 = -(r**2) * s * c / k
        k2 = -(r**2) * (c * c - s * s) / k - k1**2 / k
        to_mass = np.linalg.norm(rod.com) / l  # along the rod
        u = np.linalg.norm(crank.com)
        paths = [  # mass, first and second derivative of its centre
            (crank.mass, (-u * s, u * c), (-u * c, -u * s)),
            (
                rod.mass,
                (-r * s + to_mass * k1, (1 - to_mass) * r * c),
                (-r * c + to_mass * k2, -(1 - to_mass) * r * s),
            ),
            (piston.mass, (-r * s + k1, 0.0), (-r * c + k2, 0.0)),
        ]
        turn1 = -r * c / k  # of the rod, from sin(rod) = -r s / l
        turn2 = r * s / k + r * c * k1 / k**2
        M = sum(m * np.dot(p1, p1) for m, p1, _ in paths) + float(crank.tensor) + float(rod.tensor) * turn1**2
        slope = sum(m * np.dot(p1, p2) for m, p1, p2 in paths) + float(rod.tensor) * turn1 * turn2
        weight = g * sum(m * p1[1] for m, p1, _ in paths)
        found = model.mass_matrix(state.q, independent=["bearing"])
        assert found[0, 0] == pytest.approx(M, rel=1e-10)
        bias = model.bias_forces(state.q, state.v, independent=["bearing"])
        assert bias[0] == pytest.approx(slope * speed**2 + weight, rel=1e-9)
        a = model.velocity_map(state.q, ["bearing"]) @ [gain]
        a = a + model.velocity_map_rate(state.q, state.v, ["bearing"])
        (torque,) = model.inverse_dynamics(state.q, state.v, a, driven=["bearing"])
        assert torque == pytest.approx(M * gain + slope * speed**2 + weight, rel=1e-9)
        (push,) = model.inverse_dynamics(state.q, state.v, a, driven=["cylinder"])
        assert push * (-r * s + k1) == pytest.approx(torque, rel=1e-9)  # virtual work


def test_a_parallelogram_is_a_pendulum_of_cranks_and_a_coupler_that_does_not_turn():
    model = lw.examples.four_bar(0.2, 0.5, 0.2, 0.5, angle=0.7, mass=2.0).compile()
    bodies = model.mechanism.bodies
    crank = bodies["crank"].inertia
    about_pin = 2.0 * crank.com @ crank.com + float(crank.tensor)
    q = model.assemble()
    assert model.mass_matrix(q, independent=["A"])[0, 0] == pytest.approx(
        2 * about_pin + 2.0 * 0.2**2, rel=1e-12
    )
    weight = 9.81 * cos(0.7) * (2.0 * 0.1 * 2 + 2.0 * 0.2)
    assert model.gravity_forces(q, independent=["A"])[0] == pytest.approx(weight, rel=1e-9)


@pytest.mark.parametrize("name", GALLERY)
def test_the_gallery_is_moved_by_its_independent_joints(name):
    make, (_, _, _, freedoms) = GALLERY[name]
    model = make().compile()
    q = model.assemble()
    names = model.independent_joints(q)
    assert len(names) == freedoms
    B = model.velocity_map(q)
    assert np.abs(model.constraint_velocity(np.tile(q, (freedoms, 1)), B.T.copy())).max() < 1e-10
    rng = np.random.default_rng(1)
    v = B @ rng.normal(size=freedoms)
    a = model.forward_dynamics(q, v, rng.normal(size=model.nv))
    f = model.inverse_dynamics(q, v, a, driven=names)
    again = model.forward_dynamics(q, v, model.generalized_forces(q, f, names))
    assert np.allclose(again, a, atol=1e-7 * np.abs(a).max())


def test_a_tree_is_its_own_independent_coordinates():
    model = lw.examples.acrobat().compile()
    q, v = model.q_drawn, np.linspace(-1, 1, model.nv)
    assert model.independent_joints() == model.coordinate_names
    assert np.allclose(
        model.mass_matrix(q, independent=model.coordinate_names), model.mass_matrix(q), atol=1e-12
    )
    tau = model.inverse_dynamics(q, v, v)
    assert np.allclose(model.inverse_dynamics(q, v, v, driven=model.joint_names), tau, atol=1e-9)
    with pytest.raises(LinkworkError, match="cannot produce"):
        model.inverse_dynamics(q, v, v, driven=["neck"])


# refused


def test_what_cannot_be_is_said_by_name():
    model = lw.examples.slider_crank().compile()
    top = model.state(bearing=-np.pi / 3)
    state = model.state(bearing=0.2, velocities={"bearing": 3.0})
    a = model.velocity_map_rate(state.q, state.v, ["bearing"])
    with pytest.raises(LinkworkError, match=r"'cylinder': at a dead point.*choose 'bearing'"):
        model.velocity_map(top.q, ["cylinder"])
    turning = model.velocity_map(top.q, ["bearing"])[:, 0]
    with pytest.raises(LinkworkError, match=r"drives of 'cylinder' cannot produce.*'bearing'.*dead point"):
        model.inverse_dynamics(top.q, top.v, turning, driven=["cylinder"])
    with pytest.raises(LinkworkError, match=r"2 velocities.*has 1 freedom at q; choose 'bearing'"):
        model.mass_matrix(state.q, independent=["bearing", "cylinder"])
    with pytest.raises(LinkworkError, match="drives of no joint cannot produce"):
        model.inverse_dynamics(state.q, state.v, a, driven=[])
    with pytest.raises(
        AssemblyError, match=r"acceleration given opens joint 'wrist pin' by .*velocity_map_rate"
    ):
        model.inverse_dynamics(state.q, state.v, a + [1.0, 0.0, 0.0], driven=["bearing"])
    with pytest.raises(AssemblyError, match=r"velocity given opens joint 'wrist pin'.*closed_velocity"):
        model.inverse_dynamics(state.q, state.v + [1.0, 0.0, 0.0], a, driven=["bearing"])
    with pytest.raises(AssemblyError, match=r"position given opens joint 'wrist pin'.*assemble"):
        model.inverse_dynamics(state.q + [0.1, 0.0, 0.0], state.v, a, driven=["bearing"])
    with pytest.raises(ValueError, match=r"driven: unknown joint 'bearings'; did you mean 'bearing'"):
        model.inverse_dynamics(state.q, state.v, a, driven=["bearings"])
    with pytest.raises(ValueError, match=r"'bearing' is given twice"):
        model.inverse_dynamics(state.q, state.v, a, driven=["bearing", "bearing"])
    flat = lw.examples.four_bar(0.1, 0.3, 0.1, 0.3).compile()
    two = np.array([flat.q_drawn, flat.assemble([-np.pi / 3, np.pi / 3, -np.pi / 3])])
    with pytest.raises(LinkworkError, match=r"has 1 freedoms in some of these positions and 2 in others"):
        flat.independent_joints(two)
    with pytest.raises(ValueError, match="q"):
        model.velocity_map([np.nan, 0.0, 0.0])
