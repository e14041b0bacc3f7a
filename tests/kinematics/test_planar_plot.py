"""Drawings and sensitivities."""

import numpy as np
import pytest

import linkwork as lw

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def four_bar(**lengths):
    m = lw.examples.four_bar(**lengths)
    m.add(lw.Driver("motor", "A", lambda t: t))
    return m


def test_a_mechanism_is_drawn_with_its_joints():
    m = four_bar()
    axes = m.plot()
    assert [text.get_text() for text in axes.texts] == ["A", "B", "C", "D"]
    (x,), (y,) = axes.lines[-2].get_data()  # joint C
    assert np.allclose((x, y), m["rocker"].rotation @ (0.22, 0) + m["rocker"].position)
    matplotlib.pyplot.close("all")


def test_a_body_may_carry_a_drawing():
    m = lw.Mechanism("m", space="plane")
    body = m.add(lw.Body("flag", position=(1, 0), visuals=[np.array([(0, 0), (1, 0), (1, 1), (0, 0)])]))
    m.add(lw.Revolute("A", m.ground, body))
    (line, *_) = [line for line in m.plot().lines if len(line.get_xdata()) == 4]
    assert np.allclose(line.get_xydata(), [(1, 0), (2, 0), (2, 1), (1, 0)])
    matplotlib.pyplot.close("all")


def drawn_points(axes):
    """Return all corners of what is drawn in axes."""
    lines = [line.get_xydata() for line in axes.lines]
    fills = [patch.get_path().vertices for patch in axes.patches]
    return np.concatenate([x for x in (*lines, *fills) if len(x)])


def test_shapes_are_drawn_filled_with_their_outlines():
    m = lw.Mechanism("m", space="plane")
    corners = np.array([(0, 0), (0.4, 0), (0.5, 0.2), (0.2, 0.3)])
    plate = m.add(lw.Body("plate", lw.Polygon(corners), density=1.0, position=(1, 0), rotation=np.pi / 2))
    m.add(lw.Revolute("A", m.ground, plate))
    axes = m.plot()
    (outline,) = axes.collections
    wanted = np.array([(1 - y, x) for x, y in corners])
    found = np.array(outline.get_segments()).reshape(-1, 2)
    assert {tuple(p) for p in found.round(9)} == {tuple(p) for p in wanted.round(9)}
    assert len(outline.get_segments()) == 4
    matplotlib.pyplot.close("all")


def test_a_mesh_in_space_shows_its_silhouette():
    m = lw.Mechanism("m")
    ball = m.add(lw.Body("ball", visuals=[lw.Sphere(0.3).mesh()], position=(0, 0, 1)))
    m.add(lw.Prismatic("lift", m.ground, ball))
    segments = np.array(m.plot(view="xz").collections[0].get_segments())
    assert np.abs(np.linalg.norm(segments - (0, 1), axis=-1) - 0.3).max() < 0.01
    matplotlib.pyplot.close("all")


def test_the_outline_of_an_image_is_a_drawing():
    disc = np.hypot(*np.mgrid[-1:1:101j, -1:1:101j]) < 0.5
    (outline,) = lw.image_outline(disc, 0.2)
    assert np.abs(np.linalg.norm(outline, axis=1) - 0.05).max() < 0.002
    upper = np.zeros((10, 10, 4), np.uint8)
    upper[:5, :, 3] = 255  # rows go down, and y up
    (half,) = lw.image_outline(upper, 1.0)
    assert half[:, 1].min() == pytest.approx(0.0, abs=0.06)
    assert half[:, 1].max() == pytest.approx(0.5, abs=0.06)
    with pytest.raises(ValueError, match="image_outline: an image of shape"):
        lw.image_outline([1, 2, 3])
    m = lw.Mechanism("m", space="plane")
    m.add(lw.Revolute("A", m.ground, m.add(lw.Body("disc", visuals=lw.image_outline(disc, 0.2)))))
    assert drawn_points(m.plot())[:, 0].max() == pytest.approx(0.05, abs=0.002)
    matplotlib.pyplot.close("all")


def test_constraints_are_drawn():
    m = lw.Mechanism("m", space="plane")
    a, b = m.add(lw.Body("a")), m.add(lw.Body("b", position=(1, 0)))
    m.add(lw.Revolute("A", m.ground, a))
    m.add(lw.Revolute("B", m.ground, b))
    m.add(lw.Distance("rod", a, b, on_parent=(0.2, 0.1), on_child=(0, 0.3)))
    m.add(lw.Gear("gear", "A", "B", 3.0))
    m.add(lw.Pulley("rope", a, b, over=[(0, 2), (1, 2)]))
    m.add(lw.PointOnLine("guide", a, b))
    m.add(lw.Cam("cam", a, b, lambda s: [0.3 * lw.cos(s), 0.2 * lw.sin(s)], radius=0.1))
    m.add(lw.PointOnCurve("wire", a, b, lambda s: [s, s * s]))
    curves = [line.get_xydata() for line in m.plot().lines]
    assert any(np.allclose(curve, [(0.2, 0.1), (1, 0.3)]) for curve in curves if len(curve) == 2)
    assert any(np.allclose(curve, [(0, 0), (0, 2), (1, 2), (1, 0)]) for curve in curves if len(curve) == 4)
    (roller,) = (curve for curve in curves if len(curve) == 49)
    assert np.linalg.norm(roller[:-1] - roller[:-1].mean(axis=0), axis=1).mean() == pytest.approx(0.1)
    wheels = [
        curve for curve in curves if len(curve) in (81, 241)
    ]  # a third as many teeth on one as on the other
    for wheel, pitch in zip(wheels, (0.75, 0.25), strict=True):
        radius = np.linalg.norm(wheel[:-1] - wheel[:-1].mean(axis=0), axis=1)
        assert radius.min() < pitch < radius.max()
        assert np.ptp(radius) < 0.06
    assert sum(len(curve) == 97 for curve in curves) == 2
    matplotlib.pyplot.close("all")


def test_an_animation_has_room_for_all_that_moves():
    moving = lw.kinematics(four_bar(), np.linspace(0, 6, 13)).animate({"coupler": [(0.15, 0.1), (0.3, 0)]})
    axes = moving._fig.axes[0]
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    for k in range(13):
        moving._func(k)
        x, y = drawn_points(axes).T
        assert x0 < x.min() < x.max() < x1
        assert y0 < y.min() < y.max() < y1
    moving._draw_was_started = True
    matplotlib.pyplot.close("all")


def test_an_animation_traces_points(tmp_path):
    motion = lw.kinematics(four_bar(), np.linspace(0, 6, 5))
    moving = motion.animate({"coupler": (0.15, 0.1)})
    moving.save(tmp_path / "bar.gif", writer="pillow", fps=5)
    assert (tmp_path / "bar.gif").stat().st_size > 1000
    figure = motion.plot("rocker", "C.reaction.force")
    assert len(figure.axes) == 3  # angle, position, force
    assert "<svg" in motion._repr_html_()
    matplotlib.pyplot.close("all")


def test_the_derivative_of_a_coupler_point_by_a_link_length():
    """Against differences of motions of changed mechanisms."""

    def built(rod):
        m = lw.Mechanism("four-bar", space="plane")
        crank, coupler, rocker = (m.add(lw.Body(name)) for name in ("crank", "rod", "rocker"))
        m.add(lw.Revolute("A", m.ground, crank, on_parent=(0, 0), on_child=(0, 0)))
        m.add(lw.Revolute("B", crank, coupler, on_parent=(0.1, 0), on_child=(0, 0)))
        m.add(lw.Revolute("C", coupler, rocker, on_parent=(rod, 0), on_child=(0.22, 0)))
        m.add(lw.Revolute("D", m.ground, rocker, on_parent=(0.2, 0), on_child=(0, 0)))
        m.add(lw.Driver("motor", "A", lambda t: t))
        m.assemble(branch={"rocker": 1.0})
        return lw.kinematics(m, np.linspace(0, 6, 7))

    step = 1e-6
    point = (0.15, 0.1)
    wanted = (built(0.3 + step)["rod"].trace(point) - built(0.3 - step)["rod"].trace(point)) / (2 * step)
    found = lw.sensitivity(built(0.3), ("C", "on_parent", 0))
    assert np.abs(found.trace("rod", point) - wanted).max() < 1e-8
    assert np.abs(found["crank"]).max() < 1e-12


def test_the_derivative_by_a_number_of_a_constraint():
    def built(length):
        m = lw.Mechanism("rod", space="plane")
        crank, slider = m.add(lw.Body("crank")), m.add(lw.Body("slider", position=(0.5, 0)))
        m.add(lw.Revolute("A", m.ground, crank))
        m.add(lw.Prismatic("S", m.ground, slider, axis=(1, 0)))
        m.add(lw.Distance("rod", crank, slider, length, on_parent=(0.1, 0)))
        m.add(lw.Driver("motor", "A", lambda t: t))
        return lw.kinematics(m, [0.3, 1.0, 2.5])

    found = lw.sensitivity(built(0.4), ("rod", "length"))["slider"][:, 0]
    t = np.array([0.3, 1.0, 2.5])
    assert found == pytest.approx(0.4 / np.sqrt(0.16 - (0.1 * np.sin(t)) ** 2), abs=1e-12)
    with pytest.raises(ValueError, match="'rod' has no number 'colour'"):
        lw.sensitivity(built(0.4), ("rod", "colour"))


def test_the_shapes_of_ground_are_drawn_and_a_plane_takes_no_room():
    m = lw.Mechanism("m", space="plane")
    m.add(lw.Body("ball", lw.Sphere(0.1), mass=1, position=(0, 0.5)))
    m.ground.add(lw.Box(0.2, 0.2, 0.2), material=lw.Material.ice)
    m.ground.add(lw.Plane((0, 1)))
    m.add(lw.Contact("all"))
    axes = m.plot()
    points = np.concatenate([np.concatenate(c.get_segments()) for c in axes.collections if c.get_segments()])
    assert points[:, 0].max() > 4.9  # of the line that is drawn of a plane
    assert axes.get_xlim()[1] < 0.3
    assert (np.abs(points - (0.1, -0.1)).max(axis=1) < 1e-12).any()  # a corner of the box
    matplotlib.pyplot.close("all")
