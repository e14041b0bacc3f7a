"""How triangles hang together: edges, holes, pieces, and which way round they are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.geometry.mesh_loops import edge_sum, numbered_edges, sorted_sides
from linkwork.geometry.solid import Faces
from linkwork.geometry.weld import SECRET

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a mesh; edge k lies between the vertices `ends[k]`, the lower number first."""

    ends: Integers  # (e, 2)
    of_face: Integers  # (3 m,) the edge of side 3 f + s, which goes from corner s of face f to the next
    forward: NDArray[np.bool_]  # (3 m,) whether that side goes from the lower number to the higher
    sides: Integers  # (e,) how many sides an edge has
    balance: Integers  # (e,) those that go forward less those that go back

    @property
    def free(self) -> Integers:
        """Edges with an odd number of faces, where the surface ends."""
        return np.flatnonzero(self.sides % 2)

    @property
    def turned(self) -> Integers:
        """Edges whose faces are not of one orientation."""
        return np.flatnonzero((self.sides % 2 == 0) & (self.balance != 0))


def edges_of(faces: Faces) -> Edges:
    """Find the edges of a mesh."""
    faces, m = np.ascontiguousarray(faces, np.int64), len(faces)
    half, order = np.empty(3 * m, np.int32), np.empty(3 * m, np.int32)
    e = sorted_sides(faces, np.empty(int(faces.max(initial=0)) + 1, np.int64), half, order)
    of_face, forward = np.empty(3 * m, np.int64), np.empty(3 * m, np.bool_)
    ends, count, balance = np.empty((e, 2), np.int64), np.empty(e, np.int64), np.empty(e, np.int64)
    numbered_edges(faces, order, ends, of_face, forward, count, balance)
    return Edges(ends, of_face, forward, count, balance)


def is_closed(faces: Faces) -> bool:
    """Whether every edge has equally many faces in both orientations.

    Every edge is given a number of 64 bits, added for sides that go one way and subtracted for those that go
    the other. If all edges balance the sum is zero; if one does not, it is zero once in some 2^60 meshes. The
    numbers are hashed from a secret, so that no mesh can be made for which it is.
    """
    return edge_sum(np.ascontiguousarray(faces, np.int64), SECRET) == 0


def pieces(faces: Faces, edges: Edges) -> tuple[int, Integers]:
    """Return the number of pieces that hang together by edges, and for every face its piece."""
    by_edge = np.argsort(edges.of_face, kind="stable")
    same = edges.of_face[by_edge[1:]] == edges.of_face[by_edge[:-1]]
    a, b = by_edge[1:][same] // 3, by_edge[:-1][same] // 3
    return connected(len(faces), a, b)


def connected(count: int, a: Integers, b: Integers) -> tuple[int, Integers]:
    """Return into how many groups things fall when each a is joined to its b, and the group of each."""
    from scipy.sparse import coo_array  # at first use: importing it takes longer than all of our own
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(a)), (a, b)), shape=(count, count))
    groups, label = connected_components(graph, directed=False)
    return int(groups), label.astype(np.int64)


def loops(faces: Faces, edges: Edges) -> list[list[int]]:
    """Return the borders of holes as rings of vertices, in the direction of a face that would fill them."""
    free = np.isin(edges.of_face, edges.free)
    sides = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)[free]
    following: dict[int, list[int]] = {}
    for a, b in sides.tolist():
        following.setdefault(b, []).append(a)  # a face of the filling goes the other way
    rings: list[list[int]] = []
    for start in sorted(following):
        ring, place = [start], {start: 0}
        while following.get(ring[-1]):
            there = following[ring[-1]].pop()
            if there in place:  # a vertex passed twice ends a ring
                rings.append(ring[place[there] :])
                for vertex in ring[place[there] + 1 :]:
                    del place[vertex]
                ring = ring[: place[there] + 1]
            else:
                place[there] = len(ring)
                ring.append(there)
    return rings


def oriented(faces: Faces, edges: Edges) -> tuple[Faces, int]:
    """Return the faces turned so that neighbours agree, and how many were turned.

    From a face of each piece the orientation is handed on over edges with two sides.
    """
    m = len(faces)
    order = np.argsort(edges.of_face, kind="stable")
    first = np.searchsorted(edges.of_face[order], np.flatnonzero(edges.sides == 2))
    one, other = order[first], order[first + 1]
    agree = edges.forward[one] != edges.forward[other]
    # A graph of faces (right way, wrong way): what hangs together has one orientation.
    a, b = one // 3, other // 3
    rows = np.r_[a, a + m]
    columns = np.r_[np.where(agree, b, b + m), np.where(agree, b + m, b)]
    _, label = connected(2 * m, rows, columns)
    flip = _minority(label[:m], label[m:])
    turned = faces.copy()
    turned[flip] = turned[flip, ::-1]
    return turned, int(flip.sum())


def _minority(right: Integers, wrong: Integers) -> NDArray[np.bool_]:
    """Return which faces to turn, as few as possible; none of a piece that has but one side (Moebius)."""
    votes = np.bincount(np.r_[right, wrong], np.r_[np.ones(len(right)), np.zeros(len(wrong))])
    against = votes[wrong] > votes[right]
    tie = (votes[wrong] == votes[right]) & (right > wrong)
    return against | tie
