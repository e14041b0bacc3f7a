"""What constraints and loads look like is said once, and drawn alike in plots and on pages."""

import numpy as np
import pytest
from everything import held

import linkwork as lw
from linkwork.mechanism.sketch import attachments, sketches
from linkwork.view.constraint_drawing import outlines, rods, sketch_lines
from linkwork.view.driven_drawing import drawing_of_driven

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


class Slot(lw.Constraint):
    """A pin in a slot, drawn as the slot."""

    def phi(self, a, b):
        return [b.to_local(a.to_world((0.1, 0.0)))[1]]

    def sketch(self, size):
        return [lw.Line((self.on[1], [(-0.2, 0.0), (0.3, 0.0)]))]


class Rope(lw.Load):
    """Pulls the origins of two bodies together."""

    def act(self, t, a, b):
        pull = b.position - a.position
        a.push(pull)
        b.push(-pull)
        return lw.norm(pull)

    def sketch(self, size):
        return [lw.Line((self.on[0], (0, 0)), (self.on[1], (0, 0)))]


def slotted():
    m = lw.Mechanism("quick return", space="plane")
    crank = m.add(lw.Body("crank", lw.Inertia(1.0, (0, 0), 0.1)))
    lever = m.add(lw.Body("lever", lw.Inertia(1.0, (0.2, 0), 0.05), position=(0, -0.3), rotation=1.2))
    m.add(lw.Revolute("A", m.ground, crank, at=(0, 0)))
    m.add(lw.Revolute("B", m.ground, lever, at=(0, -0.3)))
    m.add(Slot("slot", crank, lever))
    m.add(Rope("rope", crank, lever))
    return m


def plotted_lines(m):
    curves = [line.get_xydata() for line in m.plot().lines]
    matplotlib.pyplot.close("all")
    return curves


@pytest.mark.parametrize("space", ["plane", "space"])
def test_every_line_is_in_the_plot_and_on_the_page(space):
    m = held(space)
    size = 0.7
    elements = [*m.loads.values(), *m.constraints.values(), *m.drivers.values()]
    lines = list(sketches(elements, size))
    assert {name for name, _ in lines} >= {"rod", "pulley", "line", "plane", "curve", "cam", "flat", "gear"}
    drawn = sketch_lines(m, size)
    on_page = [name for name, *_ in (*rods(drawn), *outlines(drawn, size))]
    assert set(on_page) == {name for name, _ in lines}
    counts = sorted(len(line.points) for _, line in lines)
    plotted = [len(curve) for curve in plotted_lines(m)]
    for count in set(counts):
        assert plotted.count(count) >= counts.count(count)


def test_a_class_of_ones_own_says_what_it_looks_like():
    m = slotted()
    R, p = m["lever"].rotation, m["lever"].position
    wanted = [R @ (-0.2, 0.0) + p, R @ (0.3, 0.0) + p]
    assert any(np.allclose(curve, wanted) for curve in plotted_lines(m) if len(curve) == 2)
    assert any(np.allclose(curve, [(0, 0), p]) for curve in plotted_lines(m) if len(curve) == 2)
    drawn = drawing_of_driven(m)
    (bar,) = [piece for piece in drawn.glyphs if piece.name == "slot"]
    assert bar.body == "lever"
    assert bar.shell.scale[2] == pytest.approx(0.5)
    assert [(mark.name, mark.a, mark.b) for mark in drawn.springs] == [("rope", "crank", "lever")]


def test_a_sketch_that_fails_is_named_and_all_else_is_drawn():
    m = slotted()
    m["slot"].sketch = lambda size: 1 / 0
    with pytest.warns(UserWarning, match="constraint 'slot' is not drawn: ZeroDivisionError"):
        drawn = drawing_of_driven(m)
    assert [mark.name for mark in drawn.springs] == ["rope"]


def test_attachments_are_the_points_that_hold_a_body():
    m = lw.Mechanism("m")
    a = m.add(lw.Body("a", lw.Inertia(1.0, (0, 0, 0), np.eye(3))))
    m.add(lw.Free("flies", m.ground, a))
    m.add(lw.Spring("spring", m.ground, a, on_parent=(1, 2, 3), on_child=(0, 0, 0.5)))
    m.add(lw.Distance("rod", m.ground, a, on_child=(0.1, 0, 0), length=1.0))
    held = attachments(m)
    np.testing.assert_array_equal(held["a"], [(0.1, 0, 0), (0, 0, 0.5)])
    np.testing.assert_array_equal(held["ground"], [(0, 0, 0), (1, 2, 3)])
