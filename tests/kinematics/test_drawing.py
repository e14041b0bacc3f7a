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


def test_an_animation_traces_points(tmp_path):
    motion = lw.kinematics(four_bar(), np.linspace(0, 6, 5))
    moving = motion.animate({"coupler": (0.15, 0.1)})
    moving.save(tmp_path / "bar.gif", writer="pillow", fps=5)
    assert (tmp_path / "bar.gif").stat().st_size > 1000
    figure = motion.plot("rocker", "C.reaction.force")
    assert len(figure.axes) == 2
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
