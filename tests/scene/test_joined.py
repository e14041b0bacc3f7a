"""Units that are simulated together: their model grows with edits, and is the one made of them at once."""

import numpy as np
from people import crate, doll, world

import linkwork as lw
from linkwork.scene.joined import together


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
        fresh = together(one.units, one.names, scene.statics)
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
