"""Sine, cosine, exponential, logarithm and arc tangent as formulas over the primitive operations.

So they run in SIMD lanes, give the same bits in one lane and in eight, and the same on every processor with
fused multiply-add. Each function here takes and returns expressions; `lower` applies them to a whole graph.

Polynomials: FDLIBM (Sun Microsystems, 1993) k_sin, k_cos, e_log, s_atan; argument reduction for sine and
cosine: Cody and Waite with three parts of pi/2 in fused and compensated arithmetic, good to |x| < 2^30, where
the C library takes over.
"""

import math
from collections.abc import Sequence

from linkwork.algebra.number import where
from linkwork.trace.expression import Expr, Operand
from linkwork.trace.graph_walks import reachable

_SIN = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COS = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
_LOG = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)
_ATAN = (
    3.33333333333329318027e-01,
    -1.99999999998764832476e-01,
    1.42857142725034663711e-01,
    -1.11111104054623557880e-01,
    9.09088713343650656196e-02,
    -7.69187620504482999495e-02,
    6.66107313738753120669e-02,
    -5.83357013379057348645e-02,
    4.97687799461593236017e-02,
    -3.65315727442169155270e-02,
    1.62858201153657823623e-02,
)
# pi/2 as the sum of three doubles, each the rounding of what is left
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
_ATAN_HALF = (0.46364760900080609, 2.2698777452961687e-17)  # atan(1/2)
_LN2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)  # 21 trailing zero bits in the first
_REDUCTION_LIMIT = 2.0**30
_SHIFT = 1.5 * 2.0**52  # added to a number, it leaves the nearest integer in the last bits


def fma(a: Operand, b: Operand, c: Operand) -> Operand:
    """Return a * b + c, rounded once."""
    graph = next(x.graph for x in (a, b, c) if isinstance(x, Expr))
    return graph.node("fma", a, b, c)


def _polynomial(z: Operand, coefficients: Sequence[float]) -> Operand:
    """Return c0 + c1 z + c2 z^2 + ...: neighbours first, then pairs of them, so that no step waits long."""
    terms: list[Operand] = list(coefficients)
    while len(terms) > 1:
        pairs = [fma(high, z, low) for low, high in zip(terms[::2], terms[1::2])]
        terms = pairs + terms[2 * len(pairs) :]
        z = z * z
    return terms[0]


def _reduced(x: Expr) -> tuple[Operand, Operand, Operand]:
    """Return y, r and t with x = k pi/2 + r + t, |r| <= pi/4; t is what rounding left over from r.

    y is k + 1.5 * 2^52: the integer k is in its last bits, ready for the questions `odd` and `flip`.
    """
    y = fma(x, 2.0 / math.pi, _SHIFT)
    k = y - _SHIFT
    r0 = fma(-k, _HALF_PI[0], x)  # exact
    p = k * _HALF_PI[1]
    e = fma(k, _HALF_PI[1], -p)  # exact error of the product
    r = r0 - p
    a = r + p
    d = (r0 - a) - (p + (r - a))  # exact error of the difference (Knuth)
    return y, r, d + fma(-k, _HALF_PI[2], -e)


def _sin_and_cos(x: Expr) -> tuple[Operand, Operand, Operand]:
    """Return the quadrant y, and the sine and cosine of the reduced argument r + t.

    Others wait for them: t, which comes late, enters last.
    """
    y, r, t = _reduced(x)
    z = r * r
    w = fma(-0.5, z, 1.0)
    sine = r + fma(t, w, (z * r) * _polynomial(z, _SIN))
    left = fma(-0.5, z, 1.0 - w)
    cosine = w + fma(-r, t, fma(z * z, _polynomial(z, _COS), left))
    return y, sine, cosine


def _sine(x: Expr) -> Operand:
    y, sine, cosine = _sin_and_cos(x)
    value = x.graph.node("odd", y).select(cosine, sine)
    value = (x == 0.0).select(x, x.graph.node("flip", value, y))  # the sine of -0 is -0
    return _beyond(x, value, "sin")


def _cosine(x: Expr) -> Operand:
    y, sine, cosine = _sin_and_cos(x)
    value = x.graph.node("odd", y).select(sine, cosine)
    return _beyond(x, x.graph.node("flip", value, y + 1.0), "cos")


def _beyond(x: Expr, value: Operand, function: str) -> Expr:
    """Ask the C library for arguments beyond the range of the reduction."""
    return x.graph.node("rarely", abs(x) >= _REDUCTION_LIMIT, value, function, x)


def _exponential(x: Expr) -> Operand:
    """exp(x) = 2^k exp(r), |r| <= ln 2 / 2; the power in two factors, so that tiny results are right too."""
    graph = x.graph
    bounded = (x < -746.0).select(-746.0, (x > 710.0).select(710.0, x))
    k = graph.node("round", bounded * (1.0 / math.log(2.0)))
    hi = fma(-k, _LN2[0], bounded)
    lo = k * _LN2[1]
    r = hi - lo
    t = (hi - r) - lo
    series = [1.0 / math.factorial(n) for n in range(2, 14)]
    value = 1.0 + (r + fma(r * r, _polynomial(r, series), t))
    half = graph.node("floor", 0.5 * k)
    value = value * graph.node("exp2i", half) * graph.node("exp2i", k - half)
    return (x != x).select(x, value)


def _logarithm(x: Expr) -> Operand:
    """log(x) = k ln 2 + log(1 + f), sqrt(1/2) <= 1 + f < sqrt(2), with s = f / (2 + f)."""
    graph = x.graph
    tiny = x < 2.2250738585072014e-308
    scaled = tiny.select(x * 2.0**54, x)
    m = graph.node("mantissa", scaled)  # in [1, 2)
    large = m > math.sqrt(2.0)
    f = large.select(0.5 * m, m) - 1.0
    k = graph.node("exponent", scaled) + large.select(1.0, 0.0) + tiny.select(-54.0, 0.0)
    s = f / (2.0 + f)
    z = s * s
    R = z * _polynomial(z, _LOG)
    h = 0.5 * f * f
    value = k * _LN2[0] - ((h - (s * (h + R) + k * _LN2[1])) - f)
    value = (x == math.inf).select(math.inf, (x == 0.0).select(-math.inf, value))
    return ((x < 0.0) | (x != x)).select(math.nan, value)


def _arc_tangent2(y: Operand, x: Operand) -> Operand:
    """Angle of the point (x, y): of the smaller side over the larger, less atan(c), put in its octant.

    The quotient's rounding error is computed and added at the end; so is what the constants leave over.
    """
    graph = next(a.graph for a in (y, x) if isinstance(a, Expr))
    size = abs(x) + abs(y)
    # far from the ends of the range, so that sums neither overflow nor lose bits
    scale = (size > 1e300).select(2.0**-100, (size < 1e-280).select(2.0**100, 1.0))
    ax, ay = abs(x) * scale, abs(y) * scale
    steep = ay > ax
    small, large = steep.select(ax, ay), steep.select(ay, ax)
    infinite = large == math.inf
    nothing = large == 0.0
    large = (infinite | nothing).select(1.0, large)
    small = infinite.select((small == math.inf).select(1.0, 0.0), small)
    # atan(s / l) = atan(c) + atan((s - c l) / (l + c s)) with c = 0, 1/2 or 1
    half, whole = small > 0.25 * large, small > 0.75 * large
    c = whole.select(1.0, half.select(0.5, 0.0))
    numerator = fma(-c, large, small)
    denominator = fma(c, small, large)
    low_n = fma(-c, large, small - numerator)  # what rounding took from the numerator
    low_d = fma(c, small, large - denominator)
    a = numerator / denominator
    low = (fma(-a, denominator, numerator) + (low_n - a * low_d)) / denominator
    z = a * a
    tail = low - a * (z * _polynomial(z, _ATAN))
    hi = whole.select(math.pi / 4, half.select(_ATAN_HALF[0], 0.0))
    lo = whole.select(0.5 * _HALF_PI[1], half.select(_ATAN_HALF[1], 0.0))
    left = graph.node("signbit", x) if isinstance(x, Expr) else math.copysign(1.0, x) < 0
    below = graph.node("signbit", y) if isinstance(y, Expr) else math.copysign(1.0, y) < 0
    # angle = base + sign (hi + a + ...): from the x axis, from the y axis, or from the negative x axis
    backwards = (steep & ~left) | (~steep & left) if isinstance(left, Expr) else ~steep if left else steep
    base_hi = steep.select(_HALF_PI[0], where(left, math.pi, 0.0))
    base_lo = steep.select(_HALF_PI[1], where(left, 2.0 * _HALF_PI[1], 0.0))
    total = backwards.select(base_hi - hi, base_hi + hi)  # exact up to the last digit, which is kept:
    error = (base_hi - total) + backwards.select(-hi, hi)
    rest = error + (base_lo + backwards.select(-lo, lo))
    angle = total + (backwards.select(-a, a) + (rest + backwards.select(-tail, tail)))
    angle = where(below, -angle, angle)
    for side in (x, y):
        if isinstance(side, Expr):
            angle = (side != side).select(math.nan, angle)
    return angle


_FORMULAS = {
    "sin": _sine,
    "cos": _cosine,
    "exp": _exponential,
    "log": _logarithm,
    "atan2": _arc_tangent2,
}


def lower(roots: Sequence[Operand]) -> list[Operand]:
    """Rewrite expressions so that only primitive operations are left."""
    done: dict[int, Operand] = {}
    for x in reachable(roots):
        args = [done[a.index] if isinstance(a, Expr) else a for a in x.args]
        if x.op in _FORMULAS:
            done[x.index] = _FORMULAS[x.op](*args)
        elif all(a is b for a, b in zip(args, x.args, strict=True)):
            done[x.index] = x
        else:
            done[x.index] = x.graph.node(x.op, *args)
    return [done[r.index] if isinstance(r, Expr) else r for r in roots]
