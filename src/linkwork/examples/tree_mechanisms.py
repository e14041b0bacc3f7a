"""Mechanisms without loops: a cart-pole, chains, a figure on a bar."""

import numpy as np

from linkwork.geometry import Box, Capsule, Cylinder, Sphere
from linkwork.mechanism.body import Body
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.joints import Prismatic, Revolute, Spherical, Universal
from linkwork.mechanism.mechanism import Mechanism

_FLESH = 1000.0  # kg/m^3


def cart_pole() -> Mechanism:
    """Return a pole hinged to a cart on a rail."""
    m = Mechanism("cart-pole")
    cart = m.add(Body("cart", Box(0.4, 0.2, 0.1), density=800))
    pole = m.add(Body("pole", Cylinder(radius=0.01, length=1.0), density=2700, position=(0, 0, 0.55)))
    m.add(Prismatic("rail", m.ground, cart, axis=(1, 0, 0)))
    m.add(Revolute("pin", cart, pole, at=(0, 0, 0.05), axis=(0, 1, 0), damping=0.01))
    return m


def chain(links: int) -> Mechanism:
    """Return a hanging chain of equal links, hinged across in turn."""
    m = Mechanism(f"chain of {links}")
    link = Inertia(1.0, (0, 0, -0.05), np.diag([0.010, 0.012, 0.003]))
    above = m.ground
    for k in range(links):
        body = m.add(Body(f"link{k}", link, position=(0, 0, -0.1 * k)))
        m.add(Revolute(f"pin{k}", above, body, at=(0, 0, -0.1 * k), axis=(0, 1, 0) if k % 2 else (1, 0, 0)))
        above = body
    return m


def acrobat() -> Mechanism:
    """Return a figure that hangs from a bar by one hand and can swing: 13 bodies, 26 freedoms."""
    m = Mechanism("acrobat")

    def limb(name: str, radius: float, top: tuple[float, float, float], length: float) -> Body:
        x, y, z = top
        shape = Capsule(radius=radius, length=length - 2 * radius)
        return m.add(Body(name, shape, density=_FLESH, position=(x, y, z - length / 2)))

    shoulder, hip = 0.2, 0.12
    # the hanging arm stretches up from the left shoulder at (shoulder, 0, 0) to the bar
    fore = limb("left forearm", 0.04, (shoulder, 0, 0.6), 0.3)
    upper = limb("left upper arm", 0.05, (shoulder, 0, 0.3), 0.3)
    chest = m.add(Body("chest", Box(0.36, 0.2, 0.3), density=_FLESH, position=(0, 0, -0.1)))
    belly = m.add(Body("belly", Box(0.3, 0.18, 0.25), density=_FLESH, position=(0, 0, -0.375)))
    head = m.add(Body("head", Sphere(0.11), density=_FLESH, position=(0, 0, 0.2)))
    m.add(Spherical("bar", m.ground, fore, at=(shoulder, 0, 0.6)))
    m.add(Revolute("left elbow", fore, upper, at=(shoulder, 0, 0.3), axis=(1, 0, 0)))
    m.add(Spherical("left shoulder", upper, chest, at=(shoulder, 0, 0)))
    m.add(Universal("neck", chest, head, at=(0, 0, 0.08), axis=(1, 0, 0), axis2=(0, 1, 0)))
    m.add(Spherical("waist", chest, belly, at=(0, 0, -0.25)))
    arm = limb("right upper arm", 0.05, (-shoulder, 0, 0), 0.3)
    hand = limb("right forearm", 0.04, (-shoulder, 0, -0.3), 0.3)
    m.add(Spherical("right shoulder", chest, arm, at=(-shoulder, 0, 0)))
    m.add(Revolute("right elbow", arm, hand, at=(-shoulder, 0, -0.3), axis=(1, 0, 0)))
    for side, x in (("left", hip), ("right", -hip)):
        thigh = limb(f"{side} thigh", 0.075, (x, 0, -0.5), 0.42)
        shin = limb(f"{side} shin", 0.05, (x, 0, -0.92), 0.4)
        foot = m.add(Body(f"{side} foot", Box(0.09, 0.24, 0.06), density=_FLESH, position=(x, 0.06, -1.35)))
        m.add(Spherical(f"{side} hip", belly, thigh, at=(x, 0, -0.5)))
        m.add(Revolute(f"{side} knee", thigh, shin, at=(x, 0, -0.92), axis=(1, 0, 0)))
        m.add(Revolute(f"{side} ankle", shin, foot, at=(x, 0, -1.32), axis=(1, 0, 0)))
    return m
