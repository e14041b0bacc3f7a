"""Functions as formulas: what is written is read back as the same, and computes the same, to the last bit."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwork as lw
from linkwork.formats.formula_arguments import BodyArgument, Scalar, Whole
from linkwork.formats.formula_law import law_of_function, law_of_text
from linkwork.trace.expression import Graph
from linkwork.trace.graph_walks import reachable

T, Q, V = ARGUMENTS = [Scalar(name) for name in "tqv"]
BODY = BodyArgument("body", "space")


def random_function(seed: int):
    """Return a function of t, q and v made of anything, in which parts are used again and out of order."""

    def law(t, q, v):
        rng = random.Random(seed)
        parts, unused = [t, q, v], {0, 1, 2}

        def part():
            k = rng.randrange(len(parts))
            unused.discard(k)
            return parts[k]

        for _ in range(rng.randrange(1, 30)):
            a = part()
            b = part() if rng.random() < 0.7 else rng.choice([0.0, 1.0, -1.0, rng.uniform(-3, 3)])
            if rng.random() < 0.2:
                a, b = b, a
            unused.add(len(parts))
            parts.append(_combined(rng, a, b))
        return sum((parts[k] * rng.uniform(1, 2) for k in sorted(unused)), 0.0)

    return law


def _combined(rng: random.Random, a, b):
    match rng.randrange(12):
        case 0 | 1 | 2:
            return a + b
        case 3 | 4:
            return a - b
        case 5 | 6:
            return a * b
        case 7:
            return a / (2.0 + lw.abs(b))
        case 8:
            return -a
        case 9:
            return lw.where((a < b) | (a != a), a, b) if rng.random() < 0.5 else lw.max(a, b)
        case 10:
            name = rng.choice(["sin", "cos", "tanh", "exp", "atan"])
            return getattr(lw, name)(a if name != "exp" else lw.sin(a))
        case _:
            return (1.0 + a * a) ** rng.choice([2, 0.5, -1, 3, 1.3])


@given(st.integers(0, 2**32))
def test_a_formula_is_read_back_and_gives_what_the_function_gives(seed):
    function = random_function(seed)
    law = law_of_function(function, ARGUMENTS)
    again = law_of_text(law.text, ARGUMENTS)
    assert again.text == law.text
    for values in ((0.3, -1.2, 2.0), (0.0, 0.5, -0.1)):
        assert again(*values) == function(*values)


@pytest.mark.parametrize("seed", range(200))
def test_sums_keep_the_order_in_which_the_tracer_fuses_them(seed):
    function = random_function(seed)
    again = law_of_text(law_of_function(function, ARGUMENTS).text, ARGUMENTS)
    assert sums(again) == sums(function)


def sums(law) -> list[tuple[str, ...]]:
    """Return every sum and difference of the traced law, its operands spelled out, as a set."""
    graph = Graph()
    root = law(*(graph.symbol(name) for name in "tqv"))
    spelled: dict[int, str] = {}
    found = set()
    for x in reachable([root]):
        args = [spelled[a.index] if hasattr(a, "graph") else repr(a) for a in x.args]
        if x.op in ("mul", "eq", "ne"):
            args = sorted(args)  # products have no order
        spelled[x.index] = str(hash((x.op, *args)))
        if x.op in ("add", "sub"):
            found.add((x.op, *args))
    return sorted(found)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda t, q, v: 5 * lw.sin(3 * t) - 2 * v, "5 * sin(3 * t) - 2 * v"),
        (lambda t, q, v: -((q + v) ** 2), "-(q + v) ** 2"),
        (lambda t, q, v: (-q) ** 2, "(-q) ** 2"),
        (lambda t, q, v: t - (q - v), "t - (q - v)"),
        (lambda t, q, v: t / (q / v), "t / (q / v)"),
        (lambda t, q, v: (t * q) / v, "t * q / v"),
        (lambda t, q, v: 2 ** (q**v), "2 ** q ** v"),
        (lambda t, q, v: (2**q) ** v, "(2 ** q) ** v"),
        (lambda t, q, v: lw.where((q > 0) & ~(v <= 1), 1, -1), "where((q > 0) & ~(v <= 1), 1, -1)"),
        (lambda t, q, v: np.sign(q) * abs(v), "where(q > 0, 1, where(q < 0, -1, q)) * abs(v)"),
        (lambda t, q, v: lw.tanh(v / 1e-3), "tanh(v / 0.001)"),
        (lambda t, q, v: q % 2, "q - floor(q / 2) * 2"),
        (lambda t, q, v: 3, "3"),
    ],
)
def test_formulas_read_like_python(function, text):
    law = law_of_function(function, ARGUMENTS)
    assert law.text == text
    assert law(0.3, 0.7, 1.5) == function(0.3, 0.7, 1.5)


def test_what_is_used_again_gets_a_name():
    def law(t, q, v):
        s = lw.sin(q)
        return s * s + s

    assert law_of_function(law, ARGUMENTS).text == ["s1 = sin(q)", "return s1 * s1 + s1"]


def test_names_of_a_text_are_kept():
    text = ["speed = 30 * v / 3.5", "return 2 * speed"]
    assert law_of_text(text, ARGUMENTS).text == text


def test_vectors_of_a_body_are_named_as_a_whole():
    law = law_of_function(lambda body, t: body.to_local(body.velocity), [BODY, T])
    assert law.text == ["s1 = body.to_local(body.velocity)", "return [s1[0], s1[1], s1[2]]"]
    assert law_of_text(law.text, [BODY, T]).text == law.text


def test_coordinates_go_by_the_names_of_joints():
    whole = Whole("q", {"it's": slice(0, 1), "ball": slice(1, 4)})
    law = law_of_function(lambda q: q[0] + q["ball"][2] * q[1], [whole])
    assert law.text == "q['it\\'s'] + q['ball'][2] * q['ball'][0]"
    again = law_of_text(law.text, [whole])
    assert again({"it's": 1.0, "ball": [2.0, 3.0, 4.0]}) == 9.0


def test_long_formulas_are_split_into_lines():
    law = law_of_function(lambda t, q, v: sum(lw.sin(k * t) for k in range(1, 500)), ARGUMENTS)
    assert max(map(len, law.text)) < 400
    again = law_of_text(law.text, ARGUMENTS)
    assert again.text == law.text
    assert again(0.1, 0, 0) == sum(math.sin(k * 0.1) for k in range(1, 500))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t +", "'the end' at 3"),
        ("t t", "'t' at 2; expected is 'the end'"),
        ("u", "unknown name 'u'"),
        ("t.real", "'.' at 1"),
        ("t[0]", r"'\[' at 1"),
        ("sin(t, q)", "sin takes 1 numbers; 2 were given"),
        ("where(t, 1, 2)", "'where': a number where a condition is expected"),
        ("t & (t < 1)", "'&': a number where a condition is expected"),
        ("~t", "'~': a number where a condition is expected"),
        ("9 ** 9 ** 9 ** 9", "constants give no number"),
        ("1 < 2", "constants give True"),
        ("0 * inf", "constants give nan"),
        ("1 / 0", "division by zero"),
        ("log(-1)", "domain"),
        ("(-1) ** 0.5", "constants give"),
        ("t < q < v", "do not chain"),
        ("lambda: 0", "is not a part of a formula"),
        ("t if q else v", "'if' at 2"),
        ("q := 3", "is not a part of a formula"),
        ('"text"', "is not a part of a formula"),
        ("__import__('os').system('ls')", "unknown name '__import__'"),
        ("-" * 10_000 + "t", "more than 40"),
        ("t" + " + t" * 30_000, "more than 20000 operations"),
        ("9" * 500_000, "longer than 400000"),
        (["t = 3", "return t"], "'t' is taken"),
        (["sin = 3", "return t"], "'sin' is taken"),
        (["a = t", "a = q", "return a"], "'a' is taken"),
        (["body.push([1, 2, 3])"], "unknown action 'body.push'"),
    ],
)
def test_what_is_no_formula_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        law_of_text(text, ARGUMENTS)


def test_work_is_bounded():
    many = " + ".join(f"sin({k} * t)" for k in range(15_000))
    with pytest.raises(ValueError, match="more than 20000 operations"):
        law_of_text(many, ARGUMENTS)
