"""What a joint is drawn as: balls, cylinders and boxes about its frame, in sizes of its own."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Mark:
    """A ball, cylinder or box about the origin of a joint; sizes are in radii of joints as they are drawn."""

    shape: Literal["ball", "cylinder", "box"]
    across: float  # radius, or width of a box
    along: float = 0.0  # length
    axis: Literal["x", "y", "z"] | None = None  # of the joint's frame; None: the joint's own
    rail: bool = False  # as long as a rail of the mechanism, in place of `along`
    through: bool = False  # and through all layers of a planar mechanism
    on_child: bool = True  # moves with the child
