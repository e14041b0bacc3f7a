"""Contacts, materials and shapes of ground in files."""

import inspect
import json

import pytest

import linkwork as lw
from linkwork.formats.mechanism_json import mechanism_of_text, mechanism_text
from linkwork.geometry import Collision, Visual


def hunt_crossley(depth, rate, stiffness, power=1.5, dissipation=0.2):
    return lw.where(depth > 0, stiffness * depth**power * (1 + dissipation * rate), 0.0)


def touching(space: str = "space") -> lw.Mechanism:
    """Return a mechanism with all that is said of contact."""
    m = lw.Mechanism("touching", space=space)
    a = m.add(lw.Body("a", lw.Sphere(0.1), mass=1, material=lw.Material.rubber, group=6, mask=-3))
    m.add(lw.Contact("all", without=[(a, "b"), ("a", m.ground)], material=lw.Material(friction=0.1)))
    own = lw.Material(
        friction=0.25, static_friction=1 / 3, rolling=1e-3, torsional=2e-3, young=1e7, poisson=0.45, damping=3
    )
    skins = [Collision(shape=lw.Sphere(0.2), name="ball", material=own), lw.Sphere(0.1)]
    b = m.add(lw.Body("b", lw.Sphere(0.1), mass=1, collisions=skins, material=lw.Material(restitution=0.5)))
    m.add(lw.Contact("pair", ("a", b), law=hunt_crossley))
    m.add(lw.Contact("floor", (m.ground, "b"), material=lw.Material(stiffness=1e5, dissipation=0.1)))
    m.ground.add(lw.Plane(), material=lw.Material.ice)
    m.ground.add(lw.Sphere(1, position=(3, 0, 0)))
    m.ground.visuals = [Visual(shape=lw.Sphere(1), colour=(1, 0, 0, 1))]
    m.ground.material, m.ground.group = lw.Material.wood, 4
    return m


@pytest.mark.parametrize("space", ["space", "plane"])
def test_all_that_is_said_of_contact_comes_back(space, tmp_path) -> None:
    m = touching(space)
    m.save(tmp_path / "m.json")
    again = lw.load(tmp_path / "m.json")
    assert list(again) == list(m)
    for one, other in ((m, again), (m, again.copy())):
        for name in ("a", "b", "ground"):
            for word in ("material", "group", "mask", "collisions", "visuals"):
                skins = [getattr(each[name], word) for each in (one, other)]
                if word == "collisions":
                    skins = [[getattr(x, "material", None) for x in skin] for skin in skins]
                elif word == "visuals":
                    skins = [len(skin) for skin in skins]
                assert skins[0] == skins[1], (name, word)
        for name in ("all", "pair", "floor"):
            was, now = one.contacts[name], other.contacts[name]
            assert repr(was) == repr(now)
            assert was.material == now.material
    assert [tuple(x.name for x in pair) for pair in again.contacts["all"].without] == [
        ("a", "b"),
        ("a", "ground"),
    ]
    assert again.contacts["floor"].between[0] is again.ground
    law = again.contacts["pair"].law
    assert str(inspect.signature(law)) == "(depth, rate, stiffness, power=1.5, dissipation=0.2)"
    for depth, rate in ((0.01, 0.3), (0.02, 1.0)):
        assert law(depth, rate, 1e6) == hunt_crossley(depth, rate, 1e6)
        assert law(rate=rate, depth=depth, dissipation=0.5, stiffness=1e3) == hunt_crossley(
            depth, rate, 1e3, dissipation=0.5
        )
    assert mechanism_text(again) == mechanism_text(m)
    assert mechanism_text(mechanism_of_text(mechanism_text(again).encode())) == mechanism_text(m)
    again.compile()


def test_materials_are_written_by_name_or_by_what_is_unusual() -> None:
    data = json.loads(mechanism_text(touching()))
    assert data["bodies"][0]["material"] == "rubber"
    assert data["bodies"][1]["material"] == {"restitution": 0.5}
    assert data["contacts"][0] == {
        "name": "all",
        "without": [["a", "b"], ["a", "ground"]],
        "material": {"friction": 0.1},
    }
    assert data["contacts"][1]["law"]["of"] == ["depth", "rate", "stiffness"]
    assert data["contacts"][1]["law"]["constants"] == {"power": 1.5, "dissipation": 0.2}
    assert data["ground"]["collisions"][0]["material"] == "ice"


def test_what_is_usual_is_not_written() -> None:
    data = json.loads(mechanism_text(lw.examples.cart_pole()))
    assert not {"contacts", "ground"} & data.keys()
    assert not {"material", "group", "mask"} & data["bodies"][0].keys()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda d: d["bodies"][0].update(material="rubbr"),
            "unknown material 'rubbr'; did you mean 'rubber'",
        ),
        (lambda d: d["bodies"][0].update(material={"fricton": 1}), "fricton"),
        (lambda d: d["bodies"][0].update(material={"friction": -1}), "friction -1"),
        (lambda d: d["bodies"][0].update(material=3), "bodies"),
        (lambda d: d["bodies"][0].update(group=1.5), "whole number"),
        (lambda d: d["bodies"][0].update(mask=1e30), "mask"),
        (lambda d: d["contacts"][1].update(between=["a"]), "the names of two bodies"),
        (lambda d: d["contacts"][1].update(between=["a", "c"]), "unknown body 'c'"),
        (lambda d: d["contacts"][1].update(without=[["a", "b"]]), "between= and without= together"),
        (lambda d: d["contacts"][0].update(without=["a", "b"]), "without"),
        (lambda d: d["contacts"][1].update(law="depth"), "law"),
        (lambda d: d["contacts"][1]["law"].update(formula="dept"), "dept"),
        (lambda d: d["contacts"][1]["law"].update(of=["depth", "depth"]), "depth"),
        (lambda d: d["contacts"][1]["law"].update(constants={"depth": 1}), "'depth' cannot be the name"),
        (lambda d: d["contacts"][1].update(stiffness=3), "stiffness"),
        (lambda d: d["contacts"][1].update(name="a"), "a name that nothing else has"),
        (lambda d: d["ground"].update(position=[0, 0, 1]), "position"),
        (lambda d: d["ground"].update(mask="all"), "mask"),
        (lambda d: d["ground"]["collisions"][0].update(material="icy"), "unknown material 'icy'"),
    ],
)
def test_what_is_wrong_in_a_file_is_refused_with_its_place(change, words) -> None:
    data = json.loads(mechanism_text(touching()))
    change(data)
    with pytest.raises(lw.FormatError) as caught:
        mechanism_of_text(json.dumps(data).encode(), "m.json")
    assert words in str(caught.value)
    assert str(caught.value).startswith("m.json")


def test_what_cannot_be_written_is_refused_by_name() -> None:
    m = touching()
    m.contacts["pair"].law = lambda depth, rate: depth if depth > 0 else 0.0
    with pytest.raises(lw.FormatError, match="contact 'pair': its law cannot be saved"):
        mechanism_text(m)
    m.contacts["pair"].law = lambda depth, *others: depth
    with pytest.raises(lw.FormatError, match=r"contact 'pair': parameter \*others of its law"):
        mechanism_text(m)
    m.contacts["pair"].law = lambda depth, word="x": depth
    with pytest.raises(lw.FormatError, match="parameter word='x' of its law"):
        mechanism_text(m)
    m = touching()
    m.contacts["pair"].between = (lw.Body("a"), "b")
    with pytest.raises(lw.FormatError, match="contact 'pair': body 'a' is not in this mechanism"):
        mechanism_text(m)
