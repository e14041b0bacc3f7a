"""Shapes on links in a native program: where they are, how they move, who touches whom, what pushes them."""

from linkwork.contact_dynamics.detection.contact_plan import (
    ACCELERATION,
    BLOCK,
    BUFFER,
    CALL,
    DETECTION,
    EXCLUDED,
    EXCLUDED_COUNT,
    FIND_CONTACTS,
    FIND_PAIRS,
    FREEDOMS,
    GRAVITY,
    LANES,
    LINK,
    LOCAL,
    MARGIN,
    NEAR,
    OWNERS,
    PAIR_ROOM,
    PAIRS,
    POSE,
    POSES,
    SHAPES,
    SLOT_COUNT,
    SLOTS,
    STILL,
    TABLE,
    TABLE_WORDS,
    TREE,
    VELOCITY,
)
from linkwork.geometry.vectors import add, cross, sub, turned, turned_back
from linkwork.native.numba_functions import call, doubles, integers, native, native_apart


@native
def connect(plan, room):
    """Write the words by which collision detection knows its arrays."""
    words, slots = integers(room), integers(plan[SLOTS])
    for k in range(plan[SLOT_COUNT]):
        value = slots[3 * k + 2]
        words[slots[3 * k]] = room + 8 * value if slots[3 * k + 1] else value


@native
def _link_pose(plan, work, block):
    """Return rotation and position of the link whose block this is."""
    x, lanes = doubles(work), plan[LANES]
    at = (block + plan[POSE]) * lanes
    if plan[FREEDOMS] == 3:
        c, s = x[at], x[at + 3 * lanes]
        return (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0), (x[at + 2 * lanes], x[at + 5 * lanes], 0.0)
    R = (
        x[at],
        x[at + lanes],
        x[at + 2 * lanes],
        x[at + 4 * lanes],
        x[at + 5 * lanes],
        x[at + 6 * lanes],
        x[at + 8 * lanes],
        x[at + 9 * lanes],
        x[at + 10 * lanes],
    )
    return R, (x[at + 3 * lanes], x[at + 7 * lanes], x[at + 11 * lanes])


@native
def _motion(plan, work, place):
    """Return angular and linear part of a motion in a link's block, in the frame of the link."""
    x, lanes = doubles(work), plan[LANES]
    at = place * lanes
    if plan[FREEDOMS] == 3:
        return (0.0, 0.0, x[at]), (x[at + lanes], x[at + 2 * lanes], 0.0)
    w = (x[at], x[at + lanes], x[at + 2 * lanes])
    return w, (x[at + 3 * lanes], x[at + 4 * lanes], x[at + 5 * lanes])


@native_apart
def place_shapes(plan, work, poses):
    link, block, local = integers(plan[LINK]), integers(plan[BLOCK]), doubles(plan[LOCAL])
    for k in range(plan[SHAPES]):
        if link[k] == 0:
            for c in range(12):
                poses[12 * k + c] = local[12 * k + c]
            continue
        R, p = _link_pose(plan, work, block[k])
        for column in range(4):
            x = (local[12 * k + column], local[12 * k + 4 + column], local[12 * k + 8 + column])
            y = turned(R, x)
            if column == 3:
                y = add(y, p)
            for row in range(3):
                poses[12 * k + 4 * row + column] = y[row]


@native
def find_pairs(plan, room):
    """Find the pairs that are near; return how many."""
    at = room + 8 * plan[CALL]
    w = integers(at)
    w[0], w[1], w[2] = 0, plan[TABLE], plan[TABLE_WORDS]
    w[3], w[4], w[5], w[6] = room + 8 * plan[POSES], plan[SHAPES], 3, 4
    w[7], w[8], w[9], w[10] = plan[EXCLUDED], plan[EXCLUDED_COUNT], plan[OWNERS], plan[STILL]
    doubles(at)[11] = doubles(plan[MARGIN])[0]
    w[12], w[13], w[14], w[15] = room + 8 * plan[TREE], 6, room + 8 * plan[NEAR], 6
    w[16], w[17], w[18] = room + 8 * plan[PAIRS], plan[PAIR_ROOM], 2
    call(plan[FIND_PAIRS], at, 0)
    return w[0]


@native
def find_contacts(plan, room, first, count):
    """Find the contacts of some pairs; return how many."""
    at = room + 8 * plan[CALL]
    w = integers(at)
    w[0], w[1], w[2] = 0, plan[TABLE], plan[TABLE_WORDS]
    w[3], w[4], w[5], w[6] = room + 8 * plan[POSES], plan[SHAPES], 3, 4
    w[7], w[8], w[9] = room + 8 * (plan[PAIRS] + 2 * first), count, 2
    w[10], w[11], w[12], w[13] = room + 8 * plan[DETECTION], 15, room + 8 * plan[BUFFER], 5
    doubles(at)[14] = doubles(plan[MARGIN])[0]
    call(plan[FIND_CONTACTS], at, 0)
    return w[0]


@native
def velocity_at(plan, work, shape, point):
    """Return angular velocity and velocity of a shape's link at a point, all in the world."""
    if integers(plan[LINK])[shape] == 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    block = integers(plan[BLOCK])[shape]
    R, p = _link_pose(plan, work, block)
    w, v = _motion(plan, work, block + plan[VELOCITY])
    w = turned(R, w)
    return w, add(turned(R, v), cross(w, sub(point, p)))


@native
def acceleration_at(plan, work, shape, point):
    """Return angular and linear acceleration of a shape's link at a point that stays, all in the world."""
    if integers(plan[LINK])[shape] == 0:
        g = doubles(plan[GRAVITY])
        return (0.0, 0.0, 0.0), (-g[0], -g[1], -g[2])
    block = integers(plan[BLOCK])[shape]
    R, p = _link_pose(plan, work, block)
    w, v = _motion(plan, work, block + plan[ACCELERATION])
    w = turned(R, w)
    return w, add(turned(R, v), cross(w, sub(point, p)))


@native
def push(plan, work, forces, lanes, shape, point, force, torque, sign):
    """Add a force at a point, and a torque, both in the world, to those on a shape's link."""
    link = integers(plan[LINK])[shape]
    if link == 0:
        return
    R, p = _link_pose(plan, work, integers(plan[BLOCK])[shape])
    n = turned_back(R, add(cross(sub(point, p), force), torque))
    f = turned_back(R, force)
    if plan[FREEDOMS] == 3:
        at = 3 * (link - 1) * lanes
        forces[at] += sign * n[2]
        forces[at + lanes] += sign * f[0]
        forces[at + 2 * lanes] += sign * f[1]
        return
    at = 6 * (link - 1) * lanes
    for k in range(3):
        forces[at + k * lanes] += sign * n[k]
        forces[at + (3 + k) * lanes] += sign * f[k]
