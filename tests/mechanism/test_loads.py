"""Loads in a description: names, copies, and the list of every mistake."""

import copy
import pickle
import threading

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism.mechanism_check import check

LOADS = (
    lw.Bushing,
    lw.Feedback,
    lw.Force,
    lw.Motor,
    lw.Spring,
    lw.Torque,
    lw.TorsionSpring,
    lw.Wrench,
)


def pair(space: str = "space", wrist: type[lw.Joint] = lw.Revolute) -> tuple[lw.Mechanism, lw.Body, lw.Body]:
    """Return a mechanism of two bodies, one on the other."""
    m = lw.Mechanism("pair", space=space)  # type: ignore[arg-type]
    unit = lw.Inertia(1.0, (0, 0, 0), np.eye(3))
    unit = unit if space == "space" else unit.planar()
    arm, hand = (m.add(lw.Body(name, unit)) for name in ("arm", "hand"))
    m.add(lw.Revolute("shoulder", m.ground, arm))
    m.add(wrist("wrist", arm, hand))
    return m, arm, hand


def one_of_each(m: lw.Mechanism) -> dict[type[lw.Load], lw.Load]:
    arm, hand = m["arm"], m["hand"]
    size, turning = (3, 3) if m.space == "space" else (2, 1)
    loads = (
        lw.Bushing("bushing", arm, hand, stiffness=1.0),
        lw.Feedback("feedback", ["wrist"], lambda t, q, v: q["wrist"]),
        lw.Force("force", arm, [1.0] * size),
        lw.Motor("motor", "wrist", 1.0),
        lw.Spring("spring", arm, hand, stiffness=1.0),
        lw.Torque("torque", hand, [1.0] * turning),
        lw.TorsionSpring("coil", m["wrist"], stiffness=1.0),
        lw.Wrench("wrench", hand, [1.0] * (turning + size)),
    )
    return {type(load): load for load in loads}


def mistakes(m: lw.Mechanism) -> list[str]:
    """Return the mistakes that `check` finds, each without its number."""
    with pytest.raises(lw.ModelError) as error:
        check(m)
    first, *lines = str(error.value).splitlines()
    assert first == f"mechanism {m.name!r} has {len(lines)} mistake{'s' if len(lines) > 1 else ''}:"
    return [line.strip().split(". ", 1)[1] for line in lines]


@pytest.mark.parametrize("space", ["space", "plane"])
@pytest.mark.parametrize("kind", LOADS, ids=lambda kind: kind.__name__)
def test_a_sound_load_is_taken_and_found_by_name(kind, space):
    m, _, _ = pair(space)
    load = one_of_each(m)[kind]
    assert load.name not in m
    assert m.add(load) is load
    assert m[load.name] is load
    assert load in m
    assert load.name in m
    assert list(m.loads) == [load.name]
    assert len(m) == 5
    assert load.space == space
    check(m)
    model = m.compile()
    assert model.load_names == (load.name,)
    assert np.isfinite(model.motion(model.q_drawn, np.ones(model.nv))).all()


def test_a_load_is_removed_and_what_it_uses_is_not():
    m, arm, hand = pair()
    for load in one_of_each(m).values():
        m.add(load)
    with pytest.raises(
        ValueError, match="'arm' is used by 'shoulder', 'wrist', 'bushing', 'force', 'spring'"
    ):
        m.remove(arm)
    with pytest.raises(
        ValueError, match="'wrist' is used by 'feedback', 'motor', 'coil'; remove those first"
    ):
        m.remove("wrist")
    for name in list(m.loads):
        assert m.remove(name).name == name
        assert name not in m
    assert m.loads == {}
    assert list(m) == ["arm", "hand", "shoulder", "wrist"]
    m.remove("wrist")
    m.remove(hand)
    check(m)
    with pytest.raises(ValueError, match="is not in it"):
        m.remove(lw.Force("force", arm, (1, 2, 3)))


def test_the_summary_and_repr_tell_the_loads():
    m, arm, hand = pair()
    assert "load" not in m.summary()
    m.add(lw.Spring("spring", arm, hand, stiffness=2.0))
    assert "1 load\n" in m.summary()
    m.add(lw.Motor("motor", "wrist", 1.0))
    words = " ".join(m.summary().split())
    for part in ("2 loads", "spring Spring, on arm, hand", "motor Motor, on wrist"):
        assert part in words
    assert repr(m["spring"]) == "Spring('spring', 'arm', 'hand')"
    assert repr(m["motor"]) == "Motor('motor', 'wrist')"


def test_names_come_first_stay_and_are_told_apart():
    m, arm, hand = pair()
    with pytest.raises(TypeError, match="the first argument is the name"):
        lw.Force(arm, hand, (1, 2, 3))  # type: ignore[arg-type]
    load = m.add(lw.Force("wrist", arm, (1, 2, 3)))
    with pytest.raises(AttributeError, match="name"):
        load.name = "other"  # type: ignore[misc]
    m.add(lw.Force("pull", arm, (1, 2, 3)))
    m.add(lw.Motor("pull", "wrist", 1.0))
    m.add(lw.Motor("", "wrist", 1.0))
    m.add(load)
    told = mistakes(m)
    assert told[0] == "load 'wrist': a joint has this name already; rename one of them"
    assert told[1] == "load 'pull': a load has this name already; rename one of them"
    assert told[2] == "load '': the name is empty; give one"
    assert len(told) == 4


# copies


@pytest.mark.parametrize("made", [lw.Mechanism.copy, copy.copy, copy.deepcopy])
def test_a_copy_has_loads_of_its_own_on_its_own_bodies(made):
    m, arm, hand = pair()
    loads = one_of_each(m)
    for load in loads.values():
        m.add(load)
    other = made(m)
    assert list(other) == list(m)
    assert other["spring"] is not loads[lw.Spring]
    assert other["spring"].on == (other["arm"], other["hand"])
    assert other["coil"].on == (other["wrist"],)
    assert other["spring"].on != (arm, hand)
    check(other)
    other["spring"].stiffness = 9.0  # type: ignore[attr-defined]
    other.remove("motor")
    assert loads[lw.Spring].stiffness == 1.0  # type: ignore
    assert "motor" in m
    q, v = np.array([0.1, 0.2]), np.array([0.3, 0.4])
    other["spring"].stiffness = 1.0
    other.add(lw.Motor("motor", "wrist", 1.0))
    np.testing.assert_allclose(other.compile().motion(q, v), m.compile().motion(q, v), rtol=1e-14)


def test_a_model_does_not_see_later_changes():
    m, _, _ = pair()
    motor = m.add(lw.Motor("motor", "wrist", 1.0))
    model = m.compile()
    motor.law = 5.0
    m.remove("motor")
    state = np.zeros(2), np.zeros(2)
    np.testing.assert_array_equal(model.load_values("motor", *state), [1.0])
    assert m.compile().load_names == ()


def test_a_model_with_loads_of_numbers_can_be_pickled():
    m, arm, hand = pair()
    m.add(lw.Spring("spring", arm, hand, on_child=(1, 0, 0), stiffness=2.0, rest=0.1))
    model = m.compile()
    state = np.array([0.1, 0.2]), np.array([0.3, 0.4])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).motion(*state), model.motion(*state))


def test_a_controller_stays_the_users_own():
    """Its method is called, on it and not on a copy, whatever it holds."""

    class Controller:
        def __init__(self):
            self.calls, self.lock = 0, threading.Lock()

        def law(self, t, q, v):
            with self.lock:
                self.calls += 1
            return -2.0 * q if q > 0 else 0.0

        __call__ = law

    for law in (controller := Controller()).law, controller:
        m, _, _ = pair()
        m.add(lw.Motor("motor", "wrist", law))
        model = m.compile()
        model.motion(np.ones(2), np.zeros(2))
        before = controller.calls
        np.testing.assert_array_equal(model.load_values("motor", np.ones(2), np.zeros(2)), [-2.0])
        model.motion(np.ones(2), np.zeros(2))
        assert controller.calls >= before + 2


# mistakes


def test_every_mistake_of_every_load_is_listed_at_once():
    m, arm, hand = pair()
    other, stranger, _ = pair()
    m.add(lw.Motor("a", "wirst", 1.0))
    m.add(lw.Force("b", stranger, (1, 2), at=(0, 0), frame="boddy"))
    m.add(lw.Spring("c", arm, hand, stiffness=-1.0, damping=np.nan, rest=np.inf))
    m.add(lw.Bushing("d", arm, hand, stiffness=(1, 2), torsion_stiffness=-3))
    m.add(lw.Motor("e", other["wrist"], 1.0))
    with pytest.raises(lw.ModelError) as error:
        m.compile()
    told = [line.strip().split(". ", 1)[1] for line in str(error.value).splitlines()[1:]]
    starts = [
        "load 'a': unknown joint 'wirst'; did you mean 'wrist'",
        "load 'b': body 'arm' is not in this mechanism",
        "load 'b': frame 'boddy'",
        "load 'b': at (0, 0) is not a place",
        "load 'b': law (1, 2); give 3 numbers",
        "load 'c': stiffness -1.0",
        "load 'c': damping nan",
        "load 'c': rest inf",
        "load 'd': stiffness (1, 2)",
        "load 'd': torsion_stiffness -3",
        "load 'e': joint 'wrist' is not in this mechanism",
    ]
    assert [line.startswith(start) for line, start in zip(told, starts, strict=True)] == [True] * len(starts)


def one_mistake(m: lw.Mechanism, load: lw.Load, *words: str) -> None:
    m.add(load)
    (told,) = mistakes(m)
    assert told.startswith(f"load {load.name!r}: ")
    for word in words:
        assert word in told, told


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ((1, 2), "law (1, 2); give 3 numbers"),
        (1.0, "law 1; give 3 numbers"),
        ((1, 2, np.nan), "is not finite"),
        ((1, 2, np.inf), "is not finite"),
        ("north", "law 'north'; give a function, or numbers"),
        (("1", "2", "3"), "give a function, or numbers"),
        (None, "law None"),
        (np.ones((3, 1)), "give"),
    ],
    ids=lambda case: case if isinstance(case, str) else None,
)
def test_the_numbers_of_a_force_make_sense(law, words):
    for make in (lw.Force, lw.Torque):
        m, arm, _ = pair()
        one_mistake(m, make("load", arm, law), words)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda arm: lw.Force("load", arm, (1, 2, 3)), "give 2 numbers"),
        (lambda arm: lw.Torque("load", arm, (1, 2, 3)), "give 1 numbers"),
        (lambda arm: lw.Wrench("load", arm, (1, 2, 3, 4, 5, 6)), "give 3 numbers"),
        (lambda arm: lw.Force("load", arm, (1, 2), at=(1, 2, 3)), "at (1, 2, 3) is off the plane z = 0"),
        (lambda arm: lw.Force("load", arm, (1, 2), at=lw.planar.Frame()), "at "),
    ],
)
def test_the_plane_has_numbers_of_its_own(make, words):
    m, arm, _ = pair("plane")
    one_mistake(m, make(arm), words)


def test_in_the_plane_a_point_may_have_a_third_number_that_is_zero():
    states = np.array([0.1, 0.2]), np.array([0.3, 0.4])
    found = []
    for z in ((), (0,)):
        m, arm, hand = pair("plane")
        m.add(lw.Force("force", arm, (1, 2), at=(0.5, 0.6, *z)))
        m.add(lw.Wrench("wrench", arm, (1, 2, 3), at=(0.5, 0.6, *z)))
        ends = {"on_parent": (1, 2, *z), "on_child": (3, 5, *z)}
        m.add(lw.Spring("spring", arm, hand, stiffness=2.0, rest=0.1, **ends))
        m.add(lw.Bushing("bushing", arm, hand, stiffness=2.0, **ends))
        found.append(m.compile().motion(*states))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"stiffness": -1}, "stiffness -1; give a finite number, 0 or more, or a function"),
        ({"stiffness": np.nan}, "stiffness nan"),
        ({"stiffness": (1, 2)}, "stiffness (1, 2)"),
        ({"stiffness": "hard"}, "stiffness 'hard'"),
        ({"stiffness": True}, "stiffness True"),
        ({"damping": -0.1}, "damping -0.1"),
        ({"damping": np.inf}, "damping inf"),
        ({"rest": np.nan}, "rest nan"),
        ({"rest": "long"}, "rest 'long'"),
        ({"on_parent": (1, 2)}, "on_parent (1, 2) is not a place"),
        ({"on_child": (1, 2, np.nan)}, "on_child (1, 2, nan) is not finite"),
        ({"on_child": lw.Frame()}, "on_child "),
    ],
    ids=lambda case: case if isinstance(case, str) else None,
)
def test_the_numbers_of_a_spring_make_sense(options, words):
    m, arm, hand = pair()
    one_mistake(m, lw.Spring("load", arm, hand, **options), words)
    if not {"on_parent", "on_child"} & options.keys():
        m, _, _ = pair()
        one_mistake(m, lw.TorsionSpring("load", "wrist", **options), words.split(";")[0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"stiffness": -1}, "stiffness -1; give finite numbers, 0 or more"),
        ({"damping": (1, 2)}, "damping (1, 2); give a number, or one per axis"),
        ({"torsion_stiffness": (1, np.nan, 1)}, "torsion_stiffness"),
        ({"torsion_damping": "oil"}, "torsion_damping 'oil'"),
        ({"stiffness": lambda x: x}, "give a number, or one per axis"),
        ({"at": (0, 0, 0), "on_child": (0, 0, 0)}, "at= and on_parent=/on_child= exclude each other"),
        ({"at": (0, 0)}, "at (0, 0) is not a place"),
        ({"on_parent": lw.spatial.translation(0, 0, np.nan)}, "is not finite"),
    ],
    ids=lambda case: case if isinstance(case, str) else None,
)
def test_the_numbers_of_a_bushing_make_sense(options, words):
    m, arm, hand = pair()
    one_mistake(m, lw.Bushing("load", arm, hand, **options), words)


def test_numbers_of_numpy_are_numbers():
    m, arm, hand = pair()
    m.add(lw.Spring("spring", arm, hand, stiffness=np.int64(3), damping=np.float32(0.5), rest=np.float64(1)))
    m.add(lw.Bushing("bushing", arm, hand, stiffness=np.array([1, 2, 3])))
    m.add(lw.Motor("motor", "wrist", np.array([3])))
    m.add(lw.Motor("other", "wrist", np.float32(3)))
    assert np.isfinite(m.compile().motion(np.zeros(2), np.zeros(2))).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda m: lw.Motor("load", "wirst", 1.0), "unknown joint 'wirst'; did you mean 'wrist'"),
        (lambda m: lw.Feedback("load", ["wrist", "elbow"], lambda t, q, v: q), "unknown joint 'elbow'"),
        (lambda m: lw.TorsionSpring("load", "wirst"), "unknown joint 'wirst'"),
        (lambda m: lw.TorsionSpring("load", m.ground, m["hand"]), "0 joints connect these bodies"),
        (lambda m: lw.Force("load", "wrist", (1, 2, 3)), "wrist"),
        (lambda m: lw.Force("load", m["wrist"], (1, 2, 3)), "wrist"),
        (lambda m: lw.Motor("load", m["arm"], 1.0), "arm"),
        (lambda m: lw.Motor("load", m["arm"], (1, 2, 3)), "arm"),
        (lambda m: lw.Feedback("load", m["arm"], lambda t, q, v: q), "arm"),
        (lambda m: lw.Feedback("load", [m["arm"]], lambda t, q, v: q), "arm"),
        (lambda m: lw.Spring("load", m["arm"], m["wrist"], stiffness=1.0), "wrist"),
        (lambda m: lw.TorsionSpring("load", m["arm"]), "arm"),
        (lambda m: lw.Force("load", 3, (1, 2, 3)), "3 is neither a body nor a joint"),
        (lambda m: lw.Motor("load", None, 1.0), "None is neither a body nor a joint"),
        (lambda m: lw.Motor("load", "wrist", (1, 2)), "law (1, 2)"),
        (lambda m: lw.Motor("load", "wrist", "5"), "law '5'"),
        (lambda m: lw.Motor("load", "wrist", np.nan), "law nan is not finite"),
        (lambda m: lw.Feedback("load", "wrist", 3.0), "law 3.0; give a function law(t, q, v)"),
        (lambda m: lw.Load("load", m["arm"]), "does not say how it acts; define act(self, t, ...)"),
    ],
)
def test_loads_act_on_what_they_are_for(make, words):
    m, _, _ = pair()
    one_mistake(m, make(m), words)


def test_strangers_are_told_from_members_of_the_same_name():
    m, _, _ = pair()
    other, arm, hand = pair()
    m.add(lw.Spring("spring", arm, hand))
    m.add(lw.Torque("ground", other.ground, (1, 2, 3)))
    m.add(lw.Motor("motor", other["wrist"], 1.0))
    told = mistakes(m)
    assert told[0] == "load 'spring': body 'arm' is not in this mechanism; add(...) the body"
    assert told[1] == "load 'spring': body 'hand' is not in this mechanism; add(...) the body"
    assert told[-1] == "load 'motor': joint 'wrist' is not in this mechanism; add(...) the joint"
    assert any("body 'ground' is not in this mechanism" in line for line in told)


@pytest.mark.parametrize("wrist", [lw.Fixed, lw.Spherical, lw.Cylindrical])
def test_a_torsion_spring_wants_a_joint_of_one_coordinate(wrist):
    for on in (lambda m: ["wrist"], lambda m: [m["wrist"]], lambda m: [m["arm"], m["hand"]]):
        m, _, _ = pair(wrist=wrist)
        one_mistake(m, lw.TorsionSpring("load", *on(m), stiffness=1.0), "wrist")


def test_bodies_that_two_joints_connect_do_not_tell_a_joint():
    m, arm, hand = pair()
    m.add(lw.Revolute("second", arm, hand))
    one_mistake(
        m, lw.TorsionSpring("load", arm, hand), "2 joints connect these bodies; name the joint itself"
    )


def test_a_weld_cannot_be_driven():
    for make in (
        lambda: lw.Motor("load", "wrist", 1.0),
        lambda: lw.Feedback("load", "wrist", lambda t, q, v: q),
    ):
        m, _, _ = pair(wrist=lw.Fixed)
        one_mistake(m, make(), "joint 'wrist' has no freedom to drive")


def test_a_motor_takes_as_many_numbers_as_its_joint():
    m, _, _ = pair(wrist=lw.Cylindrical)
    m.add(lw.Motor("fits", "wrist", (1, 2)))
    check(m)
    one_mistake(m, lw.Motor("load", "wrist", (1, 2, 3)), "law (1, 2, 3)")


def test_a_joint_is_driven_once_by_a_load():
    class Twice(lw.Load):
        def act(self, t, a, b):
            a.push(1.0)
            b.push(2.0)

    m, _, _ = pair()
    one_mistake(m, Twice("load", "wrist", m["wrist"]), "joint 'wrist' is given twice")
    m, _, _ = pair()
    one_mistake(m, lw.Feedback("load", ["wrist", "wrist"], lambda t, q, v: q), "joint 'wrist' is given twice")


def test_a_load_of_ones_own_tells_its_mistakes():
    class Wind(lw.Load):
        def __init__(self, name, body, speed):
            super().__init__(name, body)
            self.speed = speed

        def mistakes(self):
            return ["speed is negative; turn the wind"] if self.speed < 0 else []

        def act(self, t, body):
            body.push((self.speed, 0, 0))

    m, arm, _ = pair()
    wind = Wind("wind", arm, -1.0)
    one_mistake(m, wind, "speed is negative; turn the wind")
    wind.speed = 2.0
    check(m)
    np.testing.assert_array_equal(m.compile().loads(np.zeros(2), np.zeros(2))[1][0], [0, 0, 0, 2, 0, 0])


# stops


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        (lw.Stop(-1.0), "stop: stiffness -1.0"),
        (lw.Stop(damping=np.nan), "stop: damping nan"),
        (lw.Stop(stiffness=True), "stop: stiffness True"),
        (lw.ExponentialStop(-1.0), "stop: force_at_limit -1.0"),
        (lw.ExponentialStop(sharpness=0.0), "sharpness"),
        (lw.ExponentialStop(damping=None), "damping"),  # type: ignore[arg-type]
        (lw.RigidStop(1.5), "stop: restitution 1.5; give a number from 0 to 1"),
        (lw.RigidStop(True), "stop: restitution True"),
        ("hard", "stop 'hard'; give"),
        (lw.Stop, "stop <class"),
        (3.0, "stop 3.0; give a Stop, an ExponentialStop, a RigidStop"),
        (None, "stop None; give a Stop, an ExponentialStop, a RigidStop"),
    ],
    ids=lambda case: case if isinstance(case, str) else None,
)
def test_the_numbers_of_a_stop_make_sense(stop, words):
    m, arm, hand = pair()
    m.add(lw.Prismatic("slide", arm, hand, limits=(0, 1), stop=stop))
    (told,) = mistakes(m)
    assert told.startswith("joint 'slide': stop")
    assert words in told


@pytest.mark.parametrize("stop", [lw.Stop(np.float32(5)), lw.Stop(damping=np.int64(3)), lw.Stop(0, 0)])  # type: ignore[arg-type]
def test_a_stop_takes_any_number(stop):
    m, _, _ = pair()
    m.joints["wrist"].limits, m.joints["wrist"].stop = (-1, 1), stop
    assert np.isfinite(m.compile().motion([0.0, 2.0], np.zeros(2))).all()  # type: ignore


def test_friction_fades_out_below_some_speed():
    m, _, _ = pair()
    m.joints["wrist"].friction_speed = -0.1
    (told,) = mistakes(m)
    words = "give a speed above 0, below which friction fades out, or 0: it sticks"
    assert told == f"joint 'wrist': friction_speed -0.1; {words}"
    m.joints["wrist"].friction_speed = 0.0
    check(m)
    m.joints["wrist"].friction = lw.Input("grease")
    assert "friction that is an input does not stick" in mistakes(m)[0]


def test_springs_and_limits_want_a_displacement():
    class Compass(lw.Joint):
        positions = 2

        def motion(self, q):
            return lw.rotation_z(lw.atan2(q[1], q[0]))

        def rates(self, q, v):
            return [-q[1] * v[0], q[0] * v[0]]

        def neutral(self):
            return [1.0, 0.0]

    for options in ({"stiffness": 1.0}, {"limits": (-1, 1)}):
        m, arm, hand = pair()
        m.add(Compass("compass", arm, hand, **options))
        (told,) = mistakes(m)
        assert told.startswith("joint 'compass': springs and limits need to know how far the joint has moved")
