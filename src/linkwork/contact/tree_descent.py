"""Steps of a descent of the tree of a mesh: what all loops over its nodes have in common."""

from linkwork.contact.decorators import native
from linkwork.contact.shape_table import FIRST_NODE, STACK
from linkwork.geometry.vectors import dot, nine, sub, three, turned_back


@native
def descended(child, node, stack, begin, top):
    """Put the two nodes below one on the stack that begins there, the first on top; return its height. What
    has no room is left out."""
    if top + 2 > STACK:
        return top
    stack[begin + top], stack[begin + top + 1] = child[2 * node + 1], child[2 * node]
    return top + 2


@native
def lowest_of_node(boxes, node, m):
    """Return how low the box of a node reaches along m."""
    k = 15 * node
    d, half = turned_back(nine(boxes, k), m), three(boxes, k + 12)
    return dot(m, three(boxes, k + 9)) - abs(d[0]) * half[0] - abs(d[1]) * half[1] - abs(d[2]) * half[2]


@native
def in_root(table, j, x):
    """Return whether a point is in the box round a mesh."""
    k = 15 * table.index[12 * j + FIRST_NODE]
    d, half = (
        turned_back(nine(table.node_box, k), sub(x, three(table.node_box, k + 9))),
        three(table.node_box, k + 12),
    )
    return abs(d[0]) <= half[0] and abs(d[1]) <= half[1] and abs(d[2]) <= half[2]
