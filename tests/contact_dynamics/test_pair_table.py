"""Who meets whom by the contacts of a mechanism, and what their contacts are like."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.contact_dynamics.detection.colliding_bodies import (
    deep_overlaps,
    meeting,
    warn_of_overlaps,
)
from linkwork.contact_dynamics.detection.pair_numbers import (
    DISSIPATION,
    FRICTION,
    RESTITUTION,
    STIFFNESS,
)
from linkwork.contact_dynamics.detection.pair_table import pair_table
from linkwork.mechanism.material import ContactNumbers, combined


def scene() -> lw.Mechanism:
    """Return three overlapping balls over a floor of ice with a step of wood."""
    m = lw.Mechanism("scene")
    for k, name in enumerate("abc"):
        material = lw.Material.steel if name < "c" else lw.Material.rubber
        m.add(lw.Body(name, lw.Sphere(0.5), mass=1, position=(0.9 * k, 0, 0.45), material=material))
    m.ground.add(lw.Plane(), material=lw.Material.ice)
    m.ground.add(lw.Box(1, 1, 1, position=(5, 0, 0)) + lw.Sphere(0.3, position=(6, 0, 0)))
    m.ground.material = lw.Material.wood
    return m


def test_the_columns_are_those_of_the_numbers() -> None:
    assert ContactNumbers._fields[FRICTION] == "friction"
    assert ContactNumbers._fields[STIFFNESS] == "stiffness"
    assert ContactNumbers._fields[DISSIPATION] == "dissipation"
    assert len(ContactNumbers._fields) == DISSIPATION + 1


def test_every_pair_of_shapes_has_what_its_materials_say() -> None:
    m = scene()
    m.add(lw.Contact("all"))
    world = meeting(m)
    table = pair_table(m, world)
    made_of = {"a": lw.Material.steel, "b": lw.Material.steel, "c": lw.Material.rubber}
    ground = (lw.Material.ice, lw.Material.wood)
    materials = [
        ground[number] if name == "ground" else made_of[name]
        for name, number in zip(world.shape_bodies, world.shape_numbers, strict=True)
    ]
    assert len(materials) == 6  # a compound is two pieces
    assert table.numbers.shape == (4, 4, 9)
    for i, one in enumerate(materials):
        for j, other in enumerate(materials):
            assert tuple(table.numbers[table.kind[i], table.kind[j]]) == combined(one, other)
    assert (table.law == -1).all()


def test_a_contact_of_a_pair_goes_before_that_of_all() -> None:
    m = scene()
    m.add(lw.Contact("all", material=lw.Material(friction=0.25)))
    m.add(lw.Contact("pair", ("b", "c"), material=lw.Material(friction=0.9, restitution=1.0)))
    m.add(lw.Contact("own", (m["a"], m.ground), law=lambda depth, rate: 1e5 * depth))
    world = meeting(m)
    table = pair_table(m, world)
    kind = dict(zip(world.shape_bodies, table.kind.tolist(), strict=True))

    def of(a: str, b: str, column: int) -> float:
        assert table.numbers[kind[a], kind[b], column] == table.numbers[kind[b], kind[a], column]
        return table.numbers[kind[a], kind[b], column]

    assert (of("b", "c", FRICTION), of("b", "c", RESTITUTION)) == (0.9, 1.0)
    assert of("a", "b", FRICTION) == of("b", "ground", FRICTION) == 0.25
    assert of("a", "ground", FRICTION) == pytest.approx(np.sqrt(0.57 * 0.2))
    assert table.law[kind["a"], kind["ground"]] == table.law[kind["ground"], kind["a"]] == 2
    assert table.law[kind["a"], kind["b"]] == -1


def test_only_pairs_that_a_contact_lets_meet_are_found() -> None:
    m = scene()
    m.add(lw.Contact("pair", ("a", "b")))
    m.add(lw.Contact("floor", ("c", "ground")))
    assert set(meeting(m).contacts().bodies) == {("a", "b"), ("ground", "c")}
    m.add(lw.Contact("all", without=[("a", "b"), ("a", m.ground)]))
    met = set(meeting(m).contacts().bodies)
    assert met == {("a", "b"), ("b", "c"), ("ground", "b"), ("ground", "c")}  # a pair named goes before


def test_a_pair_that_is_joined_meets_if_a_contact_is_about_it() -> None:
    m = scene()
    m.add(lw.Revolute("hinge", m["a"], m["b"], at=(0, 0, 1)))
    m.add(lw.Contact("all"))
    assert ("a", "b") not in set(meeting(m).contacts().bodies)
    m.add(lw.Contact("pair", ("a", "b")))
    assert ("a", "b") in set(meeting(m).contacts().bodies)


def test_bodies_that_overlap_deep_are_named_with_their_depth() -> None:
    m = scene()
    m.add(lw.Contact("all", without=[("a", "b")]))
    world = meeting(m)
    assert deep_overlaps(world) == pytest.approx(
        {("b", "c"): 0.1, ("ground", "a"): 0.05, ("ground", "b"): 0.05, ("ground", "c"): 0.05}
    )
    with pytest.warns(
        UserWarning, match="mechanism 'scene': bodies overlap at the start: 'b' and 'c' by 0.1 m"
    ):
        warn_of_overlaps(m, world)


def test_a_run_that_begins_with_an_overlap_is_warned_of() -> None:
    m = scene()
    m.add(lw.Contact("all"))
    model = m.compile()
    with pytest.warns(UserWarning, match="bodies overlap at the start: 'a' and 'b' by 0.1 m, 'b' and 'c' by"):
        lw.simulate(model, 0.02, step=0.01)
    apart = model.state({"a free": (0, 0, 1, 1, 0, 0, 0), "b free": (9, 0, 1, 1, 0, 0, 0)})
    with pytest.warns(UserWarning, match="bodies overlap at the start: 'ground' and 'c' by 0.05 m; they are"):
        lw.simulate(model, 0.02, apart, step=0.01)


def test_bodies_that_touch_lightly_are_not_reported(recwarn) -> None:
    m = scene()
    for name, x in zip("abc", (0, 1, 2), strict=True):
        m[name].position = (x, 0, 0.4999)
    m.add(lw.Contact("all"))
    warn_of_overlaps(m, meeting(m))
    assert not recwarn.list


def test_contact_in_the_plane() -> None:
    m = lw.Mechanism("plane", space="plane")
    m.add(lw.Body("disc", lw.Polygon([(0, 0), (1, 0), (0, 1)]), mass=1, position=(0, -0.1)))
    m.ground.add(lw.Plane(normal=(0, 1)))
    m.add(lw.Contact("all"))
    model = m.compile()
    assert model.nv == 3
    assert set(meeting(model.mechanism).contacts().bodies) == {("ground", "disc")}
