"""Directions of friction at a contact."""

from linkwork.geometry.compiled import compiled
from linkwork.geometry.vectors import cross, neg, normal_to


@compiled
def tangents(n):
    """Return two unit vectors at right angles to a unit vector and to each other.

    Of a normal in the plane one of them is in that plane, which is not so of `geometry.vectors.tangents`.
    """
    a = neg(normal_to(n))
    return a, cross(n, a)
