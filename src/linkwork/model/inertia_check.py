"""Refuse joints that move nothing: a freedom needs inertia to accelerate."""

from linkwork.errors import ModelError
from linkwork.model.tree import DataLayout, Tree

_NOTHING = 1e-14  # relative to the largest inertia of the mechanism


def check_moved_inertia(tree: Tree) -> None:
    """Raise a ModelError that lists the joints along which all that they carry has no inertia."""
    algebra = tree.algebra
    composites = [algebra.RigidInertia.zero() for _ in range(len(tree.links) + 1)]
    moved: dict[str, float] = {}
    for number in range(len(tree.links), 0, -1):
        link = tree.links[number - 1]
        at = DataLayout.of(algebra, link.kind.nv)
        data = tree.data[link.data : link.data + at.parameters].tolist()
        own = algebra.RigidInertia.from_scalars(data[at.inertia : at.body])
        composites[number] = composites[number] + own
        q = [0.5] * link.kind.nq  # anywhere: a rigid composite turns with its joint
        X = algebra.Frame.from_scalars(data[: at.inertia]) @ link.kind.motion(q, link.parameters)
        S = link.kind.subspace(q, link.parameters)
        composites[link.parent] = composites[link.parent] + X @ composites[number]
        if S:
            inertia = (
                s.dot(composites[number] @ s) + a
                for s, a in zip(S, data[at.armature : at.parameters], strict=True)
            )
            moved[link.name] = min(inertia)
    largest = max(moved.values(), default=0.0)
    idle = [name for name, inertia in moved.items() if not inertia > _NOTHING * largest]
    if idle:
        lines = [
            f"  joint {name!r} moves no inertia: give the bodies it carries mass, or the joint armature="
            for name in idle
        ]
        raise ModelError("\n".join(["the mechanism cannot accelerate:", *lines]))
