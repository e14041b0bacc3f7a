"""Constraints, drivers and stops in files: all options come back, equations and laws do the same."""

import json
import pickle

import numpy as np
import pytest
from everything import Egg, held
from scipy.interpolate import CubicSpline, UnivariateSpline

import linkwork as lw
from linkwork.formats.mechanism_json import mechanism_of_text, mechanism_text

SPACES = ("plane", "space")


def again(mechanism: lw.Mechanism) -> lw.Mechanism:
    return mechanism_of_text(mechanism_text(mechanism).encode(), "m.json")


@pytest.mark.parametrize("space", SPACES)
def test_what_is_saved_comes_back_as_the_same_file(space):
    text = mechanism_text(held(space))
    loaded = mechanism_of_text(text.encode())
    assert mechanism_text(loaded) == text == mechanism_text(held(space))
    assert list(loaded) == list(held(space))
    for other in (loaded.copy(), pickle.loads(pickle.dumps(loaded))):
        assert mechanism_text(other) == text


@pytest.mark.parametrize("space", SPACES)
def test_equations_are_the_same_to_the_last_bit(space):
    m = held(space)
    loaded = again(m)
    generator = np.random.default_rng(2)
    assert list(loaded.constraints) == list(m.constraints)
    for name, constraint in m.constraints.items():
        other = loaded.constraints[name]
        for _ in range(3):
            poses = [pose + generator.normal(scale=0.2, size=pose.size) for pose in constraint.drawn_poses()]
            assert np.array_equal(constraint.phi(*poses), other.phi(*poses)), name
            assert np.array_equal(constraint.phi_q(*poses), other.phi_q(*poses)), name


@pytest.mark.parametrize("space", SPACES)
def test_drivers_follow_the_same_laws(space):
    from linkwork.model.driver_law import DriverLaw

    m = held(space)
    loaded = again(m)
    for name, driver in m.drivers.items():
        other = loaded.drivers[name]
        assert (other.drives, other.component) == (driver.drives, driver.component)
        laws = [DriverLaw(each).at(np.linspace(0, 2, 23)) for each in (driver, other)]
        assert np.array_equal(*laws), name  # type: ignore


def test_a_motion_of_what_was_loaded_is_the_same_to_the_last_bit():
    m = lw.Mechanism("cam", space="plane")
    cam = m.add(lw.Body("cam", lw.Sphere(0.1), mass=1))
    follower = m.add(lw.Body("follower", lw.Sphere(0.1), mass=1, position=(0, 0.12)))
    m.add(lw.Revolute("shaft", m.ground, cam))
    m.add(lw.Prismatic("guide", m.ground, follower, axis=(0, 1)))
    m.add(Egg("contact", cam, follower, 0.11))
    m.add(lw.Driver("motor", "shaft", lambda t: 2 * np.pi * t))
    motions = [lw.kinematics(each, np.linspace(0, 1, 50)) for each in (m, again(m))]
    assert np.array_equal(motions[0].q, motions[1].q)
    assert np.array_equal(motions[0]["motor"].force, motions[1]["motor"].force)


def test_a_stop_of_ones_own_pushes_the_same():
    from everything import Rubber

    def between_stops():
        m = lw.Mechanism("slider", gravity=(-3, 0, 0))
        above = m.ground
        for k, hardness in enumerate((300, 7000)):
            body = m.add(lw.Body(f"body {k}", lw.Sphere(0.1), mass=1 + k))
            rail = lw.Prismatic(f"rail {k}", above, body, axis=(1, 0, 0), limits=(-0.05, 0.02))
            rail.stop = Rubber(hardness)
            m.add(rail)
            above = body
        return m

    m = between_stops()
    loaded = again(m)
    assert mechanism_text(loaded) == mechanism_text(m)
    assert loaded["rail 0"].stop == again(m)["rail 0"].stop != loaded["rail 1"].stop  # type: ignore
    a, b = (lw.simulate(each, 0.5) for each in (m, loaded))
    assert np.array_equal(a.q, b.q)
    assert np.abs(a.q).max() > 0.05


def test_stops_of_different_formulas_do_not_share_their_code():
    data = json.loads(mechanism_text(held("space")))
    for joint in data["joints"][:2]:
        joint["limits"] = [-1e-3, 1e-3]
    first = {"type": "Hard", "absent": [0], "numbers": "[100 * inertia]", "force": "-numbers[0] * x"}
    second = {"type": "Soft", "absent": [0], "numbers": "[100 * inertia]", "force": "-numbers[0] * x ** 3"}
    data["joints"][0]["stop"], data["joints"][1]["stop"] = first, second
    for key in ("constraints", "drivers", "couplings", "order"):
        del data[key]
    model = mechanism_of_text(json.dumps(data).encode()).compile()
    q = np.full(model.nq, 0.5)
    at_rest = np.zeros(model.nv)
    stopped = model.forward_dynamics(q, at_rest, model.loads(q, at_rest, 0.0)[0])
    assert stopped[0] == pytest.approx(4 * stopped[1])


def test_the_file_is_readable():
    m = lw.Mechanism("four-bar", space="plane")
    crank, rocker = m.add(lw.Body("crank")), m.add(lw.Body("rocker", position=(0.3, 0)))
    m.add(lw.Revolute("A", m.ground, crank))
    m.add(lw.Revolute("D", m.ground, rocker, at=(0.3, 0)))
    m.add(lw.Distance("rod", crank, rocker, 0.25, on_parent=(0.1, 0), on_child=(0, 0.2)))
    m.add(lw.Driver("motor", "A", lambda t: 2 * np.pi * t))
    text = mechanism_text(m)
    assert '{"name": "motor", "on": ["A"], "law": "6.283185307179586 * t"}' in text
    assert json.loads(text)["constraints"] == [
        {
            "name": "rod",
            "type": "Distance",
            "on": ["crank", "rocker"],
            "length": 0.25,
            "on_parent": [0.1, 0],
            "on_child": [0, 0.2],
        }
    ]


def test_constraints_of_ones_own_keep_their_names():
    m = again(held("plane"))
    assert repr(m["slot"]) == "PinInSlot('slot', 'wheel 0', 'wheel 1')"
    assert "slot" in m.summary()
    assert "PinInSlot, between wheel 0, wheel 1" in m.summary()
    assert "Gear, between pin 0, pin 1" in m.summary()
    assert type(m["egg"]) is lw.Cam


# refused


class Branching(lw.Constraint):
    def phi(self, a):
        return [a.position[0]] if a.position[1] > 0 else [a.position[1]]


class Hasty(lw.Constraint):
    def phi(self, a):
        return [a.velocity[0]]


class Bare(lw.Constraint):
    def phi(self, a):
        return a.position[0]


class Searching(lw.Constraint):
    unknowns = 1

    def guess(self, a):
        return [min((0.0, 1.0), key=lambda s: float(a.position[0]) - s)]

    def phi(self, a, s):
        return [a.position[0] - s, a.position[1]]


class Limping(lw.Driver):
    def phi(self, side, value=0.0):
        return [self.value(side) - 2 * value]


class Table:
    def __call__(self, t):
        return 1.0

    def derivative(self, order=1):
        return lambda t: 0.0


@pytest.mark.parametrize(
    ("element", "words"),
    [
        (lambda m: Branching("b", m["bob"]), "constraint 'b': its phi cannot .*Python control flow"),
        (lambda m: Hasty("h", m["bob"]), r"constraint 'h': its phi cannot be saved: .*'a.velocity\[0\]'"),
        (lambda m: Bare("n", m["bob"]), "constraint 'n': its phi gives no list of numbers"),
        (lambda m: Searching("s", m["bob"]), "constraint 's': its guess cannot be saved"),
        (lambda m: Limping("l", "pin"), "driver 'l': Limping drives in a way of its own"),
        (
            lambda m: lw.Driver("d", "pin", Table()),
            "driver 'd': its law .* is a table that files",
        ),
        (
            lambda m: lw.Driver("u", "pin", UnivariateSpline(range(9), range(9))),
            "driver 'u': its law .* give a CubicSpline",
        ),
        (
            lambda m: lw.Driver("v", "pin", CubicSpline([0, 1, 2], [[0, 1], [1, 2], [0, 1]])),
            "driver 'v': its law .* with one value",
        ),
        (lambda m: lw.Driver("i", "pin", lambda t: 1.0 if t > 0 else 0.0), "driver 'i': its law cannot be"),
        (lambda m: lw.Driver("nan", "pin", float("nan")), "driver 'nan': law nan is not finite"),
        (lambda m: lw.Driver("x", "pim", 1.0), "driver 'x': unknown joint 'pim'; did you mean 'pin'"),
        (lambda m: lw.Distance("far", m["bob"], lw.Body("stranger")), "'stranger' is not in this mechanism"),
        (lambda m: lw.Distance("none", m.ground, m["bob"]), "constraint 'none': length 0; give one above 0"),
    ],
)
def test_what_cannot_be_saved_is_named(element, words, tmp_path):
    m = lw.Mechanism("m", space="plane")
    bob = m.add(lw.Body("bob", lw.Sphere(0.1), mass=1))
    m.add(lw.Revolute("pin", m.ground, bob))
    m.add(element(m))
    with pytest.raises(lw.FormatError, match=f"mechanism 'm' cannot be saved: .*{words}"):
        m.save(tmp_path / "m.json")


DATA = json.loads(mechanism_text(held("plane")))


def changed(list_: str, name: str, **values) -> bytes:
    data = json.loads(json.dumps(DATA))
    entry = next(entry for entry in data[list_] if entry["name"] == name)
    for key, value in values.items():
        if value is ...:
            del entry[key]
        else:
            entry[key] = value
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    ("list_", "name", "values", "words"),
    [
        ("constraints", "rod", {"type": "Rope"}, r"type: unknown constraint 'Rope'.*own has 'phi'"),
        ("constraints", "rod", {"lenght": 1}, r"lenght: unknown key 'lenght'; did you mean 'length'"),
        ("constraints", "rod", {"length": "long"}, r'length: "long"; give numbers'),
        ("constraints", "rod", {"length": [1, 2]}, r"\$\.constraints\[1\]: "),
        ("constraints", "rod", {"length": -1}, r"\$\.constraints\[1\]: length -1; give one above 0"),
        ("constraints", "rod", {"length": None}, r"length: null; give a finite number"),
        ("constraints", "rod", {"on": ["wheel 0"]}, r"on: a Distance is on 2; 1 are given"),
        ("constraints", "rod", {"on": ["wheel 0", "pin 1"]}, r'on\[1\]: "pin 1"; give the name of a body'),
        ("constraints", "rod", {"on": ["wheel 0", "wheel 9"]}, r"on\[1\]: unknown body or joint 'wheel 9'"),
        ("constraints", "rod", {"on_child": [1, 2, 3]}, r"on_child \(1.0, 2.0, 3.0\); give 2 finite numbers"),
        ("constraints", "teeth", {"kind": "round"}, r'kind: "round"; give "external" or "internal" or'),
        ("constraints", "teeth", {"teeth": [1, -1]}, r"teeth \(1.0, -1.0\); give two finite numbers above 0"),
        ("constraints", "curve", {"curve": "s"}, r"curve: return a list of 2 numbers"),
        ("constraints", "curve", {"curve": "[s, sin(r)]"}, r"curve: unknown name 'r'"),
        ("constraints", "curve", {"curve": 3}, r"curve: 3.0; give a text"),
        ("constraints", "curve", {"curve": "[1 / s, 1]", "interval": [-1, 1]}, r"\$\.constraints\[\d+\]: "),
        ("constraints", "slot", {"phi": "1"}, r"phi: phi has a list of numbers"),
        ("constraints", "slot", {"phi": "[a.velocity[0]]"}, r"phi: unknown name 'a.velocity\[0\]'"),
        ("constraints", "slot", {"phi": ["a.push([1, 0])", "return [1]"]}, r"phi: line 1: unknown action"),
        ("constraints", "slot", {"on": {"sin": "wheel 0", "b": "wheel 1"}}, r"on\.sin: 'sin' cannot be"),
        ("constraints", "sling", {"unknowns": ["joint"]}, r"unknowns\[0\]: 'joint' cannot be"),
        ("constraints", "sling", {"guess": "[1, 2]"}, r"guess: return a list of 1 numbers"),
        ("drivers", "motor", {"law": "2 * u"}, r"\$\.drivers\[0\]\.law: unknown name 'u'"),
        ("drivers", "motor", {"law": "[t]"}, r"\$\.drivers\[0\]\.law: a list of 1; return one number"),
        ("drivers", "motor", {"law": ...}, r"\$\.drivers\[0\]: 'law' is missing"),
        ("drivers", "motor", {"law": [1, 2]}, r"\$\.drivers\[0\]\.law: \[1.0, 2.0\]; give a finite number"),
        ("drivers", "motor", {"on": []}, r"\$\.drivers\[0\]\.on: a driver is on 1; 0 are given"),
        ("drivers", "motor", {"component": 1}, r"\$\.drivers\[0\]: joint 'pin 0' has 1 coordinates"),
        ("drivers", "motor", {"component": 0.5}, r"\$\.drivers\[0\]\.component: 0.5; give a whole number"),
        ("drivers", "motor", {"speed": 3}, r"\$\.drivers\[0\]\.speed: unknown key"),
        ("drivers", "angle", {"component": "z"}, r"\('wheel 0', 'z'\) cannot be driven"),
        ("drivers", "cubic", {"law": {"type": "Table"}}, r'law\.type: "Table"; give "PPoly" or'),
        ("drivers", "cubic", {"law": {"type": "PPoly", "breakpoints": [0, 1], "coefficients": [[1, 2]],
                                      "extrapolate": True}}, r"law\.coefficients\[0\]: .*; give 1 numbers"),
        ("drivers", "cubic", {"law": {"type": "PPoly", "breakpoints": [1, 0], "coefficients": [[1]],
                                      "extrapolate": True}}, r"law: a spline has breakpoints in order"),
        ("drivers", "cubic", {"law": {"type": "BSpline", "knots": [0, 1], "coefficients": [1], "degree": 3,
                                      "extrapolate": True}}, r"law: "),
        ("drivers", "cubic", {"law": {"type": "BSpline", "knots": [0, 1], "coefficients": [1],
                                      "degree": 1e9, "extrapolate": True}}, r"law\.degree: .*; give a whole"),
        ("drivers", "cubic", {"law": {"type": "PPoly", "breakpoints": [0, 1], "coefficients": [[1]],
                                      "extrapolate": "yes"}}, r'extrapolate: "yes"; give true, false or'),
        ("joints", "rail", {"stop": {"type": "Wall"}}, r'stop\.type: "Wall"; give "Stop" or'),
        ("joints", "rail", {"stop": {"type": "Stop", "force": "x", "absent": [], "numbers": "[]"}},
         r"stop\.type: a Stop has no force of its own"),
        ("joints", "rail", {"stop": {"type": "Own", "force": "numbers[1]", "absent": [0], "numbers": "[1]"}},
         r"stop\.force: unknown name 'numbers\[1\]'"),
        ("joints", "rail", {"stop": {"type": "Own", "force": "x", "absent": [0], "numbers": "[1, 2]"}},
         r"stop\.numbers: return a list of 1 numbers"),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_with_its_place(list_, name, values, words):
    with pytest.raises(lw.FormatError, match=rf"m\.json: .*{words}"):
        mechanism_of_text(changed(list_, name, **values), "m.json")
