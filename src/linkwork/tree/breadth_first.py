"""A spanning tree of a graph of bodies: found breadth first, so that paths to ground are short; then the
bodies are numbered depth first, so that each branch is one piece.

Neighbours of a body are visited in the order of the joints. They, and the bodies that a body carries, are
linked lists in integer arrays: the graph of an edited mechanism is walked anew after every edit.
"""

import numpy as np

from linkwork.native.numba_functions import entry

Array = np.ndarray

NO_JOINT = -1
_LISTS = 7  # of one number per body: see `_span`


def spanned(ends: Array, bodies: int, floating: bool) -> Array:
    """Return the branches (3, branches): body, number of the branch it hangs on, number of its joint.

    `ends` (2, joints) are the bodies that joints connect; body 0 is ground, which counts as branch -1. Bodies
    that no path of joints connects to ground are left out, or, if `floating`, the first of each such group
    hangs on ground by NO_JOINT.
    """
    tree = np.empty((3, bodies), np.int64)
    room = np.empty(_LISTS * (bodies + 1) + ends.size, np.int64)
    count = _span(ends, int(floating), tree, room)
    return tree[:, :count]


@entry("int64", "int64[:, ::1]", "int64", "int64[:, ::1]", "int64[::1]")
def _span(ends, floating, tree, room):
    """Write the branches; return how many there are."""
    size, joints = tree.shape[1] + 1, ends.shape[1]
    for k in range(len(room)):
        room[k] = -1
    meeting, last = room[:size], room[size : 2 * size]  # first and last entry of each body's list of joints
    following = room[7 * size :]  # the next entry; entry 2 j + s is end s of joint j
    above, carrier = room[2 * size : 3 * size], room[3 * size : 4 * size]  # of a body: its parent, its joint
    carried, newest = room[4 * size : 5 * size], room[5 * size : 6 * size]  # first and last body it carries
    beside = room[6 * size : 7 * size]  # the next body on the same parent
    for j in range(joints):
        for s in range(2):
            body, e = ends[s, j], 2 * j + s
            if last[body] < 0:
                meeting[body] = e
            else:
                following[last[body]] = e
            last[body] = e

    front = tree[0]  # the bodies that are reached, in their order; in the end their numbers take its place
    count, walked, searched, parent = 0, 0, 1, 0
    while parent >= 0:
        e = meeting[parent]
        while e >= 0:
            body = ends[1 - e % 2, e // 2]
            if body and above[body] < 0:
                above[body], carrier[body] = parent, e // 2
                if newest[parent] < 0:
                    carried[parent] = body
                else:
                    beside[newest[parent]] = body
                newest[parent] = body
                front[count] = body
                count += 1
            e = following[e]
        if walked == count and floating:
            while searched < size and above[searched] >= 0:
                searched += 1
            if searched < size:
                above[searched] = 0
                if newest[0] < 0:
                    carried[0] = searched
                else:
                    beside[newest[0]] = searched
                newest[0] = searched
                front[count] = searched
                count += 1
        parent = -1
        if walked < count:
            parent = front[walked]
            walked += 1

    number, body = last, carried[0]  # the lists of joints are not needed any more
    number[0] = -1
    k = 0
    while body > 0:
        tree[0, k], tree[1, k], tree[2, k] = body, number[above[body]], carrier[body]
        number[body] = k
        k += 1
        if carried[body] > 0:
            body = carried[body]
        else:
            while body > 0 and beside[body] < 0:
                body = above[body]
            body = beside[body] if body > 0 else 0
    return count
