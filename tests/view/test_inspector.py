"""What the inspector tells of what is selected."""

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.mechanic.snapping import turned
from linkwork.view.inspector import described, sheet, turns
from linkwork.view.subject_of import subject_of
from linkwork.view.tree_panel import _rows


@pytest.fixture(scope="module")
def subject():
    return subject_of(lw.simulate(examples.slider_crank(), 0.2))


def rows(subject, name):
    title, kind, found = described(subject, name, subject.trajectory.at(0.1))
    return title, kind, {what: (numbers, unit, channel) for what, numbers, unit, channel in found}


def test_a_body_has_mass_pose_and_velocity_with_units(subject):
    name = subject.drawing.bodies[0]
    title, kind, found = rows(subject, name)
    assert (title, kind) == (name, "body")
    assert float(found["mass"][0]) == pytest.approx(subject.drawing.masses[0], rel=1e-5)
    assert [found[word][1] for word in ("mass", "inertia", "position", "velocity")] == [
        "kg",
        "kg m²",
        "m",
        "m/s",
    ]
    assert found["position"][2] == f"{name}.position"


def test_a_joint_has_value_speed_and_reaction(subject):
    name = subject.drawing.joints[0].name
    _title, kind, found = rows(subject, name)
    assert kind.endswith("joint")
    assert {"position", "velocity", "reaction force"} <= set(found)


def test_loads_are_in_the_tree_and_tell_what_they_were_given_and_what_they_do():
    m = examples.cart_pole()
    cart = m.bodies["cart"]
    m.add(lw.Spring("coil", m.ground, cart, on_parent=(1.0, 0, 0), stiffness=50.0, damping=2.0))
    m.add(lw.Motor("motor", "pin", lambda t, q, v: 0.5))
    m.joints["rail"].damping = 0.3
    subject = subject_of(lw.simulate(m, 0.2))
    named = {name: kind for _, name, kind, _ in _rows(subject.drawing)}
    assert (named["coil"], named["motor"]) == ("spring, ground – cart", "motor, pin")
    _, kind, found = rows(subject, "coil")
    assert kind == "spring"
    assert found["stiffness"][:2] == ("50", "N/m")
    assert found["damping"][:2] == ("2", "N s/m")
    place = subject.trajectory.at(0.1).poses[subject.drawing.bodies.index("cart"), :, 3]
    assert float(found["length"][0]) == pytest.approx(np.linalg.norm(place - (1.0, 0, 0)), rel=1e-4)
    assert found["force"][1] == "N"
    assert rows(subject, "motor")[2]["force"][:2] == ("0.5", "N m")
    assert rows(subject, "rail")[2]["damping"][:2] == ("0.3", "N s/m")


def test_nothing_selected_tells_of_the_whole(subject):
    title, _, found = rows(subject, None)
    assert title == subject.drawing.name
    assert found["bodies"][0] == str(len(subject.drawing.bodies))


def test_names_are_shown_and_not_run():
    text = sheet("<img src=x>", "<b>", [("<i>", "1", "m", "'><script>x</script>")])
    assert "<img" not in text
    assert "<script" not in text
    assert "<i>" not in text


def test_turns_are_the_angles_that_make_a_rotation():
    for angles in ((0.1, 0.2, 0.3), (-1.0, 1.2, 3.0), (0.0, np.pi / 2, 0.0), (0.4, -np.pi / 2, 0.0)):
        R = turned(*angles)
        assert np.allclose(turned(*turns(R)), R)


def test_of_a_mesh_its_size_and_whether_it_is_closed_are_told():
    whole = lw.Box(0.1, 0.2, 0.3).mesh()
    vertices, faces = whole.surface()
    for mesh, closed in ((whole, "yes"), (lw.Mesh(vertices, faces[1:], name="open part"), "no: ")):
        with lw.view.show(mesh, open_browser=False, block=False) as viewer:
            name = viewer.drawing.bodies[0]
            assert (name, viewer.drawing.name) == (mesh.name, mesh.name)
            _title, _kind, found = rows(viewer.subject, None)
            assert found == {k: v for k, v in rows(viewer.subject, name)[2].items() if k in found}
        assert found["size"][:2] == ("0.1000,  0.2000,  0.3000", "m")
        assert found["triangles"][0] == str(len(mesh.faces))
        assert found["closed"][0].startswith(closed)
        assert ("volume" in found) == (closed == "yes")
        assert "mass" not in found
