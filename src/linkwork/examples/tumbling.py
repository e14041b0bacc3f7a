"""Bodies in free flight."""

from linkwork.geometry import Box
from linkwork.mechanism.body import Body
from linkwork.mechanism.joints import Free
from linkwork.mechanism.mechanism import Mechanism


def flipping_box(x: float = 0.3, y: float = 0.2, z: float = 0.1) -> Mechanism:
    """Return a weightless box with three different sizes [m].

    Spun about its middle axis, y, it turns over and over: that axis is not stable (Euler; seen by the
    cosmonaut Dzhanibekov on a wing nut, 1985). Give `flight` the velocities (0.01, 5, 0, 0, 0, 0).
    """
    m = Mechanism("flipping box", gravity=(0, 0, 0))
    box = m.add(Body("box", Box(x, y, z), density=500))
    m.add(Free("flight", m.ground, box))
    return m
