"""A script builds the mechanism again, bit for bit."""

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.errors import FormatError
from linkwork.formats.mechanism_json import mechanism_text
from linkwork.mechanic.python_script import script
from linkwork.mechanic.script_reader import mechanism_of_script


@pytest.mark.parametrize(
    "name", ["slider_crank", "four_bar", "cart_pole", "stewart_platform", "acrobat", "ratchet", "gripper"]
)
def test_a_script_gives_the_same_file(name):
    m = getattr(examples, name)()
    made = {"__name__": "script"}
    exec(script(m), made)
    assert mechanism_text(made["m"]) == mechanism_text(m)
    one, other = (each.compile(floating=True) for each in (made["m"], m))
    for word in ("masses", "q_drawn", "joint_names", "body_names", "loop_names"):
        assert np.array_equal(getattr(one, word), getattr(other, word))
    q, v, tau = one.q_drawn, np.linspace(-1.0, 1.0, one.nv), np.linspace(0.0, 2.0, one.nv)
    assert one.mass_matrix(q).tobytes() == other.mass_matrix(q).tobytes()
    assert one.forward_dynamics(q, v, tau).tobytes() == other.forward_dynamics(q, v, tau).tobytes()


def test_names_that_are_no_words_of_python_and_formulas_are_written():
    m = lw.Mechanism('a "name"\\')
    body = m.add(lw.Body('für 7 "x"', lw.Box(1, 1, 1), density=2.0, color="red"))
    pin = m.add(lw.Revolute("lambda", m.ground, body, at=(0.1, 0.2, 0.3), axis=(1, 2, 3)))
    m.add(lw.Motor("m", pin, lambda t, q, v: 0.1 * lw.sin(t) - 0.2 * v))
    text = script(m)
    assert "sin" in text.split("lambda t, q, v:")[1]


def test_what_a_script_cannot_say_is_refused_by_name():
    with pytest.raises(FormatError, match=r"'steam': Steam is a class of your own"):
        script(examples.steam_engine())


@pytest.mark.parametrize(
    "line",
    [
        "import os; os.system('x')",
        "m = lw.Mechanism('m').__class__",
        "m = [x for x in (1, 2)]",
        "m = open('/etc/passwd')",
        "m = lw._private",
        "while True: pass",
    ],
)
def test_what_no_script_of_a_mechanism_says_is_not_followed(line):
    with pytest.raises(FormatError, match="scripts of mechanisms"):
        mechanism_of_script(line, [])
