"""The order in which nodes are eliminated, and what is filled in: the symbolic half of a factorisation.

Nodes are the trees of bodies that stand on their own; two of them are neighbours if a contact connects them.
Eliminating a node makes neighbours of all its neighbours. Minimum degree (Tinney, Walker 1967): the node with
the fewest neighbours goes next. Neighbours are kept as lists that are merged, and nodes in buckets by degree,
so that the work grows with what is filled in.

The result is, per node in the new order, the later nodes it is joined to (columns of L), and per pair of
those the block that they update.
"""

from typing import Any, NamedTuple

import numpy as np

from linkwork.native.numba_functions import entry, native

Array = np.ndarray


class Elimination(NamedTuple):
    """An order of nodes, and the blocks of L below the diagonal, column by column."""

    order: Array  # (nodes,) which node is eliminated when
    place: Array  # (nodes,) when a node is eliminated
    start: Array  # (nodes + 1,) first block of a column
    row: Array  # (blocks,) of a block, in the new order; ascending in each column
    first_update: Array  # (nodes + 1,) first update that a column makes
    update: (
        Array  # (updates, 3) target -= block 0 times block 1 transposed; a target -1 - j is the diagonal's
    )


def elimination(nodes: int, edges: Any) -> Elimination:
    """Return the order for a graph of nodes, edges (n, 2)."""
    found = elimination_within(nodes, edges, 10**15)
    assert found is not None
    return found


def elimination_within(nodes: int, edges: Any, most: int) -> Elimination | None:
    """Return the order for a graph of nodes, or nothing if it takes more than `most` updates."""
    low, high = np.sort(np.asarray(edges, np.int64).reshape(-1, 2), axis=1).T
    edges = np.column_stack(np.divmod(np.unique((low * nodes + high)[low != high]), max(nodes, 1)))
    order, start = np.zeros(nodes, np.int64), np.zeros(nodes + 1, np.int64)
    room, done, row = 64 + 8 * len(edges), 0, np.zeros(0, np.int64)
    while done == 0:
        row = np.zeros(room, np.int64)
        done = _eliminate(nodes, edges, most, order, start, row, np.zeros(2 * room, np.int64))
        room *= 2
    if done < 0:
        return None
    place = np.empty(nodes, np.int64)
    place[order] = np.arange(nodes)
    counts = np.diff(start)
    row = place[row[: start[-1]]]
    row = np.ascontiguousarray(row[np.lexsort((row, np.repeat(np.arange(nodes), counts)))])
    first_update = np.concatenate([[0], np.cumsum(counts * (counts + 1) // 2)])
    update = np.zeros((int(first_update[-1]), 3), np.int64)
    _find_updates(start, row, update)
    return Elimination(order, place, start, row, first_update, update)


@entry("int64", "int64", "int64[:, ::1]", "int64", "int64[::1]", "int64[::1]", "int64[::1]", "int64[::1]")
def _eliminate(nodes, edges, most, order, start, row, pool):
    """Write the order, and the neighbours of each node when its turn comes.

    Return 0 if room is lacking, -1 if there are too many updates.

    Lists of neighbours are in `pool`, one behind the other; a list that grows moves to its end.
    """
    begin, size = np.zeros(nodes + 1, np.int64), np.zeros(nodes, np.int64)
    for k in range(len(edges)):
        size[edges[k, 0]] += 1
        size[edges[k, 1]] += 1
    for i in range(nodes):
        begin[i + 1] = begin[i] + size[i]
        size[i] = 0
    for k in range(len(edges)):
        i, j = edges[k, 0], edges[k, 1]
        pool[begin[i] + size[i]] = j
        pool[begin[j] + size[j]] = i
        size[i] += 1
        size[j] += 1
    end = begin[nodes]
    head = np.full(nodes + 1, -1, np.int64)  # of the nodes of each degree, which are linked both ways
    after, before = np.full(nodes, -1, np.int64), np.full(nodes, -1, np.int64)
    for i in range(nodes - 1, -1, -1):
        _enter(i, size[i], head, after, before)
    seen = np.full(nodes, -1, np.int64)
    least = 0
    for turn in range(nodes):
        while head[least] < 0:
            least += 1
        p = head[least]
        _leave(p, size[p], head, after, before)
        order[turn], n, first = p, size[p], begin[p]
        most -= n * (n + 1) // 2
        if most < 0:
            return -1
        if start[turn] + n > len(row):
            return 0
        start[turn + 1] = start[turn] + n
        for c in range(n):
            row[start[turn] + c] = pool[first + c]
        for c in range(n):
            i = row[start[turn] + c]
            if end + size[i] + n > len(pool):
                return 0
            seen[i] = seen[p] = turn * nodes + i  # neither is its own neighbour
            _leave(i, size[i], head, after, before)
            there = end
            for k in range(begin[i], begin[i] + size[i]):
                j = pool[k]
                if seen[j] != turn * nodes + i:
                    seen[j] = turn * nodes + i
                    pool[end] = j
                    end += 1
            for k in range(start[turn], start[turn + 1]):
                j = row[k]
                if seen[j] != turn * nodes + i:
                    seen[j] = turn * nodes + i
                    pool[end] = j
                    end += 1
            begin[i], size[i] = there, end - there
            _enter(i, size[i], head, after, before)
            least = min(least, size[i])
    return 1


@native
def _enter(i, degree, head, after, before):
    """Put a node first among those of its degree."""
    after[i], before[i] = head[degree], -1
    if head[degree] >= 0:
        before[head[degree]] = i
    head[degree] = i


@native
def _leave(i, degree, head, after, before):
    if before[i] >= 0:
        after[before[i]] = after[i]
    else:
        head[degree] = after[i]
    if after[i] >= 0:
        before[after[i]] = before[i]


@entry(None, "int64[::1]", "int64[::1]", "int64[:, ::1]")
def _find_updates(start, row, update):
    """Write, for every pair of blocks of a column, which block they update."""
    t = 0
    for j in range(len(start) - 1):
        for x in range(start[j], start[j + 1]):
            k = row[x]
            update[t, 0], update[t, 1], update[t, 2] = x, x, -1 - k
            t += 1
            e = start[k]
            for y in range(x + 1, start[j + 1]):
                while row[e] != row[y]:
                    e += 1
                update[t, 0], update[t, 1], update[t, 2] = y, x, e
                t += 1
