"""Behaviours: breaking joints, events, sensors; what they read is what statics says."""

import numpy as np
import pytest
from people import crate, hanging, world

import linkwork as lw


def test_a_joint_bears_what_hangs_on_it():
    scene = world()
    one = scene.add(hanging(), position=(0, 0, 3))
    scene.step(1 / 60, n=3)
    np.testing.assert_allclose(one["top"].reaction[3:], (0, 0, 5 * 9.81), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one["middle"].reaction[3:], (0, 0, 3 * 9.81), rtol=1e-9, atol=1e-9)


def test_a_joint_on_a_body_that_stands_bears_the_weight_above_it():
    """A weld between a box that stands on the floor and one on top of it: contact steps, 3 kg above it."""
    m = lw.Mechanism("tower")
    a = m.add(lw.Body("below", lw.Box(0.2, 0.2, 0.2), mass=2.0, position=(0, 0, 0.1)))
    b = m.add(lw.Body("above", lw.Box(0.2, 0.2, 0.2), mass=3.0, position=(0, 0, 0.3)))
    m.add(lw.Prismatic("post", a, b, at=(0, 0, 0.2), axis=(1, 0, 0), stiffness=1e4, damping=10.0))
    scene = world()
    one = scene.add(m)
    scene.step(1 / 60, n=10)
    np.testing.assert_allclose(one["post"].reaction[3:], (0, 0, 3 * 9.81), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("limit", "breaks"), [(3 * 9.81 * 1.001, False), (3 * 9.81 * 0.999, True)])
def test_a_joint_breaks_just_above_its_force(limit, breaks):
    scene = world()
    one = scene.add(hanging(), position=(0, 0, 3))
    rule = scene.add(lw.BreakWhen(one["middle"], force=limit))
    scene.step(1 / 60, n=3)
    assert (rule.broken is not None) == breaks
    assert (rule.part is not None) == breaks


def test_a_blow_breaks_what_the_weight_does_not():
    m = lw.Mechanism("hammer")
    a = m.add(lw.Body("head", lw.Sphere(0.1), mass=5.0, position=(0, 0, 1)))
    b = m.add(lw.Body("tail", lw.Sphere(0.1), mass=5.0, position=(0, 0, 1.5)))
    m.add(lw.Revolute("neck", a, b, at=(0, 0, 1.2), axis=(0, 1, 0)))
    scene, seen = world(), []
    one = scene.add(m)
    rule = scene.add(lw.BreakWhen(one["neck"], force=500, then=lambda scene, part: seen.append(part)))
    scene.step(1 / 60, n=40)
    fall = np.sqrt(2 * 0.9 / 9.81)
    assert fall - 1 / 60 < rule.broken < fall + 2 / 60
    assert seen == [rule.part]


def test_a_joint_breaks_when_it_has_taken_up_its_energy():
    m = hanging()
    m["middle"].damping = 0.5
    scene = world()
    one = scene.add(m, position=(0, 0, 3))
    rule = scene.add(lw.BreakWhen(one["middle"], energy=1e-3))
    scene.add(lw.Body("ball", lw.Sphere(0.05), density=3000), position=(-0.5, 0, 2.2), velocity=(6, 0, 0))
    scene.step(1 / 60, n=30)
    assert rule.work > 1e-3
    assert rule.broken is not None


def test_events_are_heard_once_when_they_begin():
    scene, heard = world(), []
    box = scene.add(crate(), position=(0, 0, 0.6))
    scene.add(lw.OnContact(box["crate"], lambda s, a, b: heard.append(("touch", b.path))))
    scene.add(lw.OnDistance(box, (0, 0, 0), 0.4, lambda s, a, b: heard.append(("near", s.time))))
    scene.add(lw.OnTime(0.1, lambda s: heard.append(("time", round(s.time, 3))), every=0.4))
    scene.step(1 / 60, n=60)
    words = [word for word, _ in heard]
    assert words.count("touch") == 1
    assert ("touch", "floor") in heard
    assert words.count("near") == 1
    assert [t for word, t in heard if word == "time"] == [0.1, 0.5, 0.9]


def test_a_limit_is_an_event():
    m = lw.Mechanism("door")
    door = m.add(lw.Body("door", lw.Box(1, 0.1, 2), mass=10.0, position=(0.5, 0, 0)))
    m.add(lw.Revolute("hinge", m.ground, door, at=(0, 0, 0), axis=(0, 0, 1), limits=(-0.5, 0.5)))
    m.add(lw.Motor("push", "hinge"))
    scene, heard = lw.Scene(), []
    one = scene.add(m)
    scene.add(lw.OnLimit(one["hinge"], lambda s, joint: heard.append(joint.position)))
    one.inputs["push"] = 5.0
    scene.step(1 / 60, n=80)
    assert len(heard) >= 1
    assert heard[0] >= 0.5 - 1e-6


def test_sensors_read_what_they_should():
    scene = world()
    box = scene.add(crate(0.4), position=(0, 0, 0.2))
    wall = scene.add(lw.Box(0.2, 4, 4), name="wall", position=(2, 0, 0))
    touch, far = scene.add(lw.ContactSensor(box["crate"])), scene.add(lw.RaySensor(box["crate"]))
    high, feel = scene.add(lw.HeightSensor(box["crate"])), scene.add(lw.InertialSensor(box["crate"]))
    scene.step(1 / 60, n=3)
    assert touch.touching
    np.testing.assert_allclose(touch.force, (0, 0, box.mass * 9.81), rtol=1e-6, atol=1e-6)
    assert far.distance == pytest.approx(1.9)
    assert far.node is wall
    assert high.height == pytest.approx(0.2)
    np.testing.assert_allclose(feel.acceleration, (0, 0, 9.81), atol=1e-6)
    np.testing.assert_allclose(feel.angular_velocity, 0, atol=1e-9)


def wheel(radius=0.5):
    m = lw.Mechanism("wheel")
    rim = m.add(lw.Body("rim", lw.Inertia(1.0, (0, 0, 0), 0.1 * np.eye(3)), position=(radius, 0, 0)))
    m.add(lw.Revolute("axle", m.ground, rim, at=(0, 0, 0), axis=(0, 0, 1)))
    return m


@pytest.mark.parametrize("dt", [1 / 60, 1 / 10])
def test_an_inertial_sensor_on_a_centrifuge_reads_its_acceleration_whatever_the_step(dt):
    scene, m, spin = lw.Scene(), wheel(), 12.0
    turning = scene.add(m, state=m.compile().state(velocities={"axle": spin}))
    at_rim, outside = (scene.add(lw.InertialSensor(turning["rim"], p)) for p in ((0, 0, 0), (0.25, 0, 0)))
    scene.step(dt, n=5)
    np.testing.assert_allclose(at_rim.acceleration, (-(spin**2) * 0.5, 0, 9.81), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(outside.acceleration, (-(spin**2) * 0.75, 0, 9.81), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(at_rim.angular_velocity, (0, 0, spin), atol=1e-9)


def test_an_inertial_sensor_in_free_fall_reads_nothing_at_the_centre_of_what_spins():
    scene, m = lw.Scene(), lw.Mechanism("stone")
    m.add(lw.Free("base", m.ground, m.add(lw.Body("stone", lw.Box(0.2, 0.2, 0.2), density=500))))
    start = m.compile().state(velocities={"base": (0, 0, 9.0, 0, 0, 0)})
    stone = scene.add(m, position=(0, 0, 100), velocity=(7, 0, 0), state=start)
    centre, corner = (scene.add(lw.InertialSensor(stone["stone"], (x, 0, 0))) for x in (0.0, 0.1))
    scene.step(1 / 60, n=30)
    np.testing.assert_allclose(centre.acceleration, 0.0, atol=1e-10)
    np.testing.assert_allclose(corner.acceleration, (-81 * 0.1, 0, 0), atol=1e-10)


REFUSED = {
    "nothing that breaks it": (lambda s, a: lw.BreakWhen(a["top"]), ValueError, "give force="),
    "a negative force": (lambda s, a: lw.BreakWhen(a["top"], force=-1), ValueError, "above 0"),
    "a body in place of a joint": (lambda s, a: lw.BreakWhen(a["upper"], force=1), TypeError, "a joint of"),
    "a joint without limits": (lambda s, a: lw.OnLimit(a["top"], print), ValueError, "has limits"),
    "an action that is none": (lambda s, a: lw.OnTime(1.0, 3), TypeError, "give a function"),
    "a sensor on a mechanism": (lambda s, a: lw.ContactSensor(a), TypeError, "give a body"),
    "a behaviour twice": (
        lambda s, a: [s.add(b) for b in [lw.OnTime(1.0, print)] * 2],
        lw.ModelError,
        "already",
    ),
    "a behaviour with a place": (
        lambda s, a: s.add(lw.OnTime(1.0, print), position=(0, 0, 0)),
        lw.ModelError,
        "has no meaning",
    ),
}


class Failing(lw.Behaviour):
    def __init__(self, when):
        self.when = when

    def before(self, scene, dt):
        if self.when == "before":
            raise RuntimeError("before")

    def after(self, scene, dt):
        if self.when == "after":
            raise RuntimeError("after")


@pytest.mark.parametrize("when", ["before", "after", "observer"])
def test_a_scene_goes_on_after_an_error_of_those_who_look_on(when):
    def observer(_):
        if failing.when == "observer":
            raise RuntimeError("observer")

    scene, other = world(), world()
    for one in (scene, other):
        one.add(crate(), position=(0, 0, 1))
    failing = scene.add(Failing(when))
    scene.observe(observer)
    with pytest.raises(RuntimeError, match=when):
        scene.step(1 / 60)
    failing.when = ""
    scene.step(1 / 60, n=5 if when == "before" else 4)
    other.step(1 / 60, n=5)
    assert scene.hash() == other.hash()
    assert np.array_equal(scene.recording.time, other.recording.time)


@pytest.mark.parametrize("what", REFUSED)
def test_mistakes_are_refused_with_a_remedy(what):
    call, kind, text = REFUSED[what]
    scene = world()
    with pytest.raises(kind, match=text):
        call(scene, scene.add(hanging(), position=(0, 0, 3)))
