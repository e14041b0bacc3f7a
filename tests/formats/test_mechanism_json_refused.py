"""What a mechanism's file must not say, and what cannot be saved: refused, with its place or its name."""

import copy
import json
import os
import random
import re
from typing import Any

import numpy as np
import pytest
from everything import held, plane, space
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw
from linkwork.formats.mechanism_json import mechanism_of_text, mechanism_text

_BUILDERS = {
    "space": space,
    "plane": plane,
    "held in space": lambda: held("space"),
    "held in the plane": lambda: held("plane"),
}
DATA = {name: json.loads(mechanism_text(build())) for name, build in _BUILDERS.items()}
SMALL = {
    "linkwork": "mechanism",
    "version": 1,
    "name": "small",
    "space": "space",
    "gravity": [0, 0, -9.81],
    "bodies": [{"name": "bob", "shapes": [{"type": "Sphere", "radius": 0.1}], "mass": 1}],
    "joints": [{"name": "pin", "type": "Revolute", "parent": "ground", "child": "bob"}],
    "loads": [{"name": "motor", "type": "Motor", "on": ["pin"], "law": "sin(t)"}],
}


def read(data) -> lw.Mechanism:
    return mechanism_of_text(json.dumps(data).encode(), "m.json")


def changed(path: str, value) -> dict:
    """Return the small mechanism with another value at a path like joints.0.type."""
    data = copy.deepcopy(SMALL)
    *steps, last = (int(step) if step.isdigit() else step for step in path.split("."))
    at: Any = data
    for step in steps:
        at = at[step]
    at[last] = value
    return data


def test_the_small_one_is_fine():
    read(SMALL).compile()


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("colour", "red", r"\$\.colour: unknown key 'colour'"),
        ("linkwork", "scene", r"\$: is not a mechanism of Linkwork"),
        ("version", 3, r"\$\.version: version 3, and this Linkwork reads up to 2; update Linkwork"),
        ("version", "1", r"\$.version: \"1\"; give a finite number"),
        ("space", "flat", r'\$\.space: "flat"; give "space" or "plane"'),
        ("gravity", [0, -9.81], r"\$\.gravity: \[0.0, -9.81\]; give 3 numbers"),
        ("gravity", [0, 0, True], r"\$\.gravity\[2\]: true; give a finite number"),
        ("bodies", {}, r"\$\.bodies: an object; give a list"),
        ("bodies.0.mass", "1", r'\$\.bodies\[0\]\.mass: "1"; give a finite number'),
        ("bodies.0.mass", -1, r"\$\.bodies\[0\]: body 'bob': mass -1.0; give a finite number >= 0"),
        ("bodies.0.density", 5, r"\$\.bodies\[0\]: body 'bob': density 5.0 and mass 1.0 together"),
        ("bodies.0.maas", 1, r"\$\.bodies\[0\]\.maas: unknown key 'maas'; did you mean 'mass'"),
        ("bodies.0.name", "ground", r"\$\.bodies\[0\]\.name: \"ground\"; give a name that nothing else has"),
        ("bodies.0.name", "pin", r"\$\.joints\[0\]\.child: unknown body 'bob'"),
        ("bodies.0.rotation", [1, 1, 0, 0], r"\$\.bodies\[0\]: body 'bob': rotation quaternion"),
        ("bodies.0.rotation", [[1, 0], [0, 1]], r"\$\.bodies\[0\]\.rotation: .*give 3 rows of 3 numbers"),
        ("bodies.0.shapes.0.radius", 0, r"\$\.bodies\[0\]\.shapes\[0\]: Sphere: radius 0.0; give a finite"),
        ("bodies.0.shapes.0.type", "Ball", r"\$\.bodies\[0\]\.shapes\[0\]: unknown shape 'Ball'"),
        ("bodies.0.shapes.0", {"type": "Sphere"}, r"\$\.bodies\[0\]\.shapes\[0\]: 'radius' is missing"),
        ("bodies.0.inertia", {"mass": 1}, r"\$\.bodies\[0\]\.inertia: 'com' is missing"),
        ("joints.0.type", "Hinge", r"\$\.joints\[0\]\.type: unknown joint 'Hinge'.*own has 'motion'"),
        ("joints.0.axis", [0, 0, 0], r"\$\.joints\[0\]: axis \(0, 0, 0\) has no direction"),
        ("joints.0.axis", "z", r"\$\.joints\[0\]\.axis: \"z\"; give a list"),
        ("joints.0.limits", [1], r"\$\.joints\[0\]\.limits: \[1.0\]; give two limits"),
        ("joints.0.limits", [2, 1], r"\$\.joints\[0\]: limits \(2.0, 1.0\): lower is above upper"),
        ("joints.0.damping", [1, 2], r"\$\.joints\[0\]: damping .*; give a number"),
        ("joints.0.pitch", 1, r"\$\.joints\[0\]\.pitch: unknown key 'pitch'"),
        ("joints.0.parent", "earth", r"\$\.joints\[0\]\.parent: unknown body 'earth'"),
        ("joints.0.child", "ground", r"\$\.joints\[0\]: joins a body to itself"),
        ("joints.0.stop", {"type": "Wall"}, r"\$\.joints\[0\]\.stop\.type: \"Wall\"; give \"Stop\" or"),
        ("joints.0.motion", "q[0]", r"\$\.joints\[0\]: 'coordinates' is missing"),
        ("loads.0.on", ["bob"], r"\$\.loads\[0\]\.on\[0\]: \"bob\"; give the name of a joint"),
        ("loads.0.on", [], r"\$\.loads\[0\]\.on: a Motor acts on 1; 0 are given"),
        ("loads.0.law", "sin(u)", r"\$\.loads\[0\]\.law: unknown name 'u'; there are"),
        ("loads.0.law", "__import__('os')", r"\$\.loads\[0\]\.law: unknown name '__import__'"),
        ("loads.0.law", ["a = sin(t)"], r"\$\.loads\[0\]\.law: a law returns its numbers"),
        ("loads.0.law", ["return t", "return t"], r"\$\.loads\[0\]\.law: line 1: return comes last"),
        ("loads.0.law", "(" * 1000 + "t" + ")" * 1000, r"\$\.loads\[0\]\.law: more than 40 brackets"),
        ("loads.0.law", None, r"\$\.loads\[0\]\.law: null; give a finite number"),
        ("loads.0.type", "Engine", r"\$\.loads\[0\]\.type: unknown load 'Engine'.*own has 'act'"),
        ("couplings", [{"name": "c", "joint": "pin", "of": "pim"}], r"\$\.couplings\[0\]: unknown joint"),
        ("order", ["bob"], r"\$\.order: the order does not name every element once"),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_with_its_place(path, value, words):
    with pytest.raises(lw.FormatError, match=rf"m\.json: ({words})"):
        read(changed(path, value))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "m.json:1:1: no JSON"),
        (b"{", "m.json:1:2: no JSON"),
        (b"\xff\xfe", "byte 0 is not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", r"\$: \[\]; give an object"),
        (b'{"linkwork": "mechanism", "linkwork": "mechanism"}', r"\$\.linkwork: the key is given twice"),
    ],
)
def test_what_is_no_mechanism_is_refused(text, words):
    with pytest.raises(lw.FormatError, match=words):
        mechanism_of_text(text, "m.json")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 400])
def test_numbers_that_are_not_finite_are_refused_with_their_place(number):
    text = json.dumps(SMALL).replace('"mass": 1', f'"mass": {number}')
    with pytest.raises(lw.FormatError, match=r"\$\.bodies\[0\]\.mass: the number .*; give a finite number"):
        mechanism_of_text(text.encode())


def test_a_key_given_twice_is_refused_with_its_place():
    text = json.dumps(SMALL).replace('"mass": 1', '"mass": 1, "mass": 2')
    with pytest.raises(lw.FormatError, match=r"\$\.bodies\[0\]\.mass: the key is given twice"):
        mechanism_of_text(text.encode())


def test_a_missing_file_is_an_ordinary_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        lw.load(tmp_path / "nothing.json")


# saving


def one_joint(*loads) -> lw.Mechanism:
    m = lw.Mechanism("m")
    body = m.add(lw.Body("body", lw.Sphere(0.1), mass=1))
    m.add(lw.Revolute("pin", m.ground, body))
    for load in loads:
        m.add(load(m))
    return m


def _counting():
    calls = []

    def law(t, q, v):
        calls.append(t)
        return 1.0 * len(calls)

    return law


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (lambda t, q, v: 1.0 if q > 0 else 0.0, "Python control flow .*lw.where"),
        (
            lambda t, q, v: np.random.default_rng().normal() * q,
            "gives another formula when it is asked again",
        ),
        (_counting(), "gives another formula when it is asked again"),
        (lambda t, q, v: np.interp(q, [0, 1], [2, 3]), "."),
        (lambda t, q, v: float(q), "converted to a float"),
        (lambda t, q, v: {}[t], "on symbols it raised KeyError"),
    ],
)
def test_a_law_that_is_no_formula_is_refused_by_name(law, words, tmp_path):
    m = one_joint(lambda m: lw.Motor("motor", "pin", law))
    with pytest.raises(
        lw.FormatError, match=f"'m' cannot be saved: load 'motor': its law cannot be saved: .*{words}"
    ):
        m.save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def test_what_else_cannot_be_saved_is_named(tmp_path):
    class Sticky:
        absent = ()

        def numbers(self, inertia):
            return ()

        def mistakes(self):
            return []

        @staticmethod
        def force(x, rate, lower, upper, numbers):
            return -x if x > 0 else 0.0

    m = one_joint()
    m["pin"].stop = Sticky()  # type: ignore[attr-defined]
    with pytest.raises(
        lw.FormatError, match=r"joint 'pin': stop Sticky: its force cannot be saved: .*Python control flow"
    ):
        m.save(tmp_path / "m.json")
    m = one_joint()
    m.add(lw.Body("body"))
    with pytest.raises(lw.FormatError, match="body 'body': the name is empty or used twice"):
        m.save(tmp_path / "m.json")
    m = one_joint()
    m.add(lw.Revolute("loose", m.ground, lw.Body("stranger")))
    with pytest.raises(lw.FormatError, match="joint 'loose': child 'stranger' is not in this mechanism"):
        m.save(tmp_path / "m.json")
    m = one_joint()
    m.add(lw.Body("painted", visuals=[[(0, 0), (1, 0)]]))
    with pytest.raises(lw.FormatError, match=r"body 'painted': \[\(0, 0\), \(1, 0\)\] is not a Visual"):
        m.save(tmp_path / "m.json")
    with pytest.raises(lw.FormatError, match=re.escape("give a name that ends in .json")):
        one_joint().save(tmp_path / "m.txt")


def test_an_unfinished_mechanism_can_be_saved_and_read(tmp_path):
    m = lw.Mechanism("unfinished")
    m.add(lw.Body("loose", lw.Sphere(1), mass=1))
    m.save(tmp_path / "m.json")
    again = lw.load(tmp_path / "m.json")
    with pytest.raises(lw.ModelError, match="'loose': not connected to ground"):
        again.compile()


# whatever is done to a file


def _mutate(data, rng: random.Random):
    """Return JSON with one value somewhere changed, taken away, doubled or moved."""
    spots = []

    def walk(value, at):
        spots.append(at)
        for item in value.values() if isinstance(value, dict) else value:
            if isinstance(item, dict | list):
                walk(item, item)

    walk(data, data)
    at = rng.choice([spot for spot in spots if spot])
    key = rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
    odd = [
        None,
        True,
        "",
        "pin",
        "ground",
        -1,
        0,
        1e300,
        1e-300,
        2**70,
        [],
        {},
        [[]],
        [1, 2],
        "sin(",
        "q",
        "\ud800",
    ]
    match rng.randrange(6):
        case 0 | 1:
            at[key] = rng.choice(odd)
        case 2:
            del at[key]
        case 3 if isinstance(at, dict):
            at[rng.choice(["name", "type", "mass", "axis", "motion", "act", "law", "on", "at"])] = at[key]
        case 3:
            at.append(at[key])  # type: ignore[attr-defined]
        case 4 if isinstance(at[key], str):
            place = rng.randrange(len(at[key]) + 1)
            at[key] = (
                at[key][:place] + rng.choice("+-*()[].=',9 aqtv~<") + at[key][place + rng.randrange(2) :]
            )
        case 4 if isinstance(at[key], float | int):
            at[key] = rng.choice([-at[key], at[key] * 1e10, at[key] + 1])
        case _:
            other = rng.choice(spots)
            at[key] = copy.deepcopy(other)


def _other_values(name: str, seed: int, count: int) -> bytes:
    """Return a file in which some values were changed."""
    data, rng = copy.deepcopy(DATA[name]), random.Random(seed)
    for _ in range(count):
        _mutate(data, rng)
    return json.dumps(data).encode()


def _other_bytes(name: str, seed: int) -> bytes:
    """Return a file in which some bytes were changed."""
    rng = random.Random(seed)
    text = bytearray(json.dumps(DATA[name]).encode())
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(text))
        text[place : place + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
    return bytes(text)


@settings(max_examples=100)
@given(st.sampled_from(sorted(DATA)), st.integers(0, 2**32), st.integers(1, 3))
def test_whatever_is_changed_a_file_is_refused_or_is_a_mechanism(name, seed, count):
    _is_read_and_stable(_other_values(name, seed, count))


@settings(max_examples=60)
@given(st.sampled_from(sorted(DATA)), st.integers(0, 2**32))
def test_whatever_bytes_are_changed_a_file_is_refused_or_is_a_mechanism(name, seed):
    _is_read_and_stable(_other_bytes(name, seed))


@pytest.mark.parametrize("count", [30, pytest.param(1000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", sorted(DATA))
def test_of_the_changed_files_some_are_read_and_some_are_refused(name, count):
    for change in (_other_bytes, lambda name, seed: _other_values(name, seed, 1)):
        read = [_is_read_and_stable(change(name, seed)) for seed in range(count)]
        assert any(read)
        assert not all(read)


@settings(max_examples=100)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_noise_is_refused(text):
    with pytest.raises(lw.FormatError):
        mechanism_of_text(text)


def test_only_regular_files_are_read(tmp_path):
    folder, pipe = tmp_path / "folder.json", tmp_path / "pipe.json"
    folder.mkdir()
    os.mkfifo(pipe)
    for path in (folder, pipe):
        with pytest.raises(lw.FormatError, match="not a regular file"):
            lw.load(path)


def _is_read_and_stable(text: bytes) -> bool:
    """Return whether a file is read; what it says can then be saved, and is the same for good."""
    try:
        mechanism = mechanism_of_text(text)
    except lw.FormatError:
        return False
    try:
        saved = mechanism_text(mechanism)
    except lw.FormatError as error:
        if "compiled" not in str(error):  # a law of all coordinates needs a mechanism that can be
            raise
        return True
    assert mechanism_text(mechanism_of_text(saved.encode())) == saved
    return True
