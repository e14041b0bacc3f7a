"""Collision detection: which bodies touch, where, how deep; distances, rays, containment."""

from linkwork.contact.colliders import Colliders
from linkwork.contact.queries import closest_points, collide, contains, distance, overlap, ray_cast
from linkwork.contact.result import ContactPoint, Contacts, Hit, Hits

__all__ = [
    "Colliders",
    "ContactPoint",
    "Contacts",
    "Hit",
    "Hits",
    "closest_points",
    "collide",
    "contains",
    "distance",
    "overlap",
    "ray_cast",
]
