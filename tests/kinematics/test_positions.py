"""Positions one by one, and in lanes."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.native import store


def driven(build, joint):
    m = build()
    m.add(lw.Driver("motor", joint))
    return lw.Positions(m)


CASES = {
    "four-bar": (lw.examples.four_bar, "A"),
    "Jansen": (lw.examples.jansen_leg, "crank shaft"),
    "four-bar in space, redundant": (lambda: lw.examples.four_bar(space="space"), "A"),
    "Bennett": (lw.examples.bennett, "A"),
}


@pytest.mark.parametrize("name", CASES)
def test_many_give_what_one_after_the_other_gives(name):
    positions, alone = driven(*CASES[name]), driven(*CASES[name])
    values = np.linspace(0, 1.2, 21)[:, None]
    starts = np.array([alone(v) for v in values])
    found = positions.many(values + 0.02, starts)
    assert positions._lane_solver
    wanted = np.array([alone(v + 0.02) for v in values])
    assert np.abs(found - wanted).max() < 1e-11


def test_a_wild_start_is_reached_in_small_steps():
    positions, alone = driven(*CASES["four-bar"]), driven(*CASES["four-bar"])
    found = positions.many(np.array([[2.5], [-2.5]]))
    for value, q in zip((2.5, -2.5), found, strict=True):
        assert np.abs(q - alone([value])).max() < 1e-11
        alone([0.0])


def test_a_position_out_of_reach_leaves_the_last_one():
    positions = driven(lw.examples.four_bar, "D")
    here = positions([0.1])
    with pytest.raises(lw.AssemblyError, match="cannot assemble with motor = 3"):
        positions([3.0])
    assert (positions.q == here).all()
    assert np.abs(positions([0.1]) - here).max() < 1e-12


# turns of gears


def gear_train(space):
    """Return a motor that drives two gears, one after the other, a rack, and a follower with an offset."""
    m, size = lw.Mechanism("gears", space=space), 2 if space == "plane" else 3

    def wheel(name, x):
        body = m.add(lw.Body(f"wheel {name}", position=(x, 0, 0)[:size]))
        return m.add(lw.Revolute(name, m.ground, body))

    wheel("A", 0), wheel("B", 1), wheel("C", 2), wheel("F", 3)
    rack = m.add(lw.Body("rack", position=(4, 0, 0)[:size]))
    m.add(lw.Prismatic("S", m.ground, rack, axis=(1, 0, 0)[:size]))
    m.add(lw.Driver("motor", "A"))
    m.add(lw.Gear("first", "A", "B", 2.5))
    m.add(lw.RackPinion("rack and pinion", "C", "S", 0.1))
    m.add(lw.Gear("second", "B", "C", teeth=(17, 43)))
    m.add(lw.Coupling("follower", "F", "A", ratio=-0.3, offset=0.2))
    return m


def double_crank():
    """Return a linkage both of whose cranks go round, the second of which drives a gear."""
    m = lw.Mechanism("double crank", space="plane")
    crank, rod, second = (m.add(lw.Body(name)) for name in ("crank", "rod", "second"))
    wheel = m.add(lw.Body("wheel", position=(1, 0)))
    m.add(lw.Revolute("A", m.ground, crank, on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("B", crank, rod, on_parent=(0.3, 0), on_child=(0, 0)))
    m.add(lw.Revolute("C", rod, second, on_parent=(0.25, 0), on_child=(0.28, 0)))
    m.add(lw.Revolute("D", m.ground, second, on_parent=(0.1, 0), on_child=(0, 0)))
    m.add(lw.Revolute("W", m.ground, wheel))
    m.add(lw.Gear("gear", "D", "W", 2.5))
    m.add(lw.Driver("motor", "A"))
    m.assemble()
    return m


GEARS = {
    "plane": lambda: gear_train("plane"),
    "space": lambda: gear_train("space"),
    "double crank": double_crank,
}


@pytest.mark.parametrize("name", GEARS)
def test_gears_in_lanes_give_what_each_gives_alone(name, monkeypatch):
    """From starts several turns on; nothing is left for the way in small steps."""
    positions, alone = lw.Positions(GEARS[name]()), lw.Positions(GEARS[name]())
    values = np.linspace(-15.0, 20.0, 701)[:, None]
    starts = np.array([alone(v) for v in values])
    wanted = np.array([alone(v + 0.02) for v in values])

    def refuse(*_):
        raise AssertionError("not in lanes")

    monkeypatch.setattr(lw.Positions, "_reached", refuse)
    assert np.abs(positions.many(values + 0.02, starts) - wanted).max() < 1e-12


@pytest.mark.parametrize("name", GEARS)
def test_gears_stay_where_they_are_while_others_are_looked_at(name):
    positions, alone = lw.Positions(GEARS[name]()), lw.Positions(GEARS[name]())
    for x in np.linspace(0.5, 7.5, 15):
        positions([x]), alone([x])
    found = positions.many([[7.5], [7.6], [9.0]])
    wanted = [alone([x]) for x in (7.5, 7.6, 9.0)]
    assert np.abs(found - wanted).max() < 1e-11
    assert np.abs(positions([9.0]) - wanted[-1]).max() < 1e-11


def test_gears_of_other_sizes_are_driven_through_many_turns():
    positions = lw.Positions(gear_train("plane"), vary={"ratio": ("first", "ratio")})
    values = np.linspace(0.0, 12.0, 241)
    paths = positions.paths(values, sizes={"ratio": [2.4, 2.5, 2.6]})
    for ratio, path in zip((2.4, 2.5, 2.6), paths, strict=True):
        assert np.abs(positions.body("wheel B", path)[:, 2] + ratio * values).max() < 1e-12
        assert np.abs(positions.body("wheel F", path)[:, 2] - 0.2 + 0.3 * values).max() < 1e-12


def test_gears_are_solved_by_one_call():
    positions, value = lw.Positions(gear_train("plane")), np.zeros(1)
    for _ in range(300):
        value[0] += 0.05
        assert isinstance(positions._near(value, np.empty(positions.system.nq)), np.ndarray)
    assert positions.system.w.q[5] == pytest.approx(-2.5 * value[0], abs=1e-12)


# one call


@pytest.mark.parametrize("name", CASES)
def test_near_values_are_reached_by_the_unrolled_step_as_in_small_steps(name):
    positions, general = driven(*CASES[name]), driven(*CASES[name])
    here, room = np.zeros(1), np.empty(positions.system.nq)
    for _ in range(60):
        here[0] += 0.02
        assert positions._near(here, room) is room
        assert np.abs(room - general._in_steps(here)).max() < 1e-11
        assert positions.values == here


def test_what_is_not_near_or_no_number_changes_nothing():
    positions = driven(lw.examples.four_bar, "A")
    here, room = positions([0.1]).copy(), np.empty(9)
    w = positions.system.w
    before = [x.copy() for x in (w.q, w.u, w.memory, w.tangent)]
    assert positions._near(np.array([0.9]), room) is False
    for values in (np.array([np.nan]), np.array([0.1, 0.2]), [0.2], np.array([1])):
        assert positions._near(values, room) is None
    assert positions.values == 0.1
    assert all((x == y).all() for x, y in zip(before, (w.q, w.u, w.memory, w.tangent), strict=True))
    with pytest.raises(ValueError, match=r"\(2,\) values; there are 1 drivers"):
        positions([0.1, 0.2])
    assert np.abs(positions([0.1]) - here).max() < 1e-14


def test_values_may_have_any_form():
    for form in (list, tuple, np.array, np.float32, lambda x: np.array([*x, 0.0])[::2]):
        assert lw.Positions(four_bar())(form([0.25]))[2] == pytest.approx(0.25, abs=1e-15)


def test_a_value_changed_afterwards_leaves_the_mechanism_where_it_is():
    positions, value = driven(lw.examples.four_bar, "A"), np.array([0.2])
    positions(value)
    value[0] = 0.5
    assert positions.values == 0.2


def test_a_dead_point_is_driven_over_the_same_way():
    """A parallelogram stretched to a line: the next call goes straight on, as a motion does."""
    m = lw.Mechanism("parallelogram", space="plane")
    bodies = [m.add(lw.Body(name)) for name in ("crank", "rod", "rocker")]
    m.add(lw.Revolute("A", m.ground, bodies[0], on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("B", bodies[0], bodies[1], on_parent=(0.1, 0), on_child=(0, 0)))
    m.add(lw.Revolute("C", bodies[1], bodies[2], on_parent=(0.3, 0), on_child=(0.1, 0)))
    m.add(lw.Revolute("D", m.ground, bodies[2], on_parent=(0.3, 0), on_child=(0, 0)))
    m.add(lw.Driver("motor", "A", 0.5))
    m.assemble(branch={"rocker": 0.5})
    positions = lw.Positions(m)
    for x in (0.3, 0.1, 0.0, -0.1, -0.3):
        assert positions([x])[8] == pytest.approx(x, abs=1e-9)


def test_another_number_needs_no_other_code(monkeypatch):
    def refuse(text, optimize=False):
        raise AssertionError("compiled")

    first = lw.Positions(four_bar())
    first.many([0.01])
    assert isinstance(first._near(np.array([0.01]), np.empty(9)), np.ndarray)
    monkeypatch.setattr(store, "compile_text", refuse)
    other = lw.Positions(four_bar(0.11, 0.32, 0.23, 0.21))
    other.many([0.01])
    assert other._lane_solver
    assert isinstance(other._near(np.array([0.01]), np.empty(9)), np.ndarray)
    found = other(np.array([0.02]))
    pin, corner = other.point("crank", (0.11, 0)), other.point("rod", (0.32, 0))
    assert np.hypot(*(corner - pin)) == pytest.approx(0.32, abs=1e-14)
    assert np.hypot(corner[0] - 0.21, corner[1]) == pytest.approx(0.23, abs=1e-14)
    assert found[2] == pytest.approx(0.02, abs=1e-15)


def test_a_mechanism_with_many_bodies_goes_in_steps():
    m = lw.Mechanism("levers", space="plane")
    for k in range(9):
        body = m.add(lw.Body(f"lever {k}"))
        m.add(lw.Revolute(f"A{k}", m.ground, body, at=(0.1 * k, 0)))
        m.add(lw.Driver(f"motor {k}", f"A{k}"))
    positions = lw.Positions(m)
    assert positions._near(np.zeros(9), np.empty(27)) is None
    assert positions(np.full(9, 0.1))[2::3] == pytest.approx(0.1)


# variants


def four_bar(crank=0.1, rod=0.3, rocker=0.22, ground=0.2):
    m = lw.Mechanism("four-bar", space="plane")
    bodies = [m.add(lw.Body(name)) for name in ("crank", "rod", "rocker")]
    m.add(lw.Revolute("A", m.ground, bodies[0], on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("B", bodies[0], bodies[1], on_parent=(crank, 0), on_child=(0, 0)))
    m.add(lw.Revolute("C", bodies[1], bodies[2], on_parent=(rod, 0), on_child=(rocker, 0)))
    m.add(lw.Revolute("D", m.ground, bodies[2], on_parent=(ground, 0), on_child=(0, 0)))
    m.add(lw.Driver("motor", "A"))
    m.assemble(branch={"rocker": 1.0})
    return m


LENGTHS = {
    "crank": ("B", "on_parent", 0),
    "rod": ("C", "on_parent", 0),
    "rocker": ("C", "on_child", 0),
    "ground": ("D", "on_parent", 0),
}


def test_variants_in_lanes_give_what_each_gives_alone():
    generator = np.random.default_rng(1)
    sizes = {
        name: size * generator.uniform(0.97, 1.03, 19)
        for name, size in (("rod", 0.3), ("rocker", 0.22), ("ground", 0.2))
    }
    sizes["crank"] = 0.1 * generator.uniform(0.7, 0.9, 19)
    positions, values = lw.Positions(four_bar(), vary=LENGTHS), np.linspace(0, 6.3, 50)
    paths = positions.paths(values, sizes=sizes)
    assert paths.shape == (19, 50, 9)
    assert positions._lane_solver
    for k in range(19):
        alone = lw.Positions(four_bar(**{name: float(size[k]) for name, size in sizes.items()}))
        assert np.abs(paths[k] - [alone([x]) for x in values]).max() < 1e-12
    curve = positions.point("rod", (0.15, 0.1), paths)
    angle = paths[..., 5]
    assert curve[..., 0] == pytest.approx(paths[..., 3] + 0.15 * np.cos(angle) - 0.1 * np.sin(angle))


def test_sizes_do_not_stay():
    positions = lw.Positions(four_bar(), vary=LENGTHS)
    here = positions([0.5])
    positions.many([0.5], sizes={"rod": [0.28, 0.32]})
    assert np.abs(positions([0.5]) - here).max() < 1e-13
    assert np.abs(positions.many([0.5], sizes={"rod": 0.3})[0] - here).max() < 1e-12


def test_far_sizes_are_reached_on_the_same_branch():
    positions = lw.Positions(four_bar(), vary=LENGTHS)
    positions([1.0])
    rods = np.array([0.2, 0.25, 0.3, 0.38])
    found = positions.many([1.0], sizes={"rod": rods})
    for rod, q in zip(rods, found, strict=True):
        pin, shaft = np.array([0.1 * np.cos(1.0), 0.1 * np.sin(1.0)]), np.array([0.2, 0.0])
        gap = np.linalg.norm(shaft - pin)
        corner = np.arccos((gap**2 + 0.22**2 - rod**2) / (2 * gap * 0.22))
        back = np.arctan2(*(pin - shaft)[::-1])
        assert q[8] == pytest.approx(back - corner, abs=1e-12)


def test_what_cannot_be_assembled_is_told_or_left_out():
    positions = lw.Positions(four_bar(), vary=LENGTHS)
    with pytest.raises(lw.AssemblyError, match=r"cannot assemble with motor = 0 \(number 1\): closest gap"):
        positions.many([0.0], sizes={"rod": [0.3, 0.9]})
    found = positions.many([0.0], sizes={"rod": [0.3, 0.9, 0.31]}, check=False)
    assert np.isfinite(found).all(axis=1).tolist() == [True, False, True]
    assert np.isfinite(positions([0.1])).all()


class Slot(lw.Constraint):
    def phi(self, a, b):
        return [b.to_local(a.to_world(self.pin))[1]]


@pytest.mark.parametrize("kind", ["distance", "own", "helical", "gear"])
def test_numbers_of_any_thing_vary(kind):
    """Alone: a mechanism that was told the number."""

    def build(x):
        m = lw.Mechanism("m", space="space" if kind == "helical" else "plane")
        a, b = m.add(lw.Body("a")), m.add(lw.Body("b", position=(0.0 if kind == "helical" else 0.5, 0, 0)))
        m.add(lw.Revolute("A", m.ground, a))
        m.add(lw.Driver("motor", "A"))
        if kind == "distance":
            m.add(lw.Prismatic("S", m.ground, b, axis=(1, 0)))
            m.add(lw.Distance("rod", a, b, x, on_parent=(0.1, 0)))
        elif kind == "own":
            m.add(lw.Revolute("B", m.ground, b))
            m.add(Slot("slot", a, b, pin=(x, 0)))
        elif kind == "helical":
            m.add(lw.Prismatic("S", m.ground, b))
            m.add(lw.Helical("screw", a, b, pitch=x))
        else:
            m.add(lw.Prismatic("S", m.ground, b, axis=(1, 0)))
            m.add(lw.RackPinion("gear", "A", "S", x))
        return m

    place = {
        "distance": ("rod", "length"),
        "own": ("slot", "pin", 0),
        "helical": ("screw", "pitch"),
        "gear": ("gear", "radius"),
    }[kind]
    sizes = np.array([0.4, 0.42, 0.44])
    positions = lw.Positions(build(0.4), vary={"x": place})
    found = positions.many([0.7], sizes={"x": sizes})
    for size, q in zip(sizes, found, strict=True):
        assert np.abs(q - lw.Positions(build(float(size)))([0.7])).max() < 1e-12


def test_several_numbers_go_by_one_name():
    vary = {"sides": [LENGTHS["rod"], LENGTHS["rocker"]]}
    positions = lw.Positions(four_bar(rod=0.24, rocker=0.24), vary=vary)
    found = positions.many([0.5], sizes={"sides": [0.25, 0.26]})
    alone = lw.Positions(four_bar(rod=0.26, rocker=0.26))
    assert np.abs(found[1] - alone([0.5])).max() < 1e-12
    with pytest.raises(ValueError, match=r"vary 'sides': numbers 0.22, 0.3 under one name; draw them equal"):
        lw.Positions(four_bar(), vary=vary)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (("X", "on_parent", 0), "vary 'x': unknown name 'X'"),
        (("B", "on_parent"), "give one of 2 by its index"),
        (("B", "on_parent", 2), "there are 2 numbers, from 0 on"),
        (("B", "colour"), "'B' has no number 'colour'"),
        ("B", "'B' names no number"),
    ],
)
def test_numbers_that_are_not_there_are_told(place, words):
    with pytest.raises(ValueError, match=words):
        lw.Positions(four_bar(), vary={"x": place})


def test_sizes_are_checked():
    positions = lw.Positions(four_bar(), vary=LENGTHS)
    for sizes, words in (
        ({"road": 1.0}, "sizes: unknown name 'road'; did you mean 'rod'"),
        ({"rod": np.ones((2, 2))}, "sizes: 'rod' has shape"),
        ({"rod": [0.3, 0.3], "crank": [0.1] * 3}, "give as many of each"),
        ({"rod": [0.3, np.nan]}, "sizes are not finite"),
    ):
        with pytest.raises(ValueError, match=words):
            positions.many([0.0], sizes=sizes)
    with pytest.raises(ValueError, match=r"values \[nan\] are not finite"):
        positions([np.nan])
