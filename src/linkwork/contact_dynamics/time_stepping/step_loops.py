"""The small loops of a step with contact, between those that detect, write rows and solve."""

from linkwork.contact_dynamics.problem.contact_problem import FLAT, NODES, TABLE, node_product
from linkwork.contact_dynamics.problem.contact_rows import POINTS, taken
from linkwork.native.numba_functions import entry
from linkwork.native.stages import ASK, GO, SKIP

_POSES = "float64[:, :, ::1]"
_WORDS = "int64[::1]"


@entry(None, FLAT, FLAT, "float64", FLAT)
def yielding(damping, stiffness, s, added):
    """Write what joints add to inertias: s/2 D + s^2/4 K."""
    for i in range(len(added)):
        added[i] = 0.5 * s * damping[i] + 0.25 * s * s * stiffness[i]


@entry(None, _POSES, _POSES)
def planar_poses(X, poses):
    """Write poses in space of links in the plane."""
    for k in range(len(X)):
        for i in range(2):
            poses[k, i, 0], poses[k, i, 1], poses[k, i, 3] = X[k, i, 0], X[k, i, 1], X[k, i, 2]


@entry(None, NODES, *[FLAT] * 4, "float64", *[FLAT] * 3)
def free_velocities(nodes, qdd, rates, added, v, s, before, pull, a):
    """Write the velocities without contact, and keep those that are now.

    `pull` are the accelerations by forces, without those of inertial motion; `a` those where D is `added` to
    the inertias: with N = M + D, M a0 accelerates by N^-1 M a0 = a0 - N^-1 D a0.
    """
    for i in range(len(v)):
        before[i] = v[i]
        pull[i] = a[i] = qdd[i] - rates[i]
    for j in range(len(nodes.size)):
        n, f, at = nodes.size[j], nodes.first[j], nodes.at[j]
        for i in range(n):
            x = added[f + i] * pull[f + i]
            if x != 0.0:
                for r in range(n):
                    a[f + r] -= nodes.inverse[at + i * n + r] * x
    for i in range(len(v)):
        nodes.free[i] = v[i] + s * a[i]


@entry("int64", NODES, *[FLAT] * 5)
def contact_work(nodes, before, v, power, after, work):
    """Add the work of contacts; then let v be the mean velocity, or skip if forces do nothing.

    What an impulse p does is p . (v0 + v) / 2, of velocities v0 before the step and v after it: the kinetic
    energy changes by that, and what rests is not moved. Forces, whose power was that at v0, and contacts
    share it in these terms.
    """
    for j in range(len(nodes.size)):
        n, f, at = nodes.size[j], nodes.first[j], nodes.at[j]
        for r in range(n):
            s = 0.0
            for i in range(n):
                s += nodes.mass[at + r * n + i] * (v[f + i] - nodes.free[f + i])
            work[0] += 0.5 * (before[f + r] + v[f + r]) * s
    moved = starts = 0.0
    for i in range(len(v)):
        moved, starts = max(moved, abs(before[i])), max(starts, abs(v[i]))
    if power[0] == 0.0 and (moved > 0.0 or starts == 0.0):
        return SKIP
    for i in range(len(v)):
        after[i] = v[i]
        v[i] = 0.5 * (before[i] + v[i])
    return GO


@entry(None, FLAT, "float64", FLAT, FLAT, FLAT)
def force_work(power, s, after, v, work):
    """Add the work of forces, whose power is that at the mean velocity; v is that after the step again."""
    work[0] += s * power[0]
    for i in range(len(v)):
        v[i] = after[i]


@entry(None, NODES, FLAT, FLAT, FLAT)
def shift_work(nodes, shift, before, work):
    """Add the work of contacts that shift bodies: against forces, which are N (v_f - v0) in a step."""
    for j in range(len(nodes.size)):
        work[0] -= node_product(nodes, j, shift, nodes.free) - node_product(nodes, j, shift, before)


@entry("int64", "int64", "float64", FLAT)
def unless_quick(flag, start, t):
    """Skip what follows unless a flag is set; else a clock is set to the start of the step."""
    if flag == 0:
        return SKIP
    t[0] = start
    return GO


@entry(None, FLAT, FLAT, FLAT, "float64", FLAT, "float64", FLAT)
def foreseen(qdd, rates, v, s, t, middle, found):
    """Write the velocities that forces give in half of a step; a clock is set to its middle again."""
    t[0] = middle
    for i in range(len(v)):
        found[i] = v[i] + 0.5 * s * (qdd[i] - rates[i])


@entry("int64", _WORDS, "int64", "int64", TABLE, "int64[:, ::1]", POINTS, "int64", _WORDS)
def take_found(counts, pairs, room, number, label, points, place, values):
    """Take the points that were found, and write how many there are; ask for room that is lacking."""
    count = counts[1]
    if counts[0] > pairs or count > room or count > len(points.gap):
        return ASK
    taken(number, label, count, points)
    values[place] = count
    return GO


@entry("int64", FLAT, FLAT, "float64", "float64")
def is_quick(reach, thin, h, s):
    """Return whether a shape may move farther in a step h than it is thick, by how far it can in a time s."""
    for k in range(len(reach)):
        if 2.0 * h * reach[k] > s * thin[k]:
            return 1
    return 0


@entry("int64", "int64", "int64", FLAT, FLAT, FLAT)
def unless_touched(contacts, stops, free, v, placed):
    """Where nothing touches, let velocities be those without contact; nothing is in anything."""
    if contacts > 0 or stops > 0:
        return GO
    for j in range(len(placed)):
        placed[j] = 0.0
    for i in range(len(v)):
        v[i] = free[i]
    return SKIP


@entry(None, "int64", TABLE)
def begin_impulses(count, impulses):
    """Let the impulses of all rows behind those of contacts be zero."""
    for k in range(count, len(impulses)):
        impulses[k, 0] = impulses[k, 1] = impulses[k, 2] = 0.0


@entry("int64", "int64")
def ask_if(flag):
    """Ask if a flag is set."""
    return ASK if flag != 0 else GO


@entry(None, _POSES, TABLE, TABLE)
def centres_of(poses, reach, centres):
    """Write where the centres of the boxes round shapes are."""
    for k in range(len(poses)):
        for i in range(3):
            x = poses[k, i, 0] * reach[k, 0] + poses[k, i, 1] * reach[k, 1] + poses[k, i, 2] * reach[k, 2]
            centres[k, i] = poses[k, i, 3] + x


@entry(None, FLAT, FLAT, FLAT, FLAT)
def copy_two(x, y, to_x, to_y):
    """Copy two arrays."""
    for i in range(len(x)):
        to_x[i] = x[i]
    for i in range(len(y)):
        to_y[i] = y[i]


@entry(None, FLAT, "float64", "float64")
def earn(saved, earned, most):
    """Let nodes save work."""
    for j in range(len(saved)):
        saved[j] = min(saved[j] + earned, most)
