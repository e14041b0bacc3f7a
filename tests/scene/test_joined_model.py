"""Units that are simulated together: their model grows with edits, and is the one made of them at once."""

import numpy as np
from people import crate, doll, world

import linkwork as lw
from linkwork.scene.joined_model import together


def heap(**options):
    """Return three dolls and a crate so near to each other that they are simulated together."""
    scene = world(**options)
    source = doll()
    dolls = [scene.add(source, position=(0.25 * k, 0.1 * k, -0.1)) for k in range(3)]
    box = scene.add(crate(), position=(0.25, 0.0, 2.0))
    scene.step(1 / 60, n=2)
    return scene, dolls, box


def largest(scene):
    return max(scene.encounters.all, key=lambda one: len(one.units))


def test_what_has_grown_by_edits_is_what_is_made_at_once():
    scene, dolls, _ = heap()
    edits = [
        lambda: dolls[1].detach("left hand"),
        lambda: scene.weld(dolls[0]["trunk"], dolls[2]["right hand"]),
        lambda: scene.remove(dolls[1]),
        lambda: scene.add(lw.Box(0.2, 0.2, 0.1, position=(3, 3, 0)), name="step"),
    ]
    for change in edits:
        change()
        scene.step(1 / 60, n=2)
        one = largest(scene)
        assert len(one.units) > 1
        fresh = together(one.units, one.names, scene.gravity, scene.statics)
        assert fresh.model.digest == one.model.digest
        assert fresh.model.body_names == one.model.body_names
        for own, other in zip(fresh.columns, one.joined.columns, strict=True):
            np.testing.assert_array_equal(own[0], other[0])
            np.testing.assert_array_equal(own[1], other[1])


def test_an_edit_in_a_heap_compiles_only_what_has_changed():
    scene, dolls, _ = heap()
    before = largest(scene)
    kept = {id(block) for block in before.model.link_tree.blocks}
    dolls[1].detach("left hand")
    scene.step(1 / 60)
    blocks = largest(scene).model.link_tree.blocks
    assert sum(id(block) in kept for block in blocks) >= len(blocks) - 6


def test_contacts_in_a_heap_remember_over_an_edit():
    scene, dolls, _ = heap()
    scene.step(1 / 60, n=60)
    before = sum(float(np.linalg.norm(one.force)) for one in scene.contacts)
    dolls[1].detach("left hand")
    after = sum(float(np.linalg.norm(one.force)) for one in scene.contacts)
    assert after > 0.9 * before


def test_saved_at_random_times_among_edits_it_goes_on_bit_for_bit(tmp_path):
    scene, dolls, box = heap(record=False)
    rng = np.random.default_rng(5)
    edits = iter([
        lambda: dolls[1].detach("left hand"),
        lambda: scene.weld(dolls[0]["trunk"], dolls[2]["right hand"]),
        lambda: scene.remove(box),
        lambda: dolls[1].disintegrate(),
    ])  # fmt: skip
    for k in range(20):
        scene.step(1 / 60, n=int(rng.integers(1, 6)))
        if k % 5 == 2:
            next(edits)()
        scene.save(tmp_path / "now.lws")
        again = lw.load(tmp_path / "now.lws")
        then = scene.snapshot()
        again.step(1 / 60, n=2)
        scene.step(1 / 60, n=2)
        assert again.hash() == scene.hash()
        scene.restore(then)
        scene.step(1 / 60, n=2)
        assert again.hash() == scene.hash()


def machine(gain):
    """Return a mechanism with all kinds of elements: a loop, a coupling, laws, a contact of a pair."""
    m = lw.Mechanism("machine")
    parts = {
        name: m.add(lw.Body(name, lw.Box(0.1, 0.04, 0.04), density=1000, position=place))
        for name, place in (("crank", (0, 0, 1)), ("rod", (0.2, 0, 1)), ("slide", (0.4, 0, 1)))
    }
    m.add(lw.Revolute("shaft", m.ground, parts["crank"], at=(0, 0, 1), axis=(0, 1, 0), damping=0.01))
    m.add(lw.Revolute("pin", parts["crank"], parts["rod"], at=(0.1, 0, 1), axis=(0, 1, 0)))
    m.add(lw.Revolute("wrist", parts["rod"], parts["slide"], at=(0.3, 0, 1), axis=(0, 1, 0)))
    m.add(lw.Prismatic("guide", m.ground, parts["slide"], axis=(1, 0, 0)))
    wheel = m.add(lw.Body("wheel", lw.Sphere(0.05), density=1000, position=(0, 0.3, 1)))
    m.add(lw.Revolute("axle", m.ground, wheel, at=(0, 0.3, 1), axis=(0, 1, 0)))
    m.add(lw.Gear("gear", "shaft", "axle", ratio=2.0))
    m.add(lw.Motor("drive", "shaft", lambda t, q, v: gain["k"] * (1.0 - v)))
    m.add(lw.Spring("spring", parts["rod"], wheel, stiffness=10.0))
    m.add(lw.Contact("pair", between=("crank", "wheel"), material=lw.Material(friction=0.1)))
    return m


def test_members_with_loops_laws_and_couplings_follow_edits():
    gain = {"k": 0.5}
    scene = world()
    made = scene.add(machine(gain), position=(0, 0, 0.3))
    near = [scene.add(doll(), position=(0.3 * k, 0.3, 0.3)) for k in range(2)]
    scene.step(1 / 60, n=2)
    assert len(largest(scene).units) == 3
    for change in (
        lambda: near[0].detach("left hand"),
        lambda: scene.attach(near[1]["trunk"], made["slide"], lw.Spherical),
        lambda: near[1].remove("gear"),
    ):
        change()
        scene.step(1 / 60)
        one = largest(scene)
        fresh = together(one.units, one.names, scene.gravity, scene.statics)
        assert fresh.model.digest == one.model.digest
        assert fresh.model.joint_names == one.model.joint_names


def test_an_edit_in_a_heap_copies_only_what_has_changed():
    scene, dolls, _ = heap()
    kept = {id(thing) for thing in largest(scene).model.mechanism.elements}
    dolls[1].detach("left hand")
    scene.step(1 / 60)
    elements = largest(scene).model.mechanism.elements
    assert sum(id(thing) not in kept for thing in elements) <= 3  # the joint that floats, and the contact


def test_what_is_left_of_edits_grows_from_any_whole_before():
    scene, dolls, _ = heap()
    then = scene.snapshot()
    dolls[1].detach("left hand")
    scene.step(1 / 60)
    kept = {id(thing) for thing in largest(scene).model.mechanism.elements}
    scene.restore(then)  # as it was: another has grown from its model meanwhile
    dolls[0].detach("left hand")
    scene.step(1 / 60)
    elements = largest(scene).model.mechanism.elements
    assert sum(id(thing) in kept for thing in elements) > 0.8 * len(elements)


def test_edits_compile_nothing(monkeypatch):
    scene, dolls, box = heap()
    scene.step(1 / 60, n=2)

    def refused(*_):
        raise AssertionError("an edit compiles code for one build")

    monkeypatch.setattr("linkwork.dynamics.native_program._unrolled", refused)
    dolls[1].detach("left hand")
    scene.step(1 / 60)
    scene.fracture(box["crate"], [lw.Body(f"half {k}", lw.Sphere(0.1), density=500.0) for k in range(2)])
    dolls[2].disintegrate()
    scene.step(1 / 60)
    dolls[0].detach("right hand")
    scene.step(1 / 60)
