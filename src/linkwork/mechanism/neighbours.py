"""Which bodies joints join, so that they do not meet where they touch: neighbours.

A joint of several axes is often described as hinges in a row, on bodies that have no shape: a hip that yaws,
rolls and pitches. What such a *compound joint* joins are neighbours, too, as of a ball joint: it is a chain
of bodies without shapes, each between two joints that only turn, and shorter than the bodies it joins (by
their radii of gyration). A longer one is a linkage, whose ends may well hit each other.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations, product
from math import sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from linkwork.mechanism.body import Body
from linkwork.mechanism.joints import Revolute, Spherical, Universal
from linkwork.varied import any_varied

if TYPE_CHECKING:
    from linkwork.mechanism.joint import Joint
    from linkwork.mechanism.mechanism import Mechanism

Pair: TypeAlias = tuple[str, str]  # names of bodies, sorted

_TURNING = (Revolute, Universal, Spherical)


def name_of(body: Body | str) -> str:
    """Return the name of a body that is given itself or by name."""
    return body if isinstance(body, str) else body.name


def sorted_pair(pair: Iterable[Body | str]) -> Pair:
    """Return a pair of bodies by their names, sorted."""
    a, b = pair
    a, b = name_of(a), name_of(b)
    return (a, b) if a <= b else (b, a)


def welded_groups(mechanism: "Mechanism") -> list[list[Body]]:
    """Return the bodies that fixed joints make one, ground with its own first; also bodies alone."""
    group_of: dict[Body, list[Body]] = {
        body: [body] for body in (mechanism.ground, *mechanism.bodies.values())
    }
    for joint in mechanism.joints.values():
        one, other = group_of[joint.parent], group_of[joint.child]
        if joint.nv == 0 and one is not other:
            one += other
            group_of.update(dict.fromkeys(other, one))
    return list({id(group): group for group in group_of.values()}.values())


def joined_pairs(mechanism: "Mechanism", groups: list[list[Body]] | None = None) -> set[Pair]:
    """Return the pairs of bodies that joints join; a joint that takes no freedom joins nothing.

    Bodies welded together are one here: they do not meet, nor do they meet what is joined to one of them. The
    ground is the exception, since what slides on one part of it may well hit another: only what a joint joins
    to that very part does not meet it. (Its parts do not meet either: they are `fixed` in Colliders.)
    """
    groups = welded_groups(mechanism) if groups is None else groups
    parts = {body: group for group in groups[1:] if len(group) > 1 for body in group}
    pairs = {sorted_pair(pair) for group in groups[1:] for pair in combinations(group, 2)}
    joints = [joint for joint in mechanism.joints.values() if joint.nv < joint.algebra.freedoms]
    for one, other in [*(joint.bodies for joint in joints), *_compound_joints(joints, groups)]:
        if one in parts or other in parts:
            ends = (parts.get(body) or [body] for body in (one, other))
            pairs.update(sorted_pair(pair) for pair in product(*ends) if pair[0] is not pair[1])
        else:
            pairs.add(sorted_pair((one, other)))
    return pairs


def _compound_joints(joints: Iterable["Joint"], groups: list[list[Body]]) -> Iterator[tuple[Body, Body]]:
    """Yield the bodies that compound joints join."""
    parts = {body for group in groups[1:] for body in group}  # not those of ground
    alone = {group[0] for group in groups[1:] if len(group) == 1 and not group[0].touched_by}
    if not alone:
        return
    of_body: defaultdict[Body, list[Joint]] = defaultdict(list)
    for joint in joints:
        for body in joint.bodies:
            of_body[body].append(joint)

    def is_inner(body: Body) -> bool:
        return len(of_body[body]) == 2 and all(type(joint) in _TURNING for joint in of_body[body])

    inner = {body for body in alone if is_inner(body)}
    for start in [body for body in of_body if body in parts and body not in inner] if inner else ():
        for joint in of_body[start]:
            body, length = _other(joint, start), 0.0
            while body in inner:
                before, joint = joint, next(one for one in of_body[body] if one is not joint)
                length += _distance(body, before, joint)
                body = _other(joint, body)
            once = body in parts and start.name < body.name
            if once and length <= min(map(_radius_of_gyration, (start, body))):
                yield start, body


def _other(joint: "Joint", body: Body) -> Body:
    one, other = joint.bodies
    return other if body is one else one


def _distance(body: Body, *joints: "Joint") -> float:
    """Return how far two joints are from each other on a body [m]."""
    a, b = (joint.frames()[joint.bodies.index(body)].p for joint in joints)
    return 0.0 if any_varied(*a, *b) else float(np.linalg.norm(np.subtract(a, b)))


def _radius_of_gyration(body: Body) -> float:
    inertia: Any = body.inertia
    if any_varied(inertia.mass, *np.ravel(inertia.tensor)) or inertia.mass <= 0.0:
        return 0.0
    moments = np.trace(np.atleast_2d(inertia.tensor))
    return sqrt((moments if np.ndim(inertia.tensor) == 0 else 0.5 * moments) / inertia.mass)
