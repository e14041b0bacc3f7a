"""What stands until something hits it: a tower of planks, and a bridge."""

from linkwork.geometry import Box, Plane, Sphere
from linkwork.mechanism.body import Body
from linkwork.mechanism.contact import Contact
from linkwork.mechanism.joints import Fixed, Free
from linkwork.mechanism.material import Material
from linkwork.mechanism.mechanism import Mechanism

_WOOD, _IRON = 600.0, 7200.0  # kg/m^3


def tower(layers: int = 10) -> Mechanism:
    """Return a tower of planks, three to a layer, crosswise, and an iron ball beside it: shoot it by `flight`."""
    m = Mechanism("tower")
    long, wide, high = 0.3, 0.1, 0.06  # of a plank [m]
    wood = Material(friction=0.5)
    for layer in range(layers):
        for k in range(3):
            along = (k - 1) * wide
            place = (along, 0.0) if layer % 2 else (0.0, along)
            size = (wide, long, high) if layer % 2 else (long, wide, high)
            name = f"plank {layer + 1}.{k + 1}"
            where = (*place, (layer + 0.5) * high)
            m.add(Body(name, Box(*size), density=_WOOD, position=where, material=wood))
    ball = Body("ball", Sphere(0.08), density=_IRON, position=(-1.5, 0.03, 0.6 * layers * high), material=wood)
    m.add(Free("flight", m.ground, m.add(ball)))
    m.ground.add(Plane())
    m.add(Contact("contact"))
    return m


def bridge(planks: int = 9, *, length: float = 0.4) -> Mechanism:
    """Return a deck of planks welded end to end, each so long [m], in the air along x, its middle at the origin.

    Welds are `weld 1`, ...: in a scene they may break.
    """
    m = Mechanism("bridge")
    wood, bodies = Material(friction=0.6), list[Body]()
    for k in range(planks):
        place = (length * (k - 0.5 * (planks - 1)), 0.0, 0.0)
        shape = Box(length, 0.8, 0.06)
        bodies.append(m.add(Body(f"plank {k + 1}", shape, density=_WOOD, position=place, material=wood)))
    for k, (a, b) in enumerate(zip(bodies, bodies[1:]), start=1):
        m.add(Fixed(f"weld {k}", a, b))
    m.add(Contact("contact"))
    return m
