"""The equations of a joint between two poses, and derivatives of constraints by the poses of their bodies.

A joint of one's own says only `motion` and `locate`. With q the coordinates nearest to the pose X, S the
motion subspace there and T its complement, the joint is closed where T . (motion(q)^-1 X) is zero: the same
equations that close loops (`loops`).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from linkwork.algebra.number import Number
from linkwork.mechanism.joint import Joint
from linkwork.trace.differentiate import derivative, jacobian
from linkwork.trace.expression import Graph, evaluate
from linkwork.tree.joint_formula import JointFormulas
from linkwork.tree.loop_formula import complement


def derived_gap(joint: Joint, X: Any) -> list[Number]:
    """Return the distance of X from the nearest pose the joint allows, along what it constrains."""
    algebra = joint.algebra
    kind, numbers = JointFormulas().of(joint, False)
    q = list(joint.locate(X))
    E = kind.motion(q, numbers).local(X)
    apart = algebra.Motion.from_scalars([*algebra.turning(E), *E.p])
    return [t.dot(apart) for t in complement(kind.subspace(q, numbers), algebra)]


def derived_jacobian(constraint: Any, poses: Sequence[Any], unknowns: Sequence[Any] = ()) -> np.ndarray:
    """Return the derivatives of `constraint.phi` by the numbers of all poses, and by unknowns of its own."""
    algebra, graph = constraint.algebra, Graph()
    symbols, values = [], []
    for b, pose in enumerate(poses):
        at = pose if not isinstance(pose, algebra.Frame) else algebra.pose_coordinates(pose)
        symbols.append(graph.symbols((b, k) for k in range(algebra.coordinates)))
        values.append([float(x) for x in at])
    own = graph.symbols((len(poses), k) for k in range(len(unknowns)))
    values.append([float(x) for x in unknowns])
    rows = list(constraint.phi(*symbols, *own))
    columns = [x for group in (*symbols, own) for x in group]
    entries = [x for row in jacobian(rows, columns) for x in row]
    found = evaluate(entries, lambda symbol: values[symbol.args[0][0]][symbol.args[0][1]])
    return np.array(found, float).reshape(len(rows), len(columns))


def rate(curve: Callable[[Any], Sequence[Any]], s: Number) -> list[Number]:
    """Return the derivatives of a function that gives several numbers, at any number s."""
    symbol = Graph().symbol("s")
    return evaluate(derivative(list(curve(symbol)), {symbol: 1.0}), lambda _: s)
