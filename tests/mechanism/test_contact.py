"""Contact: who meets whom, what ground is made of, and what is refused."""

import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism.neighbours import joined_pairs


def crates(*names: str, **options) -> lw.Mechanism:
    m = lw.Mechanism("crates")
    for k, name in enumerate(names):
        m.add(lw.Body(name, lw.Box(1, 1, 1), mass=1, position=(0, 0, 2 * k + 1), **options))
    m.ground.add(lw.Plane())
    return m


def test_bodies_that_may_touch_need_no_joint() -> None:
    m = crates("a", "b")
    with pytest.raises(lw.ModelError, match="not connected to ground"):
        m.compile()
    m.add(lw.Contact("contact"))
    model = m.compile()
    assert model.joint_names == ("a free", "b free")
    assert model.contact_names == ("contact",)
    assert list(m.contacts) == ["contact"]


def test_a_body_has_the_usual_material_unless_it_says_otherwise() -> None:
    body = lw.Body("a", lw.Sphere(1), mass=1)
    assert body.material == lw.Material()
    body.material = lw.Material.ice
    assert body.material == lw.Material.ice
    with pytest.raises(TypeError, match=r"body 'a': material is 'ice'.*give lw.Material.ice"):
        body.material = "ice"
    with pytest.raises(TypeError, match=r"group is 1.5.*one bit per group"):
        lw.Body("a", group=1.5)
    with pytest.raises(ValueError, match=r"mask 18014398509481984; give a whole number of 53 bits"):
        lw.Body("a", mask=2**54)


def test_ground_takes_shapes_in_one_entry_of_the_journal() -> None:
    m = lw.Mechanism()
    m.ground.add(lw.Plane(), lw.Box(1, 1, 1), material=lw.Material.ice)
    m.ground.add(lw.HeightField([[0, 1], [1, 0]], (2, 2)))
    assert len(m.ground.touched_by) == 3
    m.undo()
    assert [shape.material for shape in m.ground.touched_by] == [lw.Material.ice] * 2
    m.undo()
    assert m.ground.touched_by == ()
    m.redo()
    assert len(m.ground.touched_by) == 2


def test_shapes_without_mass_are_for_the_ground_only() -> None:
    m = crates("a")
    with pytest.raises(TypeError, match=r"body 'a': only the ground takes shapes without mass"):
        m["a"].add(lw.Plane())
    with pytest.raises(TypeError, match="ground: cannot add 3"):
        m.ground.add(3)
    with pytest.raises(TypeError, match=r"ground: cannot add .*Box"):
        m.ground.add(lw.Box)
    with pytest.raises(TypeError, match="give at least one"):
        m.ground.add()
    with pytest.raises(TypeError, match=r"ground: material is 'wood'.*lw.Material.wood"):
        m.ground.add(lw.Plane(), material="wood")


def test_what_a_contact_names_must_be_there() -> None:
    m = crates("a", "b")
    m.add(lw.Contact("all"))
    m.add(lw.Contact("other", ("a", "c")))
    m.add(lw.Contact("self", ("a", "a")))
    m.add(lw.Contact("again"))
    m.add(lw.Contact("first", ("a", m["b"])))
    m.add(lw.Contact("second", (m["b"], "a"), without=[("a", "ground")]))
    m.add(lw.Contact("stranger", (lw.Body("a", lw.Sphere(1), mass=1), "b")))
    with pytest.raises(lw.ModelError) as caught:
        m.compile()
    for words in (
        "contact 'other': unknown body 'c'; known are 'ground', 'a', 'b'",
        "contact 'self': 'a' with itself; give two bodies",
        "contact 'again': contact 'all' is about all bodies already",
        "contact 'second': between= and without= together",
        "contact 'second': contact 'first' is about the same pair",
        "contact 'stranger': body 'a' is not in this mechanism",
    ):
        assert words in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"between": "ab"}, "between 'ab'; give two bodies"),
        ({"between": ("a",)}, "give two bodies"),
        ({"between": ("a", 3)}, "give bodies, or their names"),
        ({"without": ("a", "b")}, "give a list of pairs"),
        ({"without": "ab"}, "give a list of pairs"),
        ({"law": 3}, "law 3; give a function"),
        ({"material": 0.5}, "material is 0.5"),
    ],
)
def test_options_of_a_contact_are_refused_by_name(options: dict, words: str) -> None:
    with pytest.raises(TypeError, match=f"contact 'c': .*{words}"):
        lw.Contact("c", **options)


def test_a_pair_needs_shapes_and_groups_that_meet() -> None:
    m = crates("a", "b")
    m.add(lw.Contact("all"))
    empty = m.add(lw.Body("empty", lw.Inertia(1, (0, 0, 0), [[1, 0, 0], [0, 1, 0], [0, 0, 1]])))
    m.add(lw.Free("float", m.ground, empty))
    m.add(lw.Contact("pair", ("a", "empty")))
    with pytest.raises(lw.ModelError, match="body 'empty' has no shape that can be touched"):
        m.compile()
    m.remove("pair")
    m["a"].group, m["b"].mask = 2, 1
    m.add(lw.Contact("pair", ("a", "b")))
    with pytest.raises(lw.ModelError, match="group 2 and mask -1 of 'a' keep it apart from 'b'"):
        m.compile()


def test_a_contact_where_nothing_can_touch_warns() -> None:
    m = lw.Mechanism("empty")
    m.add(lw.Contact("contact"))
    with pytest.warns(UserWarning, match="contact 'contact' of mechanism 'empty': nothing can touch"):
        m.compile()
    m = crates("a")
    m.add(lw.Fixed("weld", m.ground, m["a"]))
    m.add(lw.Contact("contact"))
    with pytest.warns(UserWarning, match="nothing can touch"):
        m.compile()


def test_a_pendulum_beside_a_wall_is_told_that_it_does_not_meet_what_it_hangs_on() -> None:
    m = crates("a")
    m.ground.add(lw.Box(1, 1, 1, position=(3, 0, 0)))
    m.add(lw.Revolute("pin", m.ground, m["a"], at=(0, 0, 1)))
    m.add(lw.Contact("contact"))
    with pytest.warns(UserWarning, match=r"joined to each other.*between=\('a', 'ground'\)"):
        m.compile()
    m.add(lw.Contact("wall", between=(m.ground, "a")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.compile()


def test_kinds_of_compliance_that_do_not_combine_are_refused() -> None:
    m = crates("a", "b")
    m["a"].material, m["b"].material = lw.Material(stiffness=1e5), lw.Material(young=1e9)
    contact = m.add(lw.Contact("all"))
    with pytest.raises(lw.ModelError, match="material of 'a' has a stiffness, that of 'b' a modulus"):
        m.compile()
    contact.material = lw.Material(stiffness=1e5)
    m.compile()


def test_a_body_that_a_contact_names_cannot_be_removed() -> None:
    m = crates("a", "b")
    m.add(lw.Contact("pair", ("a", m["b"])))
    for name in "ab":
        with pytest.raises(ValueError, match="is used by 'pair'"):
            m.remove(name)
    m.remove("pair")
    m.remove("b")
    m.undo()
    m.undo()
    assert m.contacts["pair"].between == ("a", m["b"])


def test_copies_and_models_refer_to_their_own_bodies() -> None:
    m = crates("a", "b")
    contact = m.add(lw.Contact("all", without=[(m["a"], "b")]))
    twin, model = m.copy(), m.compile()
    assert twin.contacts["all"].without[0][0] is twin["a"]
    assert model.mechanism.contacts["all"].without[0][0] is model.mechanism["a"]
    contact.without = []
    assert len(twin.contacts["all"].without) == len(model.mechanism.contacts["all"].without) == 1
    m.undo()
    assert len(contact.without) == 1


def test_an_edit_is_carried_into_the_model() -> None:
    m = crates("a", "b")
    m.add(lw.Contact("all"))
    model = m.compile()
    state = model.state()
    m["a"].material = lw.Material.ice
    m.contacts["all"].without = [("a", "b")]
    model, state = lw.carry(model, state, m)
    assert model.mechanism["a"].material == lw.Material.ice
    assert model.mechanism.contacts["all"].without == (("a", "b"),)


def test_joined_bodies_are_neighbours_and_free_ones_are_not() -> None:
    m = crates("a", "b", "c", "d", "e", "f")
    a, b, c, d, e, f = (m[name] for name in "abcdef")
    m.add(lw.Revolute("ab", a, b, at=(0, 0, 1)))
    m.add(lw.Fixed("bc", b, c))
    m.add(lw.Free("float", m.ground, a))
    m.add(lw.Fixed("wall", m.ground, d))
    m.add(lw.Prismatic("rail", m.ground, e, axis=(1, 0, 0)))
    m.add(lw.Prismatic("slide", d, f, axis=(1, 0, 0)))
    apart = {("a", "b"), ("a", "c"), ("b", "c"), ("e", "ground"), ("d", "f"), ("d", "ground")}
    assert joined_pairs(m) == apart
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world = lw.Colliders.of(m)
    world.move("a", (0, 0, 0))
    for name in "bcdef":
        world.move(name, (0.1, 0, 0))
    met = {tuple(sorted(pair)) for pair in world.contacts().bodies}
    assert {("a", "d"), ("d", "e"), ("a", "ground"), ("f", "ground")} <= met
    assert not met & apart


def test_groups_and_masks_of_bodies_are_those_of_colliders() -> None:
    m = crates("a", "b", group=2, mask=1)
    m["b"].position = (0, 0, 1.5)
    m["a"].position = (0, 0, 0.4)
    world = lw.Colliders.of(m)
    assert set(world.contacts().bodies) == {("ground", "a")}
    m.ground.mask = 1
    assert not len(lw.Colliders.of(m).contacts())


def test_the_summary_names_contacts() -> None:
    m = crates("a", "b")
    m.add(lw.Contact("all", without=[("a", "b")]))
    m.add(lw.Contact("pair", ("a", m.ground)))
    assert (
        "2 contacts\n  all   Contact, between all bodies\n  pair  Contact, between a, ground" in m.summary()
    )


@pytest.mark.parametrize("apart", [{"mask": 0}, {"group": 4, "mask": 4}])
def test_a_body_that_groups_keep_apart_from_all_is_warned_of(apart):
    m = lw.Mechanism("apart")
    m.add(lw.Body("ball", lw.Sphere(0.1), mass=1, **apart))
    m.add(lw.Body("box", lw.Box(0.1, 0.1, 0.1), mass=1, position=(1, 0, 0)))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact"))
    with pytest.warns(UserWarning, match="body 'ball' collides with nothing: group"):
        m.compile()


def hip(length: float) -> lw.Mechanism:
    """Return two crates joined by three hinges in a row, on bodies without shapes, that are `length` long."""
    m = crates("pelvis", "thigh")
    m["pelvis"].position, m["thigh"].position = (0, 0, 1), (0, 0, 0)
    below, at = m["pelvis"], (0, 0, 0.5)
    for name, axis in (("yaw", (0, 0, 1)), ("roll", (1, 0, 0)), ("pitch", (0, 1, 0))):
        small = lw.Body(f"bracket {name}", lw.Inertia(0.1, (0, 0, 0), 1e-4 * np.eye(3)))
        body = m["thigh"] if name == "pitch" else m.add(small)
        m.add(lw.Revolute(name, below, body, at=at, axis=axis))
        below, at = body, (0, 0, 0.5 - length)
    return m


def test_hinges_in_a_row_on_bodies_without_shapes_join_as_one_joint_does() -> None:
    apart = {("bracket yaw", "pelvis"), ("bracket roll", "bracket yaw"), ("bracket roll", "thigh")}
    assert joined_pairs(hip(0.0)) == {*apart, ("pelvis", "thigh")}
    assert joined_pairs(hip(0.1)) == {*apart, ("pelvis", "thigh")}
    assert joined_pairs(hip(5.0)) == apart  # a linkage: its ends may meet


def test_an_arm_on_a_bracket_without_shape_meets_the_ground() -> None:
    m = crates("arm")
    bracket = m.add(lw.Body("bracket", lw.Inertia(0.1, (0, 0, 0), 1e-4 * np.eye(3))))
    m.add(lw.Revolute("yaw", m.ground, bracket, axis=(0, 0, 1)))
    m.add(lw.Revolute("pitch", bracket, m["arm"], at=(0, 0, 0), axis=(0, 1, 0)))
    assert joined_pairs(m) == {("bracket", "ground"), ("arm", "bracket")}
