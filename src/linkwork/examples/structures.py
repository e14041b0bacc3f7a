"""What stands until something hits it: a tower of planks, and a bridge."""

from itertools import pairwise

from linkwork.geometry import Box, Plane, Sphere
from linkwork.mechanism.body import Body
from linkwork.mechanism.contact import Contact
from linkwork.mechanism.joints import Fixed, Free
from linkwork.mechanism.material import Material
from linkwork.mechanism.mechanism import Mechanism
from linkwork.scene.break_when import BreakWhen
from linkwork.scene.scene import Scene
from linkwork.scene.static_shapes import ground_plane

_WOOD, _IRON = 600.0, 7200.0  # kg/m^3


def tower(layers: int = 8) -> Mechanism:
    """Return a tower of wooden blocks, two to a layer, crosswise; shoot the ball at it by `flight`."""
    m = Mechanism("tower")
    long, wide, high = 0.4, 0.2, 0.2  # of a block [m]
    wood = Material(friction=0.5)
    for layer in range(layers):
        for k in (0, 1):
            aside = (k - 0.5) * wide
            place = (aside, 0.0) if layer % 2 else (0.0, aside)
            size = (wide, long, high) if layer % 2 else (long, wide, high)
            where = (*place, (layer + 0.5) * high)
            name = f"block {layer + 1}.{k + 1}"
            m.add(Body(name, Box(*size), density=_WOOD, position=where, material=wood))
    shot, iron = (-1.0, 0.04, 0.4 * layers * high), Material(friction=0.5, rolling=0.01)
    ball = m.add(Body("ball", Sphere(0.15), density=_IRON, position=shot, material=iron))
    m.add(Free("flight", m.ground, ball))
    m.ground.add(Plane())
    m.add(Contact("contact"))
    return m


def bridge(planks: int = 9, *, length: float = 0.4) -> Mechanism:
    """Return a deck of planks welded end to end, each of a `length` [m], along x about the origin.

    Welds are `weld 1`, ...: in a scene they may break.
    """
    m = Mechanism("bridge")
    wood, bodies = Material(friction=0.6), list[Body]()
    for k in range(planks):
        place = (length * (k - 0.5 * (planks - 1)), 0.0, 0.0)
        shape = Box(length, 0.8, 0.06)
        bodies.append(m.add(Body(f"plank {k + 1}", shape, density=_WOOD, position=place, material=wood)))
    for k, (a, b) in enumerate(pairwise(bodies), start=1):
        m.add(Fixed(f"weld {k}", a, b))
    m.add(Contact("contact"))
    return m


def breaking_bridge(strength: float = 700.0) -> Scene:
    """Return a scene: a bridge that lies on two piers, and an iron ball that falls on it.

    Its welds break where they bear more than a moment [N m].
    """
    stone = Material(friction=0.6)
    world = Scene()
    world.add(ground_plane(), material=stone, position=(0.0, 0.0, -1.5))
    for side in (-1.0, 1.0):
        world.add(Box(0.6, 1.2, 1.47), material=stone, position=(1.75 * side, 0.0, -0.03 - 0.735))
    deck = world.add(bridge())
    ball = Body("ball", Sphere(0.15), density=_IRON, material=stone)
    world.add(ball, position=(0.1, 0.0, 0.6))
    for k in (4, 5, 3, 6, 2, 7, 1, 8):  # the middle bears most
        world.add(BreakWhen(deck[f"weld {k}"], torque=strength))
    return world
