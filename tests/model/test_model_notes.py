"""What a model notes: joints that were added, inertias that no real body has."""

from typing import Any

import numpy as np
import pytest

import linkwork as lw

ADDED = "joint 'bob free' was added: no joint connects body 'bob' to ground"


def bob(space: str) -> tuple[lw.Mechanism, lw.Body]:
    plane = space == "plane"
    m = lw.Mechanism("hung", space=space, gravity=(0, -9.81) if plane else (0, 0, -9.81))
    at = (0.6, -0.8) if plane else (0.6, 0, -0.8)
    return m, m.add(lw.Body("bob", lw.Sphere(0.05), mass=1.0, position=at))


def rope(m: lw.Mechanism, body: lw.Body) -> None:
    m.add(lw.Distance("rope", m.ground, body, length=1.0))


def spring(m: lw.Mechanism, body: lw.Body) -> None:
    m.add(lw.Spring("spring", m.ground, body, stiffness=50.0, rest=1.0))


def own(m: lw.Mechanism, body: lw.Body) -> None:
    class Level(lw.Constraint):
        def phi(self, side: Any) -> Any:
            return [side.position[1]]

    m.add(Level("level", body))


@pytest.mark.parametrize("space", ["space", "plane"])
@pytest.mark.parametrize("holds", [rope, spring, own])
def test_a_body_that_no_joint_holds_gets_a_free_joint(space, holds):
    m, body = bob(space)
    holds(m, body)
    model = m.compile()
    assert model.joint_names == ("bob free",)
    assert model.nv == (3 if space == "plane" else 6)
    assert model.notes == (ADDED,)
    assert ADDED in str(model.diagnose())
    assert "was added" in model._repr_html_()
    assert "bob free" not in m  # the mechanism is as it was described
    run = lw.simulate(model, 0.5)

    m, body = bob(space)
    m.add(lw.Free("bob free", m.ground, body))
    holds(m, body)
    said = m.compile()
    assert said.notes == ()
    np.testing.assert_array_equal(run.q, lw.simulate(said, 0.5).q)


def test_a_chain_that_hangs_on_a_spring_gets_one_joint():
    m, body = bob("space")
    arm = m.add(lw.Body("arm", lw.Sphere(0.05), mass=1.0))
    m.add(lw.Revolute("elbow", body, arm, axis=(0, 1, 0)))
    spring(m, arm)
    model = m.compile()
    assert set(model.joint_names) == {"bob free", "elbow"}


def test_a_rope_keeps_its_length():
    m, body = bob("space")
    rope(m, body)
    run = lw.simulate(m, 2.0)
    np.testing.assert_allclose(np.linalg.norm(run["bob"].position, axis=-1), 1.0, atol=1e-9)


def test_what_nothing_holds_is_a_mistake_still():
    m, body = bob("space")
    m.add(lw.Force("weight", body, lambda side, t: (0, 0, -1.0)))
    with pytest.raises(lw.ModelError, match="'bob': not connected to ground"):
        m.compile()
    assert m.compile(floating=True).notes == (ADDED,)


def test_a_model_that_is_made_anew_keeps_its_notes():
    gain = [1.0]
    m, body = bob("space")
    spring(m, body)
    m.add(lw.Force("law", body, lambda side, t: (gain[0], 0, 0)))
    model = m.compile()
    gain[0] = 2.0
    assert model.notes == (ADDED,)


def test_a_loop_may_be_cut_beside_what_hangs_on_a_spring():
    m = lw.examples.four_bar()
    weight = m.add(lw.Body("weight", lw.Sphere(0.05), mass=1.0))
    m.add(lw.Spring("spring", m.ground, weight, stiffness=5.0))
    for name in "ABCD":
        model = m.compile(cut=[name])
        assert model.cut == [name]
        assert [joint for joint in model.joint_names if "free" in joint] == ["weight free"]


def puma() -> lw.Mechanism:
    """Link 1 of the PUMA 560 as published (Armstrong, Khatib, Burdick 1986): one moment is known."""
    m = lw.Mechanism("puma")
    link = lw.Inertia(0.0, (0, 0, 0), np.diag([0.0, 0.35, 0.0]), unphysical=True)
    m.add(lw.Revolute("waist", m.ground, m.add(lw.Body("link 1", link)), axis=(0, 1, 0)))
    return m


def test_an_inertia_as_published_is_used_and_noted():
    model = puma().compile()
    assert model.mass_matrix(np.zeros(1)).item() == 0.35
    (note,) = model.notes
    assert "body 'link 1' is used as given" in note
    assert "triangle inequality" in note
    assert note in str(model.diagnose())


def test_files_keep_it(tmp_path):
    puma().save(tmp_path / "puma.json")
    again = lw.load(tmp_path / "puma.json")
    assert again.bodies["link 1"].inertia == puma().bodies["link 1"].inertia
    assert again.compile().notes == puma().compile().notes
