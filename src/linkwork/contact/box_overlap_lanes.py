"""which of four boxes meet a box <- separating axes, fifteen (Gottschalk, Lin, Manocha 1996, section 5).

The loop has no branch and writes nothing, so that the compiler puts its four turns into the lanes of vector
registers: all axes of four boxes take less time than those of two boxes one by one, which end at the first
axis that separates.
"""

from linkwork.contact.decorators import native, native_apart

_EPSILON = 1e-12  # on the cosines: axes of edges that are nearly parallel say nothing


@native
def lane_box(four, lane):
    """Return rotation, centre, half widths of a box; lanes are counted through all fours."""
    k = 60 * (lane // 4) + lane % 4
    axes = (
        *(four[k], four[k + 4], four[k + 8]),
        *(four[k + 12], four[k + 16], four[k + 20]),
        *(four[k + 24], four[k + 28], four[k + 32]),
    )
    return axes, (four[k + 36], four[k + 40], four[k + 44]), (four[k + 48], four[k + 52], four[k + 56])


@native_apart
def meeting(four, which, R, c, a, reach):
    """Return which boxes of a four come closer than `reach` to one: bits 0 to 3.

    The one has half widths a, and is placed by R, c in the axes in which the four are.
    """
    bits = 0
    for lane in range(4):
        k = 60 * which + lane
        x, y, z = four[k + 36] - c[0], four[k + 40] - c[1], four[k + 44] - c[2]
        b0, b1, b2 = four[k + 48], four[k + 52], four[k + 56]
        e0, e1, e2 = four[k], four[k + 12], four[k + 24]
        f0, f1, f2 = four[k + 4], four[k + 16], four[k + 28]
        g0, g1, g2 = four[k + 8], four[k + 20], four[k + 32]
        # Cosines of the angles of their axes, and the way between their centres along the axes of both.
        Q0, Q1, Q2 = (
            R[0] * e0 + R[3] * e1 + R[6] * e2,
            R[0] * f0 + R[3] * f1 + R[6] * f2,
            R[0] * g0 + R[3] * g1 + R[6] * g2,
        )
        Q3, Q4, Q5 = (
            R[1] * e0 + R[4] * e1 + R[7] * e2,
            R[1] * f0 + R[4] * f1 + R[7] * f2,
            R[1] * g0 + R[4] * g1 + R[7] * g2,
        )
        Q6, Q7, Q8 = (
            R[2] * e0 + R[5] * e1 + R[8] * e2,
            R[2] * f0 + R[5] * f1 + R[8] * f2,
            R[2] * g0 + R[5] * g1 + R[8] * g2,
        )
        s0, s1, s2 = (
            R[0] * x + R[3] * y + R[6] * z,
            R[1] * x + R[4] * y + R[7] * z,
            R[2] * x + R[5] * y + R[8] * z,
        )
        t0, t1, t2 = e0 * x + e1 * y + e2 * z, f0 * x + f1 * y + f2 * z, g0 * x + g1 * y + g2 * z
        q0, q1, q2 = abs(Q0) + _EPSILON, abs(Q1) + _EPSILON, abs(Q2) + _EPSILON
        q3, q4, q5 = abs(Q3) + _EPSILON, abs(Q4) + _EPSILON, abs(Q5) + _EPSILON
        q6, q7, q8 = abs(Q6) + _EPSILON, abs(Q7) + _EPSILON, abs(Q8) + _EPSILON
        gap = abs(s0) - (a[0] + b0 * q0 + b1 * q1 + b2 * q2)
        gap = max(gap, abs(s1) - (a[1] + b0 * q3 + b1 * q4 + b2 * q5))
        gap = max(gap, abs(s2) - (a[2] + b0 * q6 + b1 * q7 + b2 * q8))
        gap = max(gap, abs(t0) - (b0 + a[0] * q0 + a[1] * q3 + a[2] * q6))
        gap = max(gap, abs(t1) - (b1 + a[0] * q1 + a[1] * q4 + a[2] * q7))
        gap = max(gap, abs(t2) - (b2 + a[0] * q2 + a[1] * q5 + a[2] * q8))
        gap = max(gap, abs(s2 * Q3 - s1 * Q6) - (a[1] * q6 + a[2] * q3 + b1 * q2 + b2 * q1))
        gap = max(gap, abs(s2 * Q4 - s1 * Q7) - (a[1] * q7 + a[2] * q4 + b0 * q2 + b2 * q0))
        gap = max(gap, abs(s2 * Q5 - s1 * Q8) - (a[1] * q8 + a[2] * q5 + b0 * q1 + b1 * q0))
        gap = max(gap, abs(s0 * Q6 - s2 * Q0) - (a[0] * q6 + a[2] * q0 + b1 * q5 + b2 * q4))
        gap = max(gap, abs(s0 * Q7 - s2 * Q1) - (a[0] * q7 + a[2] * q1 + b0 * q5 + b2 * q3))
        gap = max(gap, abs(s0 * Q8 - s2 * Q2) - (a[0] * q8 + a[2] * q2 + b0 * q4 + b1 * q3))
        gap = max(gap, abs(s1 * Q0 - s0 * Q3) - (a[0] * q3 + a[1] * q0 + b1 * q8 + b2 * q7))
        gap = max(gap, abs(s1 * Q1 - s0 * Q4) - (a[0] * q4 + a[1] * q1 + b0 * q8 + b2 * q6))
        gap = max(gap, abs(s1 * Q2 - s0 * Q5) - (a[0] * q5 + a[1] * q2 + b0 * q7 + b1 * q6))
        bits |= (gap <= reach) * 1 << lane
    return bits
