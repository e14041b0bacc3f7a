"""What is drawn of a mechanism."""

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.mechanism.joints import CATALOGUE
from linkwork.mechanism.placement import lifted
from linkwork.view.drawing import drawing, lifted_motions
from linkwork.view.glyph import glyphs
from linkwork.view.palette import PAPER
from linkwork.view.subject_of import drawing_of


def example(name):
    make = getattr(examples, name)
    return make(5) if name in ("chain", "four_bars") else make()


@pytest.mark.parametrize("name", examples.__all__)
def test_every_body_of_every_example_is_drawn(name):
    model = example(name).compile()
    drawn = drawing(model)
    assert set(model.body_names) <= {piece.body for piece in drawn.pieces}
    marked = {name for name, joint in model.joints.items() if not isinstance(joint, lw.Free)}
    drives = {each.name for each in (*model.mechanism.loads.values(), *model.mechanism.drivers.values())}
    assert marked <= {glyph.name for glyph in drawn.glyphs} <= marked | drives
    assert all(np.isfinite(piece.shell.corners).all() for piece in (*drawn.pieces, *drawn.glyphs))
    assert drawn.size > 0.0


@pytest.mark.parametrize("kind", CATALOGUE, ids=lambda kind: kind.__name__)
def test_every_kind_of_joint_has_its_mark(kind):
    marks = [tuple(part.scale) for part, _, _ in glyphs(kind.marks, ("z",), 0.1, 1.0, 0.0)]
    assert bool(marks) == (kind is not lw.Free)


def test_a_mesh_in_a_file_is_drawn_and_what_cannot_be_read_is_told(tmp_path):
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    rows = "".join(f"v {x} {y} {z}\n" for x, y, z in corners)
    (tmp_path / "part.obj").write_text(rows + "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    (tmp_path / "arm.urdf").write_text(
        """<robot name="arm"><link name="base"/>
        <link name="a"><visual><geometry><mesh filename="part.obj" scale="2 2 2"/></geometry></visual></link>
        <link name="b"><visual><geometry><mesh filename="lost.obj"/></geometry></visual></link>
        <joint name="one" type="fixed"><parent link="base"/><child link="a"/></joint>
        <joint name="two" type="fixed"><parent link="a"/><child link="b"/></joint></robot>"""
    )
    model = lw.load(tmp_path / "arm.urdf").compile()
    with pytest.warns(UserWarning, match=r"not drawn: .*lost.obj"):
        pieces = drawing(model).pieces
    (piece,) = [piece for piece in pieces if piece.body == "a"]
    assert np.max(piece.shell.corners) == pytest.approx(2.0, rel=0.01)  # its edges are bevelled


def test_a_body_without_shape_is_a_link_through_its_joints():
    m = lw.Mechanism("bars", space="plane")
    bar = m.add(lw.Body("bar", lw.Inertia(1.0, (0.5, 0), 0.1)))
    end = m.add(lw.Body("end", lw.Inertia(1.0, (0.0, 0), 0.1), position=(1, 0)))
    m.add(lw.Revolute("A", m.ground, bar, on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("B", bar, end, on_parent=(1, 0), on_child=(0, 0)))
    pieces = [piece for piece in drawing(m.compile()).pieces if piece.body == "bar"]
    corners = np.concatenate([p.shell.corners @ p.pose[:, :3].T + p.pose[:, 3] for p in pieces])
    assert corners[:, 0].min() < 0.0 < 1.0 < corners[:, 0].max()
    assert np.ptp(corners[:, 1]) < 0.1


def test_shapes_are_where_the_body_has_them():
    m = lw.Mechanism("one")
    m.add(lw.Body("block", lw.Box(1, 2, 3, position=(4, 5, 6), rotation=lw.rotation_z(0.3).R), mass=1.0))
    m.add(lw.Free("free", m.ground, m.bodies["block"]))
    (piece,) = drawing(m.compile()).pieces
    assert piece.shell.scale == pytest.approx((1, 2, 3), rel=0.01)
    np.testing.assert_allclose(piece.pose[:, 3], (4, 5, 6))
    np.testing.assert_allclose(piece.pose[:2, 0], (np.cos(0.3), np.sin(0.3)))


def test_joined_bodies_of_the_plane_lie_in_different_layers():
    drawn = drawing(examples.four_bar().compile())
    heights = {piece.body: piece.pose[2, 3] for piece in drawn.pieces}
    depth = max(np.ptp(piece.shell.corners[:, 2]) for piece in drawn.pieces if piece.body != "ground")
    for mark in drawn.joints:
        if "ground" not in (mark.parent, mark.child):
            assert abs(heights[mark.parent] - heights[mark.child]) > depth


def test_colours_of_a_file_are_kept():
    red = lw.geometry.Visual(shape=lw.Sphere(1.0), colour=(1.0, 0.0, 0.0, 0.5))
    m = lw.Mechanism("one")
    m.add(lw.Body("ball", lw.Inertia(1.0, (0, 0, 0), np.eye(3)), visuals=[red]))
    m.add(lw.Free("free", m.ground, m.bodies["ball"]))
    (piece,) = drawing(m.compile()).pieces
    assert piece.colour == (255, 0, 0)
    assert piece.opacity == 0.5


def test_shapes_and_outlines_are_drawn_as_they_are():
    for visual, count in ((lw.Box(1, 2, 3), 1), ([(0, 0), (1, 0), (1, 1)], 2)):
        m = lw.Mechanism("one")
        m.add(lw.Body("thing", lw.Inertia(1.0, (0, 0, 0), np.eye(3)), visuals=[visual]))
        m.add(lw.Free("free", m.ground, m.bodies["thing"]))
        pieces = drawing(m.compile()).pieces
        assert len(pieces) == count
        if count == 1:
            corners = pieces[0].shell.corners @ pieces[0].pose[:3, :3].T
            np.testing.assert_allclose(np.ptp(corners, axis=0), (1, 2, 3), rtol=0.01)


def test_the_plane_lies_in_space():
    pose = np.array([[0.0, -1.0, 2.0], [1.0, 0.0, 3.0]])
    np.testing.assert_array_equal(lifted(pose), [[0, -1, 0, 2], [1, 0, 0, 3], [0, 0, 1, 0]])
    np.testing.assert_array_equal(lifted_motions(np.array([1.0, 2.0, 3.0])), [0, 0, 1, 2, 3, 0])


def test_up_is_against_gravity():
    assert drawing(examples.cart_pole().compile()).up.tolist() == [0, 0, 1]
    assert drawing(examples.four_bar().compile()).up.tolist() == [0, 1, 0]
    m = examples.cart_pole()
    m.gravity = (0, 0, 0)
    assert drawing(m.compile()).up.tolist() == [0, 0, 1]


def test_the_shapes_of_ground_are_drawn_with_it():
    m = examples.cart_pole()
    before = drawing(m.compile())
    m.ground.add(lw.Plane(offset=-1), lw.Box(0.1, 0.1, 0.1), material=lw.Material.ice)
    drawn = drawing(m.compile())
    shapes = [piece for piece in drawn.pieces if piece.body == "ground"]
    assert [piece.shell.endless for piece in shapes] == [True, False]
    assert len(drawn.pieces) == len(before.pieces) + 2
    assert drawn.size == pytest.approx(before.size, rel=0.2)  # a plane does not count


def plate(x, y):
    return lw.Polygon([(-x / 2, -y / 2), (x / 2, -y / 2), (x / 2, y / 2), (-x / 2, y / 2)])


def stand_of(mechanism, joint):
    """Return the corners of what ground has under a joint."""
    return np.concatenate(
        [
            piece.shell.corners @ piece.pose[:, :3].T + piece.pose[:, 3]
            for piece in drawing(mechanism.compile()).glyphs
            if piece.name == joint and piece.body == "ground"
        ]
    )


@pytest.mark.parametrize("space", ["plane", "space"])
@pytest.mark.parametrize("hangs", [False, True])
def test_what_stands_has_its_stand_below_and_what_hangs_above(space, hangs):
    m = lw.Mechanism("pendulum", space=space)
    height = -0.5 if hangs else 0.5
    size, pivot, place, axis = (
        ((0.1, 1.0), (0.0, 0.0), (0.0, height), {})
        if space == "plane"
        else ((0.1, 0.1, 1.0), (0.0, 0.0, 0.0), (0.0, 0.0, height), {"axis": (0, 1, 0)})
    )
    shape = lw.Box(*size) if space == "space" else plate(*size)
    rod = m.add(lw.Body("rod", shape, mass=1.0, position=place))
    m.add(lw.Revolute("pin", m.ground, rod, at=pivot, **axis))
    along = stand_of(m, "pin")[:, 1 if space == "plane" else 2]
    assert np.sign(along.mean()) == (1.0 if hangs else -1.0)


def test_a_guide_lies_along_the_lower_side_of_its_slider():
    m = lw.Mechanism("slider", space="plane")
    block = m.add(lw.Body("block", plate(0.4, 0.2), mass=1.0, position=(0.0, 1.0)))
    m.add(lw.Prismatic("guide", m.ground, block, at=(0.0, 1.0), axis=(1, 0)))
    guide = stand_of(m, "guide")
    assert guide[:, 1].max() == pytest.approx(0.9, abs=0.01)
    assert guide[:, 0].min() < -0.2 < 0.2 < guide[:, 0].max()


def test_a_guide_of_a_recording_is_as_long_as_what_has_slid_in_it_needs():
    run = lw.simulate(examples.slider_crank(), 1.0, every=0.02)
    ground = [p for p in drawing_of(run).glyphs if p.name == "cylinder" and p.body == "ground"]
    guide = np.concatenate([p.shell.corners @ p.pose[:, :3].T + p.pose[:, 3] for p in ground])
    passed = run["piston"].position[:, 0]
    assert np.ptp(passed) > 0.1
    assert guide[:, 0].min() < passed.min() - 0.01
    assert guide[:, 0].max() > passed.max() + 0.01


@pytest.mark.parametrize("space", ["plane", "space"])
def test_ground_holds_springs_at_their_ends_and_behind_them(space):
    m = lw.Mechanism("spring", space=space)
    shape = lw.Box(0.1, 0.1, 0.1) if space == "space" else plate(0.1, 0.1)
    size = 3 if space == "space" else 2
    block = m.add(lw.Body("block", shape, mass=1.0))
    m.add(lw.Prismatic("slide", m.ground, block, axis=np.eye(size)[0]))
    m.add(lw.Spring("coil", m.ground, block, on_parent=np.eye(size)[0], stiffness=1.0, rest=1.0))
    held = stand_of(m, "coil")
    assert held[:, 0].min() == pytest.approx(1.0, abs=0.01)
    assert held[:, 0].max() > 1.002
    np.testing.assert_allclose(held[:, 1].mean(), 0.0, atol=0.02)


def test_a_motor_is_an_arrow_about_its_hinge_or_along_its_slide():
    m = examples.cart_pole()
    for joint in m.joints:
        m.add(lw.Motor(f"motor of {joint}", joint, 1.0))
    drawn = drawing(m.compile())
    rail, pin = (next(p for p in drawn.glyphs if p.name == f"motor of {joint}") for joint in m.joints)
    for piece, joint in ((rail, "rail"), (pin, "pin")):
        (mark,) = (mark for mark in drawn.joints if mark.name == joint)
        assert piece.body == mark.parent
        np.testing.assert_allclose(piece.pose[:, 3], mark.on_parent[:, 3])
        np.testing.assert_allclose(piece.pose[:, 2], mark.on_parent[:, :3] @ mark.axes[0])
    assert np.ptp(rail.shell.corners[:, 2]) > 3.0 * np.ptp(rail.shell.corners[:, 0])
    assert np.ptp(pin.shell.corners[:, 2]) < np.ptp(pin.shell.corners[:, 0])


def test_pins_of_the_plane_are_circles():
    drawn = drawing(examples.four_bar().compile())
    for joint in drawn.joints:
        dark, white = (piece for piece in drawn.glyphs if piece.name == joint.name and piece.body != "ground")
        assert white.colour == PAPER
        assert white.shell.scale[0] < dark.shell.scale[0]
        assert white.shell.scale[2] > dark.shell.scale[2]  # seen from both sides


def test_a_ball_that_hangs_far_from_its_hinge_is_drawn_with_a_string():
    m = examples.newtons_cradle(2)
    pieces = [piece for piece in drawing(m.compile()).pieces if piece.body == "ball 1"]
    assert len(pieces) == 2
    reach = np.concatenate([p.shell.corners @ p.pose[:, :3].T + p.pose[:, 3] for p in pieces])
    assert reach[:, 2].max() == pytest.approx(0.2, rel=0.02)  # up to the hinge


def test_a_plane_of_ground_is_the_floor_and_no_slab():
    from linkwork.view.ground_plane import ground_plane, level_ground

    level, slope = (drawing(make().compile()) for make in (examples.dominoes, examples.rolling_race))
    found = ground_plane(level)
    assert found.height == 0.0
    assert level_ground(level).piece is found.piece
    np.testing.assert_allclose(ground_plane(slope).normal @ (0, 0, 1), np.cos(np.radians(20.0)))
    assert level_ground(slope) is None
    assert ground_plane(drawing(examples.four_bar().compile())) is None
