"""Mechanisms as JSON: all of it comes back, the same bytes every time, and it moves bit for bit the same."""

import json
import pickle
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from everything import Ball, plane, space
from json_schema import faults
from mechanisms import random_tree

import linkwork as lw
from linkwork import examples
from linkwork.formats.mechanism_json import mechanism_of_text, mechanism_text

SCHEMA = json.loads((files("linkwork.formats") / "mechanism.schema.json").read_text())
VALIDATION = Path(__file__).resolve().parents[3] / "shared" / "validation"
SIZED = {"chain": (6,), "four_bars": (3,)}
STEERED = {"pack", "quadruped"}  # by controllers, which are Python
GALLERY = {
    name: lambda name=name: getattr(examples, name)(*SIZED.get(name, ()))
    for name in examples.__all__
    if name not in STEERED
}
MECHANISMS = {**GALLERY, "everything in space": space, "everything in the plane": plane}


def same_motion(a: lw.Model, b: lw.Model, seed: int = 3) -> None:
    """Check that two models give the same bits: structure, accelerations, and a run."""
    assert (a.joint_names, a.body_names, a.loop_names) == (b.joint_names, b.body_names, b.loop_names)
    rng = np.random.default_rng(seed)
    v = rng.normal(size=a.nv)
    q = a.q_drawn
    for t in (0.0, 0.7):
        assert np.array_equal(a.motion(q, v, t), b.motion(q, v, t))
    assert np.array_equal(a.energy(q, v), b.energy(q, v))
    for name in a.load_names:
        assert np.array_equal(a.load_values(name, q, v, 0.3), b.load_values(name, q, v, 0.3), equal_nan=True)
    assert a.load_units == b.load_units


@pytest.mark.parametrize("name", MECHANISMS)
def test_what_is_saved_comes_back_and_moves_the_same(name, tmp_path):
    mechanism = MECHANISMS[name]()
    path = tmp_path / "m.json"
    mechanism.save(path)
    again = lw.load(path)
    assert isinstance(again, lw.Mechanism)
    assert (again.name, again.space, list(again)) == (mechanism.name, mechanism.space, list(mechanism))
    again.save(tmp_path / "again.json")
    assert path.read_bytes() == (tmp_path / "again.json").read_bytes()
    assert mechanism_text(MECHANISMS[name]()) == path.read_text("utf-8")
    same_motion(mechanism.compile(), again.compile())


@pytest.mark.filterwarnings("ignore:couplings are not enforced")
@pytest.mark.parametrize(
    "name", ["steam_engine", "delta_robot", "everything in space", "everything in the plane"]
)
def test_a_run_of_what_was_loaded_is_the_same_to_the_last_bit(name):
    mechanism = MECHANISMS[name]()
    again = mechanism_of_text(mechanism_text(mechanism).encode())
    a, b = (lw.simulate(m, 0.2) for m in (mechanism, again))
    assert np.array_equal(a.time, b.time)
    assert np.array_equal(a.q, b.q)
    assert np.array_equal(a.v, b.v)
    assert np.array_equal(a.work, b.work)


def with_inputs() -> lw.Mechanism:
    """Return a cart-pole with inputs wherever they may stand."""
    m = examples.cart_pole()
    slow = lw.Input("slow", 0.5)
    m.joints["pin"].damping, m.joints["pin"].stiffness, m.joints["pin"].rest = lw.Input("brake"), 3.0, slow
    m.add(lw.Motor("motor", "rail"))
    m.add(lw.Motor("wave", "rail", lambda t, q, v: lw.sin(lw.Input("it's fast", -2.0) * t) - slow * q))
    m.add(lw.Force("push", m.bodies["pole"], lambda body, t: [lw.Input("push"), 0, 0]))
    m.add(
        lw.Spring(
            "spring", m.ground, m.bodies["pole"], on_parent=(0, 0, 2), stiffness=slow, rest=lw.Input("l", 1)
        )
    )
    return m


def test_inputs_come_back(tmp_path):
    m = with_inputs()
    m.save(tmp_path / "m.json")
    again = lw.load(tmp_path / "m.json")
    assert mechanism_text(again) == mechanism_text(m)
    a, b = m.compile(), again.compile()
    assert (
        dict(a.inputs)
        == dict(b.inputs)
        == {**dict.fromkeys(("brake", "motor", "push"), 0.0)}
        | {
            "slow": 0.5,
            "it's fast": -2.0,
            "l": 1.0,
        }
    )
    inputs = {name: 0.3 + 0.1 * k for k, name in enumerate(a.inputs)}
    x, y = (lw.simulate(model, 0.5, model.state(pin=0.2), inputs=inputs) for model in (a, b))
    assert np.array_equal(x.q, y.q)
    plain = lw.simulate(b, 0.5, b.state(pin=0.2))
    assert abs(plain.q[-1] - y.q[-1]).min() > 1e-4


@pytest.mark.parametrize(
    ("law", "words"),
    [
        ({"input": 3}, "give a text"),
        ({"input": "m", "valu": 2}, "did you mean 'value'"),
        ({"input": ""}, "the name is empty"),
        ({"input": "m", "value": "x"}, "give a finite number"),
        ([{"input": "m"}, {"x": 1}], "give a finite number"),
        ("input(3)", "a text is expected"),
        ("input('k', q)", "a number is expected"),
        ("input('')", "the name is empty"),
        ("input 'k'", "unknown name 'input'"),
    ],
)
def test_what_is_no_input_is_refused(law, words):
    m = examples.cart_pole()
    m.add(lw.Motor("motor", "rail"))
    data = json.loads(mechanism_text(m))
    data["loads"][0]["law"] = law
    with pytest.raises(lw.FormatError, match=words):
        mechanism_of_text(json.dumps(data).encode())


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["space", "plane"])
def test_random_trees_come_back(seed, kind):
    mechanism = random_tree(seed, kind)
    again = mechanism_of_text(mechanism_text(mechanism).encode())
    assert mechanism_text(again) == mechanism_text(mechanism)
    same_motion(mechanism.compile(), again.compile())


@pytest.mark.reference
@pytest.mark.filterwarnings("ignore:.*no URDF")
@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("robot", ["double_pendulum_simple", "panda", "simple_humanoid", "solo12", "ur10"])
def test_robots_come_back(robot, base, tmp_path):
    mechanism = lw.load(VALIDATION / "robots" / f"{robot}.urdf", base=base)
    mechanism.save(tmp_path / "robot.json")
    again = lw.load(tmp_path / "robot.json")
    assert mechanism_text(again) == (tmp_path / "robot.json").read_text("utf-8")
    same_motion(mechanism.compile(), again.compile())
    for name, body in mechanism.bodies.items():
        assert again.bodies[name].visuals == body.visuals
        assert again.bodies[name].collisions == body.collisions
    for name, joint in mechanism.joints.items():
        assert (again.joints[name].effort, again.joints[name].speed) == (joint.effort, joint.speed)


def test_every_option_comes_back():
    mechanism = space()
    again = mechanism_of_text(mechanism_text(mechanism).encode())
    for name, joint in mechanism.joints.items():
        other = again.joints[name]
        assert np.array_equal(joint.limit_pairs(), other.limit_pairs())
        assert joint.stop == other.stop
        assert (joint.effort, joint.speed, joint.ends) == (other.effort, other.speed, other.ends)
        for word in ("damping", "friction", "friction_speed", "stiffness", "rest", "armature"):
            assert np.array_equal(joint.per_coordinate(word), other.per_coordinate(word)), (name, word)
        for a, b in zip(joint.frames(), other.frames(), strict=True):
            assert a.scalars() == b.scalars()
        assert joint.neutral() == other.neutral()
        assert joint.can_locate == other.can_locate
    assert again.couplings == mechanism.couplings
    for name, body in mechanism.bodies.items():
        other = again.bodies[name]
        assert (body.inertia, body.visuals, body.collisions) == (
            other.inertia,
            other.visuals,
            other.collisions,
        )
        assert body.parts == other.parts or name == "overruled"
        assert np.array_equal(body.rotation, other.rotation)


def test_the_file_is_readable():
    m = lw.Mechanism("cart", gravity=(0, 0, -9.81))
    cart = m.add(lw.Body("cart", lw.Box(0.4, 0.2, 0.1), density=800))
    m.add(lw.Prismatic("rail", m.ground, cart, axis=(1, 0, 0), limits=(None, 2)))
    m.add(lw.Motor("motor", "rail", lambda t, q, v: 5 * lw.sin(3 * t) - 2 * v))
    assert (
        mechanism_text(m)
        == """{
  "linkwork": "mechanism",
  "version": 1,
  "name": "cart",
  "space": "space",
  "gravity": [0, 0, -9.81],
  "bodies": [{"name": "cart", "shapes": [{"type": "Box", "x": 0.4, "y": 0.2, "z": 0.1}], "density": 800}],
  "joints": [
    {
      "name": "rail",
      "type": "Prismatic",
      "parent": "ground",
      "child": "cart",
      "axis": [1, 0, 0],
      "limits": [null, 2]
    }
  ],
  "loads": [{"name": "motor", "type": "Motor", "on": ["rail"], "law": "5 * sin(3 * t) - 2 * v"}]
}
"""
    )


def test_a_file_typed_by_hand_is_read():
    text = """{"linkwork": "mechanism", "version": 1, "name": "typed", "space": "plane", "gravity": [0, -10],
    "bodies": [{"name": "bar", "shapes": [{"type": "Box", "x": 1, "y": 0.1, "z": 0.1}], "mass": 3,
                "rotation": 0.5}],
    "joints": [{"name": "pin", "type": "Revolute", "parent": "ground", "child": "bar"}],
    "loads": [{"name": "drive", "type": "Motor", "on": ["pin"],
               "law": ["speed = v * 30 / pi", "error = 100 - speed",
                       "return max(min(0.1 * error, 5), -5)"]}]}"""
    m = mechanism_of_text(text.encode())
    law = m["drive"].law
    for v in (-3.0, 10.0, 200.0):
        assert law(0.0, 0.0, v) == max(min(0.1 * (100 - v * 30 / np.pi), 5), -5)
    saved = mechanism_text(m)
    assert '"speed = v * 30 / 3.141592653589793"' in saved
    assert mechanism_text(mechanism_of_text(saved.encode())) == saved


def test_what_was_loaded_can_be_copied_and_pickled():
    m = mechanism_of_text(mechanism_text(space()).encode())
    for other in (m.copy(), pickle.loads(pickle.dumps(m))):
        assert mechanism_text(other) == mechanism_text(m)


def test_a_joint_of_ones_own_that_closes_a_loop():
    class Hinge(lw.Joint):
        def motion(self, q):
            return lw.rotation(q[0])

        def locate(self, X):
            return [lw.atan2(X.rotation[1, 0], X.rotation[0, 0])]

    m = examples.four_bar()
    old = m.remove("C")
    m.add(Hinge("C", old.parent, old.child, at=old.at))
    again = mechanism_of_text(mechanism_text(m).encode())
    a, b = m.compile(), again.compile()
    assert a.loop_names == b.loop_names
    assert np.array_equal(lw.simulate(a, 0.3).q, lw.simulate(b, 0.3).q)


def test_a_joint_whose_class_says_where_it_is():
    class Aside(lw.Revolute):
        def alignment(self):
            return super().alignment() @ lw.rotation_x(0.1)

        def drawn(self):
            return [0.2]

    m = lw.Mechanism("aside")
    body = m.add(lw.Body("body", lw.Sphere(0.1), mass=1, position=(0, 0.3, 0)))
    m.add(Aside("pin", m.ground, body, at=(0, 0, 0), axis=(1, 0, 0)))
    again = mechanism_of_text(mechanism_text(m).encode())
    same_motion(m.compile(), again.compile())
    assert again["pin"].drawn() == [0.2]


def test_files_are_written_all_or_nothing(tmp_path):
    path = tmp_path / "m.json"
    plane().save(path)
    before = path.read_bytes()
    broken = plane()
    broken.add(lw.Motor("if", "pin", lambda t, q, v: 1.0 if q > 0 else 0.0))
    with pytest.raises(lw.FormatError):
        broken.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


def test_the_file_is_json_for_everybody():
    data = json.loads(mechanism_text(space()))
    assert data["linkwork"] == "mechanism"
    assert [body["name"] for body in data["bodies"]] == list(space().bodies)


def test_own_classes_keep_their_names():
    m = mechanism_of_text(mechanism_text(space()).encode())
    assert repr(m["knee"]) == "Knee('knee', 'stud', 'shin')"
    assert repr(m["wind"]) == "Wind('wind', 'pole', 'pin')"
    assert isinstance(Ball("b", m.ground, m["pole"]), lw.Joint)


def fits_schema(text: str) -> None:
    value = json.loads(text)
    assert faults(value, SCHEMA) == []
    if find_spec("jsonschema"):
        import jsonschema

        jsonschema.validate(value, SCHEMA)


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_example_fits_the_published_schema(name):
    fits_schema(mechanism_text(MECHANISMS[name]()))


@pytest.mark.parametrize(
    "wrong",
    [
        {"version": 3},
        {"bodies": {}},
        {"name": 1},
        {"gravity": [0, "x"]},
        {"joints": [{"name": "pin"}]},
        {"oops": 1},
        {"bodies": [{"name": "", "mass": 1}]},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(wrong):
    value = json.loads(mechanism_text(examples.cart_pole())) | wrong
    assert faults(value, SCHEMA)
    with pytest.raises(lw.FormatError):
        mechanism_of_text(json.dumps(value).encode())


def test_notes_and_states_are_kept(tmp_path):
    mechanism = examples.cart_pole()
    mechanism.notes.update({"": "as drawn in 1968", "pole": "oak", "ground": "concrete"})
    mechanism.states["up"] = {"pin": 3.0, "velocities": {"rail": 0.5}}
    path = tmp_path / "noted.json"
    mechanism.save(path)
    fits_schema(path.read_text())
    again = lw.load(path)
    assert (again.notes, again.states) == (mechanism.notes, mechanism.states)
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    assert json.loads(path.read_text())["version"] == 2
    assert again.compile().state(**again.states["up"])["pin"] == 3.0
    text = path.read_text()
    for old, new, words in (
        ('"pin": 3', '"pim": 3', "unknown joint 'pim'"),
        ('"pin": 3', '"pin": [1, 2]', "give 1 numbers"),
        ('"oak"', "7", "give a text"),
    ):
        with pytest.raises(lw.FormatError, match=words):
            mechanism_of_text(text.replace(old, new).encode())


def test_a_mesh_beside_a_file_is_found_from_wherever_that_is_saved(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "models").mkdir()
    (tmp_path / "meshes" / "part.off").write_text("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
    mechanism = examples.cart_pole()
    drawn = lw.geometry.MeshFile(filename="part.off", folder=str(tmp_path / "meshes"))
    mechanism["pole"].visuals = [lw.geometry.Visual(shape=drawn)]
    mechanism.save(tmp_path / "models" / "cart.json")
    assert "../meshes/part.off" in (tmp_path / "models" / "cart.json").read_text()
    shape = lw.load(tmp_path / "models" / "cart.json")["pole"].visuals[0].shape
    assert len(lw.load(shape).faces) == 1
