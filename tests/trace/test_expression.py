"""Expressions: folding, sharing, and a clear word where Python asks for a number that is not there yet."""

import math
import operator
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from linkwork.algebra import number
from linkwork.errors import TraceError
from linkwork.trace.expression import Expr, Graph
from linkwork.trace.graph_walks import evaluate, is_smooth, reachable, with_constants


@pytest.fixture
def graph() -> Graph:
    return Graph()


@pytest.fixture
def x(graph: Graph) -> Expr:
    return graph.symbol("x")


@pytest.fixture
def y(graph: Graph) -> Expr:
    return graph.symbol("y")


def values(roots: Any, **numbers: float) -> Any:
    """Evaluate one expression, or a list of them, on plain numbers."""
    one = not isinstance(roots, list | tuple)
    results = evaluate([roots] if one else roots, lambda symbol: numbers[symbol.args[0]])
    return results[0] if one else results


# folding


def test_neutral_elements_vanish(x):
    for same in (x + 0.0, 0.0 + x, x - 0.0, x * 1.0, 1 * x, x / 1.0, x**1, +x, x * -1.0 * -1.0):
        assert same is x
    negative = -x
    assert -negative is x


def test_zeros_and_ones_are_known_at_once(x):
    for zero in (x * 0.0, 0 * x, x - x, 0.0 / x):
        assert zero == 0.0
        assert isinstance(zero, float)
    for one in (x / x, x**0):
        assert one == 1.0
        assert isinstance(one, float)


def test_signs_are_pulled_out_so_that_they_can_be_shared(x, y):
    assert x + -y is x - y
    assert -y + x is x - y
    assert -x - y is -(x + y)
    assert x - -y is x + y
    assert -(x - y) is y - x
    assert -x * y is -(x * y)
    assert -x * -y is x * y
    assert -x * 3.0 is -(x * 3.0)
    assert 0.0 - x is -x
    assert 2.0 - -x is x + 2.0


def test_a_division_by_a_power_of_two_is_a_product(x):
    assert x / 4.0 is x * 0.25
    assert (x / 3.0).op == "div"
    assert (x / 0.0).op == "div"
    assert values(x / 5e-324, x=5e-324) == 1.0


def test_squares_of_sine_and_cosine_of_one_angle_add_up_to_one(x, y):
    s, c = number.sin(x), number.cos(x)
    assert s * s + c * c == 1.0
    assert c**2 + s**2 == 1.0
    for other in (s * s + number.cos(y) ** 2, s * s + s * s, s * c + c * c, s * s - c * c):
        assert isinstance(other, Expr)


def test_functions_of_plain_numbers_are_plain_numbers(graph):
    assert number.sin(0.5) == math.sin(0.5)
    assert number.where(1.0 < 2.0, 3.0, 4.0) == 3.0


def test_what_is_chosen_both_ways_is_no_choice(x, y):
    assert number.where(x > 0, y, y) is y
    assert number.where(x > 0, 2.0, 2.0) == 2.0


def test_known_conditions_fold(x):
    positive = x > 0
    assert positive & True is positive
    assert (positive & False) is False
    assert positive | False is positive
    assert (positive | True) is True


# sharing


def test_the_same_operation_on_the_same_operands_is_one_node(graph, x, y):
    def formula() -> list[Any]:
        return [x + y, x - y, x * y, x / y, x**y, number.sin(x), number.atan2(y, x), abs(x), x < y, x**3]

    first, count = formula(), len(graph.nodes)
    assert all(a is b for a, b in zip(first, formula(), strict=True))
    assert len(graph.nodes) == count


def test_sums_and_products_are_shared_whichever_comes_first(x, y):
    assert x + y is y + x
    assert x * y is y * x
    assert x + 2.0 is 2.0 + x
    assert x * 2.0 is 2.0 * x
    assert x - y is not y - x


def test_symbols_of_one_name_are_one(graph, x):
    assert graph.symbol("x") is x
    assert graph.symbols(["x", "z"])[0] is x


def test_zeros_of_either_sign_are_kept_apart(x):
    negative, positive = number.atan2(-0.0, x), number.atan2(0.0, x)
    assert values([negative, positive], x=-1.0) == [-math.pi, math.pi]
    chosen = [number.where(x > 0, 1.0, zero) for zero in (-0.0, 0.0)]
    assert [math.copysign(1.0, z) for z in values(chosen, x=-1.0)] == [-1.0, 1.0]


def test_a_symbol_is_no_number_and_no_other_symbol(graph):
    names = [1, 1.0, True, "1", (1, 2), None]
    assert len({id(graph.symbol(name)) for name in names}) == len(names)


def test_expressions_of_two_graphs_do_not_mix(x):
    foreign = Graph().symbol("foreign")
    with pytest.raises(TraceError):
        x + foreign
    with pytest.raises(TraceError):
        number.atan2(x, foreign)


# tracing changes no result

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "negative": lambda a, b: -a,
}
LEAVES = st.sampled_from(["x", "y", 0.0, 1.0, -1.0, 2.0, 0.5, -0.25, 3.0])
FORMULAS = st.recursive(
    LEAVES, lambda part: st.tuples(st.sampled_from(list(OPERATIONS)), part, part), max_leaves=12
)


def run(formula: Any, numbers: dict[str, Any]) -> Any:
    if isinstance(formula, tuple):
        operation, a, b = formula
        return OPERATIONS[operation](run(a, numbers), run(b, numbers))
    return numbers[formula] if isinstance(formula, str) else formula


@given(FORMULAS, st.floats(0.1, 10), st.floats(-10, -0.1))
def test_folding_and_sign_rules_keep_every_bit(formula, x, y):
    graph = Graph()
    try:
        plain = run(formula, {"x": x, "y": y})
        traced = run(formula, dict(zip("xy", graph.symbols("xy"), strict=True)))
    except ZeroDivisionError:
        assume(False)
    assert values(traced, x=x, y=y) == plain


# powers


@pytest.mark.parametrize("exponent", [2, 3, 4, 0.5, 1.5, 2.5, -1, -2, -0.5, -1.5])
def test_small_powers_become_products_and_roots(graph, x, exponent):
    power = x**exponent
    assert {node.op for node in reachable([power])} <= {"symbol", "mul", "div", "sqrt"}
    exact = mp.mpf(1.7) ** exponent
    assert abs(values(power, x=1.7) - exact) < 1e-15 * exact


def test_other_powers_are_left_to_the_library(x, y):
    for power in (x**y, 2.0**x, x**0.3, x**100, x**math.pi):
        assert power.op == "pow"
    assert values([x**0.3, 2.0**x, x**y, x**-7], x=1.3, y=-2.2) == [1.3**0.3, 2.0**1.3, 1.3**-2.2, 1.3**-7]


@pytest.mark.parametrize("exponent", [math.inf, -math.inf, math.nan])
def test_a_power_that_is_no_number_is_still_a_power(x, exponent):
    result = values(x**exponent, x=2.0)
    assert result == 2.0**exponent or (math.isnan(result) and math.isnan(exponent))


# conditions and functions


@pytest.mark.parametrize(("a", "b"), [(1.0, 2.0), (2.0, 1.0), (2.0, 2.0), (math.nan, 1.0)])
def test_comparisons_are_those_of_numbers(x, y, a, b):
    both = [x < y, x <= y, x > y, x >= y, x == y, x != y]
    expected = [a < b, a <= b, a > b, a >= b, a == b, a != b]
    assert values(both, x=a, y=b) == expected
    with_constant = [x < b, x <= b, x > b, x >= b, x == b, x != b]
    assert values(with_constant, x=a) == expected
    constant_first = [a < y, a <= y, a > y, a >= y, a == y, a != y]
    assert values(constant_first, y=b) == expected


@pytest.mark.parametrize("a", [-1.0, 0.5, 3.0])
def test_conditions_combine(x, a):
    combined = [(x > 0) & (x < 1), (x < 0) | (x > 1), ~(x > 0), ~((x > 0) & (x < 1))]
    assert values(combined, x=a) == [0 < a < 1, a < 0 or a > 1, a <= 0, not 0 < a < 1]


FUNCTIONS = [
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "sqrt",
    "exp",
    "log",
    "floor",
]


@pytest.mark.parametrize("a", [0.05, 0.3, 0.6, 0.95])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_those_of_math(x, name, a):
    result = values(getattr(number, name)(x), x=a)
    assert abs(result - getattr(math, name)(a)) <= 1e-15


@pytest.mark.parametrize("a", [1e-300, 1e-20, 1e-8, 1e-3, 0.34, 0.36, 2.0, 15.0, 300.0, 700.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_hyperbolic_functions_keep_their_digits_however_small_or_large(x, a, sign):
    sinh, tanh = values([number.sinh(x), number.tanh(x)], x=sign * a)
    assert math.isclose(sinh, math.sinh(sign * a), rel_tol=2e-15)
    assert math.isclose(tanh, math.tanh(sign * a), rel_tol=2e-15)


@pytest.mark.parametrize(("a", "b"), [(1.5, -2.5), (-2.5, 1.5), (1.0, 1.0), (math.nan, 1.0), (1.0, math.nan)])
def test_min_max_abs_and_sign(x, y, a, b):
    smaller, larger, size, sign = values(
        [number.min(x, y), number.max(x, y), abs(x), number.sign(x)], x=a, y=b
    )
    np.testing.assert_equal([smaller, larger], [np.minimum(a, b), np.maximum(a, b)])
    np.testing.assert_equal(size, abs(a))
    np.testing.assert_equal(sign, math.nan if math.isnan(a) else math.copysign(1.0, a))


def test_an_unknown_function_lists_the_known_ones(x):
    with pytest.raises(
        TraceError, match=r"gamma is not supported by the tracer; available are .*atan2.*sqrt"
    ):
        number.apply("gamma", x)


# NumPy

UFUNCS = {
    np.sin: number.sin,
    np.cos: number.cos,
    np.tan: number.tan,
    np.arcsin: number.asin,
    np.arccos: number.acos,
    np.arctan: number.atan,
    np.sinh: number.sinh,
    np.cosh: number.cosh,
    np.tanh: number.tanh,
    np.sqrt: number.sqrt,
    np.exp: number.exp,
    np.log: number.log,
    np.floor: number.floor,
    np.sign: number.sign,
    np.abs: abs,
    np.square: lambda x: x * x,
    np.negative: operator.neg,
}
BINARY_UFUNCS = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.power: operator.pow,
    np.arctan2: number.atan2,
    np.hypot: number.hypot,
    np.maximum: number.max,
    np.minimum: number.min,
    np.less: operator.lt,
    np.greater_equal: operator.ge,
}


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda f: f.__name__)
def test_functions_of_numpy_are_ours(x, ufunc):
    assert ufunc(x) is UFUNCS[ufunc](x)


@pytest.mark.parametrize("ufunc", list(UFUNCS)[:12], ids=lambda f: f.__name__)
def test_functions_of_numpy_take_arrays_of_traced_values(x, y, ufunc):
    each = ufunc(np.array([x, y]))
    assert each[0] is UFUNCS[ufunc](x)
    assert each[1] is UFUNCS[ufunc](y)


@pytest.mark.parametrize("ufunc", BINARY_UFUNCS, ids=lambda f: f.__name__)
def test_functions_of_numpy_of_two_numbers_are_ours(x, y, ufunc):
    assert ufunc(x, y) is BINARY_UFUNCS[ufunc](x, y)
    assert ufunc(2.5, x) is BINARY_UFUNCS[ufunc](2.5, x)


@pytest.mark.parametrize("two", [np.float64(2), np.float32(2), np.int64(2), np.array(2.0)], ids=repr)
def test_numpy_scalars_on_either_side_are_plain_numbers(x, two):
    for operation in (*list(OPERATIONS.values())[:4], operator.pow, operator.lt, operator.ge, operator.eq):
        assert operation(two, x) is operation(2.0, x)
        assert operation(x, two) is operation(x, 2.0)
    assert np.pi * x is math.pi * x


def test_numpy_booleans_combine_with_conditions(x):
    true, false = np.bool_(True), np.bool_(False)
    positive = x > 0
    assert (true & positive) is positive
    assert (positive & true) is positive
    assert (false | positive) is positive


def test_arrays_of_numbers_and_traced_values_compute_entry_by_entry(x, y):
    scaled = np.array([1.0, 2.0]) * x
    assert scaled[0] is x
    assert scaled[1] is 2.0 * x
    vector = np.array([x, y])
    assert (vector * y)[0] is x * y
    assert (vector @ np.array([2.0, 3.0])) is 2.0 * x + 3.0 * y
    assert values(np.linalg.norm(vector), x=3.0, y=4.0) == 5.0


def test_a_function_of_numpy_that_is_not_known_is_refused_by_name(x):
    with pytest.raises(TraceError, match=r"test_expression\.py:\d+: np\.arctanh met a traced value.*lw\."):
        np.arctanh(x)


# Python asks for a number


def _while(x: Any) -> None:
    while x > 0:
        pass


CONTROL_FLOW: dict[str, tuple[Callable[..., Any], str]] = {
    "if": (lambda x, y: 1 if x > 0 else 2, r"lw\.where\(condition, a, b\)"),
    "while": (lambda x, y: _while(x), r"lw\.where"),
    "and": (lambda x, y: x > 0 and y > 0, "& | ~"),
    "or": (lambda x, y: x > 0 or y > 0, "& | ~"),
    "not": (lambda x, y: not x > 0, "& | ~"),
    "chained comparison": (lambda x, y: 0 < x < 1, r"lw\.where"),
    "min": (lambda x, y: min(x, y), r"lw\.min"),
    "max": (lambda x, y: max(x, y), r"lw\.max"),
    "sorted": (lambda x, y: sorted([x, y]), r"lw\.where"),
    "in": (lambda x, y: x in (y, 1.0), r"lw\.where"),
    "bool": (lambda x, y: bool(x), r"lw\.where"),
    "float": (lambda x, y: float(x), r"lw\.sin, lw\.sqrt, .* instead of the functions of math"),
    "math.sin": (lambda x, y: math.sin(x), r"lw\.sin"),
    "math.atan2": (lambda x, y: math.atan2(y, x), r"lw\.sin"),
    "math.floor": (lambda x, y: math.floor(x), r"lw\."),
    "int": (lambda x, y: int(x), r"lw\.floor"),
    "range": (lambda x, y: range(x), r"lw\.floor"),
    "index": (lambda x, y: [1, 2][x], r"lw\.floor"),
    "iteration": (lambda x, y: list(x), "it is one number"),
    "unpacking": (lambda x, y: [*x], "it is one number"),
    "float array": (lambda x, y: np.array([x, y], float), r"lw\.sin"),
    "np.where": (lambda x, y: np.where(x > 0, x, y), r"lw\.where"),
}


@pytest.mark.parametrize("name", CONTROL_FLOW)
def test_python_control_flow_is_refused_with_file_line_and_remedy(x, y, name):
    function, remedy = CONTROL_FLOW[name]
    with pytest.raises(TraceError, match=remedy) as error:
        function(x, y)
    where = _while.__code__.co_firstlineno + 1 if name == "while" else function.__code__.co_firstlineno
    text = str(error.value)
    assert text.startswith(f"{__file__}:{where}: ")
    assert "traced value" in text
    source = "while x > 0:" if name == "while" else f'"{name}": (lambda x, y:'
    assert source in text


def test_the_line_named_is_the_users_not_ours(x):
    with pytest.raises(TraceError) as error:
        number.where(x > 0, 1.0, float(x))
    assert str(error.value).startswith(f"{__file__}:")


@pytest.mark.parametrize(
    "thing", ["text", None, [1.0], (1.0, 2.0), {}, 1j, object()], ids=lambda x: type(x).__name__
)
def test_what_is_no_number_is_refused(x, thing):
    for operation in (*list(OPERATIONS.values())[:4], operator.pow, operator.lt, operator.eq):
        with pytest.raises(TraceError, match="in a traced formula; numbers and traced values are allowed"):
            operation(x, thing)
    if not isinstance(thing, str | list | tuple):
        with pytest.raises(TraceError, match="in a traced formula"):
            thing + x
    with pytest.raises(TraceError):
        number.atan2(x, thing)
    with pytest.raises(TraceError):
        number.where(x > 0, x, thing)


def test_a_traced_value_has_no_parts(x):
    with pytest.raises(TypeError):
        x[0]
    with pytest.raises(TypeError):
        len(x)


# running a graph


def test_a_graph_runs_on_any_numbers(x, y):
    formula = number.sqrt(x * x + y * y) + number.where(x < y, number.sin(x), y**2.5)
    with mp.workdps(40):
        exact = values(formula, x=mp.mpf(3), y=mp.mpf(4))
        assert abs(exact - (5 + mp.sin(3))) < 1e-38
    np.testing.assert_array_equal(values(x * y, x=np.array([1.0, 2.0]), y=3.0), [3.0, 6.0])


def test_a_graph_runs_in_another_graph(x, y):
    formula = number.atan2(x, y) * number.exp(-x) + abs(y)
    other = Graph()
    (moved,) = evaluate([formula], lambda symbol: other.symbol(symbol.args[0]))
    assert moved.graph is other
    assert values(moved, x=0.3, y=-2.0) == values(formula, x=0.3, y=-2.0)


def test_constants_can_be_replaced_with_the_symbols(x):
    roots = [2.0 * x + 3.0, 5.0, x]
    seen = []

    def constant(c: float) -> float:
        seen.append(c)
        return c + 1

    assert with_constants(roots, lambda _: 10.0, constant) == [34.0, 6.0, 10.0]
    assert sorted(seen) == [2.0, 3.0, 5.0]


def test_operands_come_before_their_users(x, y):
    root = number.sin(x * y) + x / y
    nodes = reachable([root, 1.0])
    place = {node.index: k for k, node in enumerate(nodes)}
    assert nodes[-1] is root
    assert all(place[a.index] < place[n.index] for n in nodes for a in n.args if isinstance(a, Expr))
    assert not reachable([y - y])


def test_a_long_formula_is_no_trouble(x):
    total = x
    for k in range(20_000):
        total = total * 0.5 + float(k)
    assert math.isfinite(values(total, x=1.0))


def test_a_repr_says_the_operation_and_stays_short(x, y):
    assert repr(x + y) == "add(symbol('x'), symbol('y'))"
    deep = wide = x
    for _ in range(2_000):
        deep = deep + 1.5 * x
    for _ in range(100):
        wide = number.sin(wide) * wide
    assert len(repr(deep)) < 10_000
    assert len(repr(wide)) < 10_000


def test_a_condition_counts_as_one_or_zero_where_a_number_is_wanted(x):
    assert values([(x > 0) * x + (x > 1), 2.0 - (x < 0)], x=3.0) == [4.0, 2.0]
    assert values([(x > 0) * x + (x > 1), 2.0 - (x < 0)], x=-3.0) == [0.0, 1.0]


@pytest.mark.parametrize("law", [lambda x: number.where(x, 1.0, 2.0), lambda x: ~x, lambda x: (x > 0) & x])
def test_a_number_is_no_condition(x, law):
    with pytest.raises(TraceError, match=r"where a condition is expected.*compare it with something"):
        law(x)


def test_remainder_and_whole_quotient(x):
    assert values([x % 2.5, x // 2.5], x=6.0) == [1.0, 2.0]
    assert values([x % 2.5, x // 2.5], x=-1.0) == [1.5, -1.0]


@pytest.mark.parametrize(
    ("law", "smooth"),
    [
        (lambda x: number.sin(x) / (1.0 + x**2) - 2.0 * number.cos(3.0 * x), True),
        (lambda x: number.where(x > 0.0, x, 0.0), False),
        (lambda x: number.where(x == 0.0, 1.0, number.sin(x) / x), False),
        (lambda x: number.max(x, 0.0), False),
        (lambda x: (x > 0.0) * x, False),
        (lambda x: number.sin(abs(x)), False),
        (lambda x: number.sqrt(x * x), False),
        (lambda x: number.regular(number.sqrt(x * x), x), True),
        (lambda x: number.regular(number.sqrt(abs(x)), abs(x)), False),
        (lambda x: (x * x) ** 0.75, False),
        (lambda x: number.asin(number.sin(x)), False),
        (lambda x: number.atan2(number.sin(x), number.cos(x)), False),
        (lambda x: x % 2.0, False),
        (lambda x: number.exp(-((1e3 * x) ** 2)), False),  # narrow
    ],
)
def test_a_formula_is_smooth_if_it_cannot_bend_or_jump(x, law, smooth):
    assert is_smooth([x, law(x)]) is smooth
    assert is_smooth([x, law(x)], saturating=True) is smooth


@pytest.mark.parametrize(
    ("law", "saturating"),
    [
        (lambda x: 2.0 * number.tanh(number.sin(x) / 0.1), True),
        (lambda x: number.tanh(number.tanh(3.0 * x) - x), True),
        (lambda x: number.tanh(abs(x)), False),
        (lambda x: number.tanh(x) + number.max(x, 0.0), False),
    ],
)
def test_a_formula_that_saturates_is_smooth_only_if_that_is_allowed(x, law, saturating):
    assert not is_smooth([law(x)])
    assert is_smooth([law(x)], saturating=True) is saturating
