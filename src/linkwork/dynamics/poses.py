"""Poses of the bodies in the world <- q."""

from linkwork.dynamics.algorithm import Algorithm, LinkView, Pass, Port, Q, WorldView

POSES = Port(
    "pose", "link", lambda n: (n.links, n.algebra.dimension, n.algebra.dimension + 1)
)  # rows of [R | p]


def base(world: WorldView) -> None:
    world.X_W = world.algebra.Frame()


def poses(link: LinkView, parent: LinkView) -> None:
    """Base to tips: where each link is."""
    link.X_W = parent.X_W @ link.X


def body_poses(link: LinkView, parent: LinkView) -> None:
    """Base to tips: where each link and its body is."""
    poses(link, parent)
    link.pose = link.X_W @ link.body


ALGORITHM = Algorithm(
    "poses",
    inputs=(Q,),
    outputs=(POSES,),
    passes=(Pass(body_poses, "outward"),),
    shared={"X_W": "Frame"},
    start=base,
    tree="bodies",
)
