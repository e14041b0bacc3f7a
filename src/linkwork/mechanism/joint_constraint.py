"""The equations of a joint between two poses, and derivatives of constraints by the poses of their bodies.

A joint of one's own says only `motion` and `locate`. With q the coordinates nearest to the pose X, S the
motion subspace there and T its complement, the joint is closed where T . (motion(q)^-1 X) is zero: the same
equations that close loops.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from linkwork.algebra.complement import complement
from linkwork.algebra.number import Number
from linkwork.errors import ModelError, TraceError
from linkwork.mechanism.called_equations import length_of, traced_or_called
from linkwork.mechanism.input import Input, reading
from linkwork.trace.differentiate import derivative, jacobian
from linkwork.trace.expression import Expr, Graph
from linkwork.trace.graph_walks import evaluate, has_nan

if TYPE_CHECKING:
    from linkwork.mechanism.joint import Joint

_PLANAR_EXAMPLE = "of the plane, e.g. lw.translation(x, y) @ lw.rotation(q[0])"


def traced_motion(joint: "Joint", q: Sequence[Expr]) -> Any:
    """Return where the child is at symbols q; an error names the joint if it does not say."""

    def refuse(one: Input) -> NoReturn:
        raise ModelError(
            f"joint {joint.name!r}: motion(q) reads the input {one.name!r}, and places may not: give it a "
            "number, and others per run by simulate(vary=); a Driver moves a joint by a law that reads inputs"
        )

    try:
        with reading(refuse):
            X = joint.motion(q)
    except ModelError:
        raise
    except TraceError as error:
        raise TraceError(f"joint {joint.name!r}: {error}") from error
    except Exception as error:
        raise ModelError(
            f"joint {joint.name!r}: motion(q) raised {type(error).__name__}: {error} "
            f"(it was called with {len(q)} coordinates)"
        ) from error
    if not isinstance(X, joint.algebra.Frame):
        raise ModelError(
            f"joint {joint.name!r}: motion(q) returned {type(X).__module__}.{type(X).__name__}; "
            "return a Frame, "
            + (
                "e.g. lw.translation(x, y, z) @ lw.rotation_y(q[0])"
                if joint.space == "space"
                else _PLANAR_EXAMPLE
            )
        )
    if has_nan(X.scalars()):
        raise ModelError(
            f"joint {joint.name!r}: motion(q) gives nan, whatever q is; look at the numbers it is made of"
        )
    return X


def motion_subspace(joint: "Joint", X: Any, q: Sequence[Expr]) -> list[Any]:
    """Return the motion per unit of each velocity at symbols q: X^-1 dX/dq, unless the joint gives it.

    X is the joint's motion there.
    """
    said = joint.subspace(q)
    if said is not None:
        return said
    S = []
    for k in range(joint.nv):
        unit = [1.0 if i == k else 0.0 for i in range(joint.nv)]
        dX = derivative(X.scalars(), dict(zip(q, joint.rates(q, unit), strict=True)))
        S.append(X.twist(joint.algebra.Frame.from_scalars(dX)))
        if all(isinstance(x, float | int) and x == 0.0 for x in S[-1].scalars()):
            raise ModelError(
                f"joint {joint.name!r}: motion(q) does not move with coordinate {k}; use it there, or give "
                "the joint fewer coordinates"
            )
    return S


def derived_gap(joint: "Joint", X: Any) -> list[Number]:
    """Return the distance of X from the nearest pose the joint allows, along what it constrains."""
    algebra, graph = joint.algebra, Graph()
    symbols = graph.symbols(("q", k) for k in range(joint.nq))
    formula = traced_motion(joint, symbols)
    columns = motion_subspace(joint, formula, symbols)
    q = list(joint.locate(X))
    roots = [*formula.scalars(), *(x for s in columns for x in s.scalars())]
    found = evaluate(roots, lambda symbol: q[symbol.args[0][1]])
    frame, size = algebra.Frame.size, algebra.Motion.size
    E = algebra.Frame.from_scalars(found[:frame]).local(X)
    S = [algebra.Motion.from_scalars(found[k : k + size]) for k in range(frame, len(found), size)]
    apart = algebra.Motion.from_scalars([*algebra.turning(E), *E.p])
    return [t.dot(apart) for t in complement(S, algebra)]


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
    columns = [x for group in (*symbols, own) for x in group]
    n, length = algebra.coordinates, length_of(constraint)
    sizes = [
        *([length] * algebra.dimension + [1.0] * (n - algebra.dimension)) * len(poses),
        *(1.0 for _ in own),
    ]

    def run(numbers: Sequence[float]) -> Any:
        groups = [list(numbers[n * b : n * (b + 1)]) for b in range(len(poses))]
        return constraint.phi(*groups, *numbers[n * len(poses) :])

    rows = traced_or_called(
        constraint,
        "phi of poses",
        lambda: constraint.phi(*symbols, *own),
        columns,
        run,
        [x for group in values for x in group],
        sizes,
    )
    entries = [x for row in jacobian(rows, columns) for x in row]
    found = evaluate(entries, lambda symbol: values[symbol.args[0][0]][symbol.args[0][1]])
    return np.array(found, float).reshape(len(rows), len(columns))


def rate(curve: Callable[[Any], Sequence[Any]], s: Number) -> list[Number]:
    """Return the derivatives of a function that gives several numbers, at any number s."""
    symbol = Graph().symbol("s")
    return evaluate(derivative(list(curve(symbol)), {symbol: 1.0}), lambda _: s)
