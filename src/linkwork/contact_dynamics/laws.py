"""Laws of compliant contact: the normal force [N] <- how deep [m] and how fast [m/s] bodies are pressed.

A law is a function of quantities by their names, in any order. Those of the contact itself:

    depth     how far the bodies overlap [m]
    rate      how fast that grows [m/s]
    radius    of curvature, of both surfaces together [m]; inf where both are flat
    size      of the smaller body's faces: the radius of a disc as large [m]
    mass      felt at the contact along its normal: of both bodies and all that is joined to them [kg]

Those of the two materials together, as `Material` says: stiffness [N/m], modulus (E*) [Pa], damping [N s/m],
dissipation [s/m], friction, static_friction. Any other parameter has a default value, which is a constant of
the law. A force below zero pulls. A law with a parameter `reach` [m] is also asked about bodies that are
apart by less than that: then depth is negative.

Bodies that touch with a whole face do it at several points; each carries its share of the force. So
`stiffness` is that of the whole face: a box of mass m on ground sinks in by m g / stiffness.
"""

from typing import Any

from linkwork.algebra.number import Number, max, min, sqrt, where
from linkwork.errors import absent, hint


def linear(depth: Number, rate: Number, stiffness: Number, damping: Number = 0.0) -> Number:
    """A spring and a damper side by side (Kelvin, Voigt); it does not pull."""
    return max(stiffness * depth + damping * rate, 0.0)


def hunt_crossley(depth: Number, rate: Number, stiffness: Number, dissipation: Number = 0.0) -> Number:
    """A spring whose damping grows with the depth, so that the force does not jump at the first touch.

    Hunt and Crossley, J. Appl. Mech. 42 (1975) 440; Marhefka and Orin, IEEE Trans. SMC A 29 (1999) 566, with
    the exponent 1, for which the stiffness is a force per depth. Of slow impacts at a speed v the restitution
    is 1 - 2/3 dissipation v.
    """
    return stiffness * depth * max(1.0 + dissipation * rate, 0.0)


def hertz(
    depth: Number,
    rate: Number,
    modulus: Number,
    radius: Number,
    size: Number,
    dissipation: Number = 0.0,
    damping: Number = 0.0,
) -> Number:
    """Elastic bodies with curved surfaces: 4/3 E* sqrt(R) depth^(3/2) (Hertz 1882), damped as above.

    Where both are flat, a stiff punch as large as the smaller face: 2 E* size depth (Johnson, Contact
    Mechanics, 1985, eq. 3.36).
    """
    curved = radius < 1e6 * size
    R = where(curved, radius, 0.0)
    elastic = where(curved, 4.0 / 3.0 * modulus * sqrt(R) * depth**1.5, 2.0 * modulus * size * depth)
    return max(elastic * (1.0 + dissipation * rate) + damping * rate, 0.0)


def sticky(depth: Number, rate: Number, stiffness: Number, damping: Number, reach: Number = 1e-3) -> Number:
    """A spring and a damper that hold on to what departs, until it has lost its energy or is out of reach.

    What departs is pulled by the damper, fully while it touches, and less and less up to `reach`. There, a
    body of mass m that left at the speed damping reach / 2 m, or less, has come to rest.
    """
    held = where(depth > 0.0, 1.0, 1.0 + min(depth, 0.0) / reach)
    return stiffness * max(depth, 0.0) + damping * where((rate < 0.0) | (depth > 0.0), rate, 0.0) * held


def recovering(depth: Number, rate: Number, mass: Number, time: Number = 0.01) -> Number:
    """The force that brings the mass that is felt back to the surface within `time` [s], at every instant.

    A constant force F would have it there when depth + rate time - F/m time^2 / 2 = 0. So it is a spring and
    a damper, whose stiffness 2 m / time^2 and damping 2 m / time go with the mass: damped by 1 / sqrt(2) of
    the critical, whatever is hit, and sinking in by g time^2 / 2 under weight.
    """
    return max(2.0 * mass * (depth + rate * time) / (time * time), 0.0)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"contact_laws has no {name!r}")
    laws = [word for word, law in globals().items() if getattr(law, "__module__", None) == __name__]
    raise absent(f"contact_laws has no {name!r}; {hint(name, laws)}", name)
