"""Dead points: passed, touched or met, they are events with a name and an exact time, not failures."""

import numpy as np
import pytest

import linkwork as lw

CRANK, ROD, ROCKER, GROUND = 0.1, 0.3, 0.22, 0.2


def rocker_driven(law):
    """Return a four-bar driven by its rocker, which cannot go beyond where crank and rod are in line."""
    m = lw.Mechanism("four-bar", space="plane")
    crank, rod, rocker = (m.add(lw.Body(name)) for name in ("crank", "rod", "rocker"))
    m.add(lw.Revolute("A", m.ground, crank, on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("B", crank, rod, on_parent=(CRANK, 0), on_child=(0, 0)))
    m.add(lw.Revolute("C", rod, rocker, on_parent=(ROD, 0), on_child=(ROCKER, 0)))
    m.add(lw.Revolute("D", m.ground, rocker, on_parent=(GROUND, 0), on_child=(0, 0)))
    m.add(lw.Driver("motor", "D", law))
    return m


def extremes():
    """Return the angles of the rocker where crank and rod are in line."""
    return [
        np.pi - np.arccos((ROCKER**2 + GROUND**2 - reach**2) / (2 * ROCKER * GROUND))
        for reach in (ROD + CRANK, ROD - CRANK)
    ]


@pytest.mark.parametrize("count", [25, 40, 101])
def test_a_dead_centre_that_is_only_touched_is_an_event(count):
    low, high = extremes()
    m = rocker_driven(lambda t: 0.5 * (low + high) + 0.5 * (high - low) * lw.sin(t))
    motion = lw.kinematics(m, np.linspace(0, 6, count))
    assert [event.name for event in motion.events] == ["dead point 1", "dead point 2"]
    assert [event.time for event in motion.events] == pytest.approx([np.pi / 2, 3 * np.pi / 2], abs=1e-10)
    assert motion.events[0].drivers == ("motor",)
    assert "joints 'A', 'B', 'C' can move" in str(motion.events[0])


def test_a_sample_at_a_dead_centre_is_no_failure():
    low, high = extremes()
    m = rocker_driven(lambda t: 0.5 * (low + high) + 0.5 * (high - low) * lw.sin(t))
    motion = lw.kinematics(m, [0.0, 1.0, np.pi / 2, 2.0, 3.0])
    assert motion["D"].position[2] == pytest.approx(high, abs=1e-9)
    assert np.isfinite(motion.v).all()
    assert [event.time for event in motion.events] == pytest.approx([np.pi / 2], abs=1e-7)
    assert np.abs(motion["B"].position[[1, 3]] - motion["B"].position[2]).min() > 0.1


def test_what_comes_near_a_dead_centre_meets_none():
    low, high = extremes()
    m = rocker_driven(lambda t: 0.5 * (low + high) + 0.49999 * (high - low) * lw.sin(t))
    assert lw.kinematics(m, np.linspace(0, 6, 40)).events == ()


def test_a_driver_that_rests_at_a_dead_centre_meets_it_once():
    _, high = extremes()
    motion = lw.kinematics(
        rocker_driven(lambda t: high - 0.1 * lw.max(1.0 - t, 0.0)), [0.0, 0.5, 1.0, 1.5, 2.0]
    )
    assert [event.time for event in motion.events] == pytest.approx([1.0], abs=1e-9)


@pytest.mark.parametrize("space", ["plane", "space"])
def test_a_parallelogram_passes_its_dead_points_without_a_flip(space):
    """In space its equations are redundant, too."""
    m = lw.examples.four_bar(0.1, 0.3, 0.1, 0.3, angle=0.5, space=space)
    m.add(lw.Driver("motor", "A", lambda t: t))
    motion = lw.kinematics(m, np.linspace(0, 2 * np.pi, 100))
    assert motion["D"].position == pytest.approx(motion["A"].position, abs=1e-9)
    assert [event.name for event in motion.events] == ["dead point 1", "dead point 2"]
    assert [event.time for event in motion.events] == pytest.approx(
        [np.pi - 0.5, 2 * np.pi - 0.5], abs=1e-10 if space == "plane" else 1e-8
    )


def test_a_motion_goes_on_from_a_sample_at_a_dead_point():
    m = lw.examples.four_bar(0.1, 0.3, 0.1, 0.3, angle=0.5)
    m.add(lw.Driver("motor", "A", lambda t: t))
    times = [0.0, np.pi - 0.5, 2 * np.pi - 0.5, 7.0]
    motion = lw.kinematics(m, times)
    assert np.abs(motion["coupler"].angle).max() < 1e-9
    assert [event.time for event in motion.events] == times[1:3]


def row_of_parallelograms(count):
    m, before = lw.Mechanism("row", space="plane"), None
    for k in range(count):
        crank = m.add(lw.Body(f"crank {k}", position=(k, 0), rotation=0.5))
        m.add(lw.Revolute(f"A{k}", m.ground, crank, at=(k, 0)))
        tip = (k + 0.3 * np.cos(0.5), 0.3 * np.sin(0.5))
        if before:
            rod = m.add(lw.Body(f"rod {k}", position=(tip[0] - 1, tip[1])))
            m.add(lw.Revolute(f"B{k}", before, rod, at=(tip[0] - 1, tip[1])))
            m.add(lw.Revolute(f"C{k}", rod, crank, at=tip))
        before = crank
    m.add(lw.Driver("motor", "A0", lambda t: t))
    return m


def test_a_large_mechanism_passes_dead_points_too():
    """An odd number of parallelograms, all in line at once: the determinant changes its sign."""
    motion = lw.kinematics(row_of_parallelograms(100), np.linspace(0, 3.0, 7))
    assert motion.model.large
    assert motion["crank 99"].angle == pytest.approx(0.5 + motion.time, abs=1e-8)
    assert [event.time for event in motion.events] == pytest.approx([np.pi - 0.5], abs=1e-4)
