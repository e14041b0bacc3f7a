"""Contacts of a run: where bodies touch, what they do to each other, and what follows for the rest."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.recording.derive import derive
from linkwork.view.subject_of import subject_of

G = 9.81


def crate(friction: float = 0.5, **options) -> lw.Mechanism:
    m = lw.Mechanism("crate", **options)
    size = (0.4, 0.4) if m.space == "plane" else (0, 0, 0.1)
    shape = lw.Box(0.2, 0.2, 0.2)
    m.add(lw.Body("crate", shape, mass=3.0, position=(0, 0.1) if len(size) == 2 else size))
    m.add(lw.Free("flight", m.ground, m["crate"]))
    m.ground.add(lw.Plane((0, 1) if m.space == "plane" else (0, 0, 1)))
    m.add(lw.Contact("contact", material=lw.Material(friction=friction)))
    return m


@pytest.fixture(scope="module")
def sliding() -> lw.Recording:
    model = crate(0.3).compile()
    return lw.simulate(model, 1.0, model.state(velocities={"flight": (0, 0, 0, 2.0, 0, 0)}), step=1 / 60)


def test_what_rests_is_borne(sliding) -> None:
    run = lw.simulate(crate(), 0.5, step=1 / 60)
    assert run["crate"].contact_force == pytest.approx(np.tile((0, 0, 3 * G), (31, 1)), abs=1e-6)
    assert np.abs(run["crate"].acceleration).max() < 1e-6
    contacts = run.contacts
    assert len(contacts) == 4 * 31
    assert set(contacts.bodies) == {("ground", "crate")}
    assert contacts.normal == pytest.approx(np.tile((0, 0, 1), (len(contacts), 1)))
    assert np.abs(contacts.depth).max() < 1e-5
    assert np.abs(contacts.slip).max() < 1e-6
    assert contacts.at(0.5).normal_force.sum() == pytest.approx(3 * G, rel=1e-5)


def test_what_slides_is_braked(sliding) -> None:
    moving = sliding.time < 2.0 / (0.3 * G) - 0.02
    force = sliding["crate"].contact_force[moving]
    assert force == pytest.approx(np.tile((-0.3 * 3 * G, 0, 3 * G), (len(force), 1)), abs=1e-6)
    slid = sliding.contacts.at(0.2)
    assert slid.slip == pytest.approx(np.tile(sliding["crate"].velocity[12], (4, 1)), abs=1e-3)
    assert sliding["flight"].acceleration[12, 3:] == pytest.approx((-0.3 * G, 0, 0), abs=1e-3)
    rests = sliding.time > 2.0 / (0.3 * G) + 0.02
    assert np.abs(sliding["crate"].contact_force[rests] - (0, 0, 3 * G)).max() < 1e-6


def test_rows_are_picked_by_body_time_and_number(sliding) -> None:
    contacts = sliding.contacts
    assert len(contacts.of("ground")) == len(contacts.of("crate")) == len(contacts)
    assert set(contacts.at(0.5).time) == {0.5}
    one = contacts[-1]
    assert one.bodies == ("ground", "crate")
    assert one.time == 1.0
    assert [each.depth for each in contacts.at(1.0)] == contacts.at(1.0).depth.tolist()
    assert "points of 1 pairs" in repr(contacts)
    with pytest.raises(KeyError, match="unknown body 'crat'; did you mean 'crate'"):
        contacts.of("crat")
    with pytest.raises(ValueError, match="contacts: t nan"):
        contacts.at(float("nan"))


def test_tables_curves_and_files_have_contact_forces(sliding, tmp_path) -> None:
    pandas = pytest.importorskip("pandas")
    table = sliding.to_dataframe("crate.contact_force")
    assert list(table.columns) == [f"crate.contact_force[{k}]" for k in range(3)]
    assert "crate.contact_force[2]" in sliding.to_dataframe().columns
    assert sliding.traces("crate.contact_force[2]")[0].unit == "N"
    listed = sliding.contacts.to_dataframe()
    assert isinstance(listed, pandas.DataFrame)
    assert list(listed.columns[:4]) == ["time", "a", "b", "point x"]
    sliding.save(tmp_path / "run.lwr")
    again = lw.load(tmp_path / "run.lwr")
    assert np.array_equal(again["crate"].contact_force, sliding["crate"].contact_force)
    for word in ("time", "pair", "point", "normal", "depth", "force", "slip"):
        assert np.array_equal(getattr(again.contacts, word), getattr(sliding.contacts, word))
    sliding.save(tmp_path / "run.csv")
    assert "crate.contact_force[2]" in (tmp_path / "run.csv").read_text().splitlines()[0]


def test_in_the_plane_vectors_have_two_numbers() -> None:
    run = lw.simulate(crate(space="plane"), 0.2, step=1 / 60)
    assert run["crate"].contact_force == pytest.approx(np.tile((0, 3 * G), (13, 1)), abs=1e-6)
    assert run.contacts.point.shape == (len(run.contacts), 2)
    assert set(run.contacts.point[:, 0].round(6)) == {-0.1, 0.1}


def test_a_joint_bears_what_contact_does_not() -> None:
    """A beam on a hinge and a step, by hand: forces and torques about the hinge are in balance."""
    m = lw.Mechanism("beam")
    beam = m.add(lw.Body("beam", lw.Box(1.0, 0.05, 0.05), mass=2.0, position=(0.5, 0, 0)))
    m.add(lw.Revolute("pin", m.ground, beam, at=(0, 0, 0), axis=(0, 1, 0)))
    m.ground.add(lw.Sphere(0.1, position=(0.8, 0, -0.125)))
    m.add(lw.Contact("step", (beam, "ground"), material=lw.Material(friction=0.0)))
    run = lw.simulate(m, 0.2, step=1 / 60)
    assert run["beam"].contact_force[-1] == pytest.approx((0, 0, 2 * G * 0.5 / 0.8), abs=1e-6)
    assert run["pin"].reaction.force[-1] == pytest.approx((0, 0, 2 * G * 0.3 / 0.8), abs=1e-6)
    assert abs(run["pin"].acceleration[-1]) < 1e-4


def test_a_linkage_that_leans_on_a_peg_is_in_balance() -> None:
    """Loops and contact together: what the ground bears, by both bearings and the peg, is the weight."""
    peg, reach = np.array((0.06, 0.02)), 0.02 + 0.005  # to the middle of the crank
    touching = np.arctan2(peg[1], peg[0]) + np.arcsin(reach / np.linalg.norm(peg))
    m = lw.examples.four_bar(angle=touching)
    m.ground.add(lw.Sphere(0.02, position=(*peg, 0)))
    m.add(lw.Contact("lean", ("crank", m.ground)))
    model = m.compile()
    state = np.array(0.0), model.q_drawn, np.zeros(model.nv)
    assert np.abs(derive("accelerations", model, *state)).max() < 1e-3
    bodies, joints = model.body_names, (*model.joint_names, *model.loop_names)
    force = derive("contact_forces", model, *state)[bodies.index("crank")]
    A, D = (derive("reactions", model, *state)[joints.index(name), 1:] for name in "AD")
    assert force[1] > 0.1
    assert A + D + force == pytest.approx((0, model.masses.sum() * G), abs=1e-4)


def test_without_contact_there_are_none() -> None:
    run = lw.simulate(lw.examples.cart_pole(), 0.1)
    with pytest.raises(lw.LinkworkError, match=r"'cart-pole': nothing meets .*add lw.Contact"):
        _ = run.contacts
    with pytest.raises(AttributeError, match=r"body 'pole': nothing meets"):
        _ = run["pole"].contact_force
    assert "contact_force" not in run["pole"].quantities


def test_a_step_by_step_simulation_has_them_too() -> None:
    sim = lw.Simulation(crate().compile(), step=1 / 60)
    for _ in range(3):
        sim.step(1 / 60)
    assert sim["crate"].contact_force == pytest.approx((0, 0, 3 * G), abs=1e-6)
    assert len(sim.recording.contacts.at(0.05)) == 4


def test_the_viewer_shows_forces_where_bodies_touch(sliding) -> None:
    subject = subject_of(sliding)
    points, forces = subject.contacts(subject.trajectory.at(0.2))
    assert subject.touching
    assert len(points) == 4
    assert np.abs(points[:, 2]).max() < 1e-6
    assert forces.sum(axis=0) == pytest.approx((-0.3 * 3 * G, 0, 3 * G), abs=1e-3)
    assert "crate.contact_force" in subject.channels
    assert not subject_of(lw.simulate(lw.examples.cart_pole(), 0.1)).touching


def on_slope(slope: float, **contact) -> lw.Mechanism:
    """Return a crate that gravity draws along x, too."""
    m = crate(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    m.remove("contact")
    m.add(lw.Contact("contact", **contact))
    return m


def stiffer(depth, rate, stiffness, power=1.5):
    return lw.max(stiffness * lw.max(depth, 0.0) ** power + 1e3 * rate, 0.0)


def felt(depth, rate, mass, time=0.01):
    return lw.max(2 * mass * (depth + rate * time) / time**2, 0.0)


PAD = lw.Material(friction=0.5, stiffness=1e5, damping=1e3)


@pytest.mark.parametrize("law", [None, stiffer, felt])
def test_forces_of_compliant_contacts_make_up_those_on_bodies(law) -> None:
    run = lw.simulate(on_slope(0.3, material=PAD, law=law), 1.0, every=0.1)
    weight = 3 * G * np.array((-np.sin(0.3), 0, np.cos(0.3)))
    assert run["crate"].contact_force[-1] == pytest.approx(weight, abs=0.02 * 3 * G)
    for k, t in enumerate(run.time[1:], start=1):
        of_body = run["crate"].contact_force[k]
        assert run.contacts.at(t).force.sum(axis=0) == pytest.approx(of_body, abs=1e-6 * 3 * G)
    assert np.abs(run["crate"].acceleration[-1]).max() < 0.3
    assert run.contacts.at(1.0).normal_force.min() > 0


def test_compliant_contacts_that_slide_are_rubbed() -> None:
    model = on_slope(0.0, material=PAD).compile()
    run = lw.simulate(model, 0.2, model.state(velocities={"flight": (0, 0, 0, 3, 0, 0)}), every=0.1)
    last = run.contacts.at(0.2)
    assert last.force[:, 0] == pytest.approx(-0.5 * last.normal_force, rel=1e-6)
    assert last.force.sum(axis=0) == pytest.approx(run["crate"].contact_force[-1], abs=1e-6)


def test_the_viewer_writes_the_values_of_forces(sliding) -> None:
    pytest.importorskip("viser")
    with sliding.show(open_browser=False, block=False) as viewer:
        viewer.switch("contact forces", True)
        viewer.seek(1.0)
        viewer._refresh()
        shown = viewer.overlays.switches["contact forces"]
        texts = [label.text for label in shown._labels if label.visible]
        sizes = sorted(np.linalg.norm(sliding.contacts.at(1.0).force, axis=1), reverse=True)
        assert texts == [f"{size:.3g} N" for size in sizes]
        assert shown._nodes[0].points.shape == (4, 2, 3)
