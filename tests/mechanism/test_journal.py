"""Every change of a mechanism can be taken back and made again, and observers hear of it."""

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw
from linkwork.formats.mechanism_json import mechanism_text


def chain(links: int = 3) -> lw.Mechanism:
    m = lw.Mechanism("chain")
    parent = m.ground
    for k in range(links):
        body = m.add(lw.Body(f"b{k}", lw.Box(0.1, 0.1, 1.0), density=1000, position=(0, 0, -k - 0.5)))
        m.add(lw.Revolute(f"j{k}", parent, body, at=(0, 0, -k), axis=(0, 1, 0)))
        parent = body
    return m


def written(m: lw.Mechanism) -> str:
    return mechanism_text(m)


def test_an_assignment_is_one_entry():
    m = chain()
    before, entries = written(m), len(m.journal.undoable)
    m["b0"].position = (1, 0, 0)
    assert len(m.journal.undoable) == entries + 1
    after = written(m)
    assert after != before
    (change,) = m.undo().changes
    assert (change.what, change.name, change.attribute) == ("set", "b0", "position")
    assert written(m) == before
    m.redo()
    assert written(m) == after


def test_gravity_and_name_are_recorded_too():
    m = chain()
    m.gravity, m.name = (0, 0, -1.62), "moon"
    m.undo()
    assert m.name == "chain"
    m.undo()
    assert m.gravity.tolist() == [0, 0, -9.81]


def test_what_is_removed_comes_back_in_its_place():
    m = chain()
    before, names = written(m), list(m)
    pin = m.remove("j2")
    body = m.remove("b2")
    assert "b2" not in m.bodies
    m.undo()
    m.undo()
    assert list(m) == names
    assert written(m) == before
    assert m["j2"] is pin
    assert m["b2"] is body
    assert list(m.joints) == ["j0", "j1", "j2"]


def test_what_is_not_in_a_mechanism_any_more_is_not_recorded():
    m = chain()
    pin = m.remove("j2")
    entries = len(m.journal.undoable)
    pin.damping = 3.0
    assert len(m.journal.undoable) == entries


def test_a_refused_value_leaves_no_trace():
    m = chain()
    before, entries = written(m), len(m.journal.undoable)
    with pytest.raises(ValueError, match="position"):
        m["b0"].position = "here"
    assert written(m) == before
    assert len(m.journal.undoable) == entries


def test_a_group_is_one_entry():
    m = chain()
    before = written(m)
    with m.edit("longer"):
        body = m.add(lw.Body("b3", lw.Sphere(0.1), mass=1.0, position=(0, 0, -3)))
        with m.edit():
            m.add(lw.Fixed("weld", m["b2"], body))
        m["j0"].damping = 0.5
    after = written(m)
    entry = m.undo()
    assert entry.text == "longer"
    assert len(entry.changes) == 3
    assert written(m) == before
    m.redo()
    assert written(m) == after


def test_a_group_that_fails_is_taken_back():
    m = chain()
    before, entries = written(m), len(m.journal.undoable)

    def fail() -> None:
        with m.edit():
            m["j0"].damping = 0.5
            m.remove("j2")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert written(m) == before
    assert len(m.journal.undoable) == entries


def test_observers_hear_of_changes_of_undo_and_of_redo():
    m, heard = chain(), []
    stop = m.observe(heard.append)
    m["j0"].damping = 0.5
    pin = m.remove("j2")
    m.undo()
    m.undo()
    m.redo()
    told = [(c.by, c.what, c.name, c.attribute) for c in heard]
    assert told == [
        ("edit", "set", "j0", "damping"),
        ("edit", "remove", "j2", ""),
        ("undo", "add", "j2", ""),
        ("undo", "set", "j0", "damping"),
        ("redo", "set", "j0", "damping"),
    ]
    assert [(c.old, c.new) for c in heard[:3]] == [(0.0, 0.5), (pin, None), (None, pin)]
    stop()
    m.undo()
    assert len(heard) == 5


def test_a_new_change_ends_what_could_be_redone():
    m = chain()
    m["j0"].damping = 0.5
    m.undo()
    m["j0"].damping = 0.7
    with pytest.raises(IndexError, match="nothing to redo"):
        m.redo()


def test_the_memory_is_bounded():
    m = chain()
    m.journal.limit = 20
    for k in range(100):
        m["j0"].damping = float(k + 1)
    assert len(m.journal.undoable) == 20
    for _ in range(20):
        m.undo()
    assert m["j0"].damping == 80.0
    with pytest.raises(IndexError, match="nothing to undo"):
        m.undo()


def test_undo_within_a_group_is_refused():
    m = chain()
    with m.edit(), pytest.raises(RuntimeError, match="within a group"):
        m.undo()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_has_a_journal_of_its_own(copied):
    m = chain()
    other = copied(m)
    assert other.journal.undoable == ()
    other["j0"].damping = 0.5
    assert m["j0"].damping == 0.0
    assert len(other.journal.undoable) == 1
    other.undo()
    assert written(other) == written(m)


def test_values_cannot_be_changed_behind_the_journal():
    m = chain()
    with pytest.raises(ValueError, match="read-only"):
        m["b0"].position[0] = 3.0
    m["j0"].limits = [-1.0, 1.0]
    assert m["j0"].limits == (-1.0, 1.0)
    axis = np.array([0.0, 0.0, 1.0])
    m["j0"].axis = axis
    axis[0] = 5.0
    assert list(m["j0"].axis) == [0.0, 0.0, 1.0]


def test_an_element_in_two_mechanisms_is_recorded_by_both():
    m, other = chain(), lw.Mechanism("other")
    body = other.add(m["b0"])
    body.position = (1, 2, 3)
    for each in (m, other):
        assert each.journal.undoable[-1].changes[0].attribute == "position"
    other.undo()
    other.undo()
    assert "b0" not in other
    entries = len(other.journal.undoable)
    body.position = (4, 5, 6)
    assert len(other.journal.undoable) == entries
    assert m.undo().changes[0].new.tolist() == [4, 5, 6]


def test_the_mechanism_of_a_model_is_locked():
    model = chain().compile()
    with pytest.raises(AttributeError, match="compiled model"):
        model.mechanism["j0"].damping = 3.0
    with pytest.raises(lw.LinkworkError, match="compiled model"):
        model.mechanism.remove("j2")


edits = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9), st.floats(0.1, 2.0)), max_size=25)


def edited(m: lw.Mechanism, kind: int, which: int, x: float) -> None:
    """Change something, as numbers say."""
    bodies, joints = list(m.bodies.values()), list(m.joints.values())
    body, joint = bodies[which % len(bodies)], joints[which % len(joints)]
    if kind == 0:
        body.position = (x, 0, -x)
    elif kind == 1:
        joint.damping = x
    elif kind == 2:
        joint.limits = [-x, x]
    elif kind == 3:
        m.gravity = (0, 0, -x)
    elif kind == 4 and len(joints) > 1:
        m.remove(joint)
    elif kind == 5:
        body.inertia = lw.Inertia(x, (0, 0, 0), np.eye(3))
    elif kind == 6:
        number = len(m.journal.undoable)
        with m.edit():
            new = m.add(lw.Body(f"n{number}", lw.Sphere(0.1), mass=x, position=(x, x, 0)))
            m.add(lw.Spherical(f"s{number}", body, new, at=(x, 0, 0)))


@settings(max_examples=60, deadline=None)
@given(edits, st.lists(st.booleans(), max_size=12))
def test_all_undone_is_the_beginning_and_all_redone_the_end(sequence, wobble):
    m = chain()
    entries = len(m.journal.undoable)
    texts = [written(m)]
    for edit in sequence:
        done = len(m.journal.undoable)
        edited(m, *edit)
        if len(m.journal.undoable) > done:
            texts.append(written(m))
    json.loads(texts[-1])
    for back in wobble:
        if back and len(m.journal.undoable) > entries:
            m.undo()
        elif m.journal.redoable:
            m.redo()
    while len(m.journal.undoable) > entries:
        assert written(m) == texts[len(m.journal.undoable) - entries]
        m.undo()
    assert written(m) == texts[0]
    while m.journal.redoable:
        m.redo()
    assert written(m) == texts[-1]
