"""Expressions that are evaluated many times."""

import numpy as np

import linkwork as lw
from linkwork.trace.expression import Graph
from linkwork.trace.graph_walks import evaluate
from linkwork.trace.schedule import Schedule


def test_it_gives_the_bits_of_a_walk_over_the_graph():
    graph = Graph()
    x, y = graph.symbol(("x", 0)), graph.symbol(("y", 0))
    formula = lw.where(x > y, lw.sin(x * y) + 0.1, lw.sqrt(abs(y - x)) / 3.0)
    roots = [formula, 2.5, x, lw.interp(formula, [0.0, 1.0, 2.0], [1.0, 0.3, 7.0], "cubic") * y]
    schedule = Schedule(roots)
    for numbers in np.random.default_rng(0).normal(size=(20, 2)).tolist():
        values = dict(zip((x, y), numbers, strict=True)).__getitem__
        assert schedule.run(values) == evaluate(roots, values)
