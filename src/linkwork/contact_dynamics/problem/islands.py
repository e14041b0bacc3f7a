"""Islands of a contact problem: nodes that contacts connect, each of which is solved by itself.

Ground connects nothing. What is found for an island does not depend on the others: not on how far these are
solved, nor on whether they are there.
"""

from typing import Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.problem.contact_problem import CONTACTS, NODES, WHERE
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import entry, native


class Islands(NamedTuple):
    """Islands in the order of their first nodes."""

    of: Any  # (nodes,) the island of each node; -1: nothing touches it
    node: Any  # (nodes,) nodes, island by island
    first_node: Any  # (nodes + 1,) where those of an island begin
    contact: Any  # (n,) contacts, island by island
    first_contact: Any  # (nodes + 1,)


ISLANDS = Named(Islands, dict.fromkeys(Islands._fields, WHERE))


def room_for_islands(nodes: int, contacts: int) -> Islands:
    """Make room for islands."""
    return Islands(*(np.zeros(n, np.int64) for n in (nodes, nodes, nodes + 1, contacts, nodes + 1)))


@native
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@entry("int64", NODES, CONTACTS, ISLANDS)
def find_islands(nodes, c, found):
    """Write the islands; return how many there are."""
    of, parent, total = found.of, found.node, len(nodes.size)
    for i in range(total):
        of[i], parent[i] = -1, i
    for k in range(len(c.a)):
        a, b = c.a[k], c.b[k]
        if a >= 0:
            of[a] = 0
        if b >= 0:
            of[b] = 0
        if a >= 0 and b >= 0:
            i, j = _root(parent, a), _root(parent, b)
            parent[max(i, j)] = min(i, j)
    count = 0
    for i in range(total + 1):
        found.first_node[i] = found.first_contact[i] = 0
    for i in range(total):  # a root comes before the others
        if of[i] >= 0:
            root = _root(parent, i)
            if root == i:
                of[i] = count
                count += 1
            else:
                of[i] = of[root]
            found.first_node[of[i] + 1] += 1
    for k in range(len(c.a)):
        node = max(c.a[k], c.b[k])
        if node >= 0:
            found.first_contact[of[node] + 1] += 1
    for i in range(count):
        found.first_node[i + 1] += found.first_node[i]
        found.first_contact[i + 1] += found.first_contact[i]
    _group(found, c, count, total)
    return count


@native
def _group(found, c, count, total):
    """List nodes and contacts by islands, whose firsts are counted up meanwhile."""
    for i in range(total):
        if found.of[i] >= 0:
            found.node[found.first_node[found.of[i]]] = i
            found.first_node[found.of[i]] += 1
    for k in range(len(c.a)):
        node = max(c.a[k], c.b[k])
        if node >= 0:
            i = found.of[node]
            found.contact[found.first_contact[i]] = k
            found.first_contact[i] += 1
    for i in range(count, 0, -1):
        found.first_node[i], found.first_contact[i] = found.first_node[i - 1], found.first_contact[i - 1]
    found.first_node[0] = found.first_contact[0] = 0
