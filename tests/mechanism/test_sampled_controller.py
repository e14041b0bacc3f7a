"""Sampled controllers as they are described: what is refused, and that they are elements like others."""

from typing import Any

import numpy as np
import pytest

import linkwork as lw


def law(t, q, v):
    return 0.0


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"every": 0.0}, "every 0.0; give the seconds"),
    ({"every": -1.0}, "every -1.0"),
    ({"every": np.inf}, "every inf"),
    ({"every": "often"}, "every 'often'"),
    ({"offset": np.nan}, "offset nan"),
    ({"law": 3.0}, "law 3.0; give a function"),
    ({"limits": 1.0}, "limits 1.0; give"),
    ({"limits": (2.0, 1.0)}, "limits"),
    ({"limits": (0.0, np.nan)}, "limits"),
    ({"memory": "nothing"}, "memory 'nothing'"),
    ({"memory": {"integral": 0.0}}, "memory"),
    ({"memory": [np.nan]}, "memory"),
    ({"inputs": []}, "give the name of an input"),
    ({"inputs": ["motor", "motor"]}, "give each once"),
    ({"inputs": [3]}, "give the name of an input"),
]


def described(words: dict[str, Any]) -> lw.Mechanism:
    m = lw.examples.cart_pole()
    m.add(lw.Motor("motor", "rail"))
    options: dict[str, Any] = {"inputs": "motor", "every": 0.01, "law": law, **words}
    m.add(lw.Sampled("balance", options.pop("inputs"), **options))
    return m


@pytest.mark.parametrize(("words", "told"), WRONG)
def test_wrong_options_are_refused(words, told):
    with pytest.raises(lw.ModelError, match="'balance'") as error:
        described(words).compile()
    assert told in str(error.value)


def test_it_is_an_element_of_a_mechanism():
    m = described({})
    assert "balance" in m
    assert m.copy().compile().load_names == ("motor", "balance")
    balance: Any = m["balance"]
    balance.every = 0.02
    locked: Any = m.compile().mechanism["balance"]
    assert locked.every == 0.02
    m.remove("balance")
    m.undo()
    assert repr(m["balance"]) == "Sampled('balance')"


def test_a_motor_without_a_law_is_an_input_by_its_name():
    m = described({})
    assert dict(m.compile().inputs) == {"motor": 0.0}
    ball = lw.Mechanism()
    body = ball.add(lw.Body("body", lw.Sphere(1.0), density=1.0))
    ball.add(lw.Spherical("joint", ball.ground, body, at=(0, 0, 1)))
    ball.add(lw.Motor("motor", "joint"))
    with pytest.raises(lw.ModelError, match="takes 3 numbers, or a list of inputs"):
        ball.compile()
    ball.remove("motor")
    ball.add(lw.Motor("motor", "joint", [lw.Input(f"motor {axis}") for axis in "xyz"]))
    assert list(ball.compile().inputs) == ["motor x", "motor y", "motor z"]


def test_an_input_is_changed_in_runs_and_nowhere_else():
    throttle: Any = lw.Input("throttle", 1.0)
    with pytest.raises(AttributeError, match=r"sim.inputs\['throttle'\]"):
        throttle.value = 2.0
    m = lw.examples.cart_pole()
    m.add(lw.Motor("motor", "rail", throttle))
    model = m.compile()
    assert model.current is model  # there is nothing that it would have to follow
