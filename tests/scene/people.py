"""Mechanisms that tests of scenes share: small, and quick to build."""

import linkwork as lw


def doll() -> lw.Mechanism:
    """Return a body with two arms of two parts each: five bodies, floating."""
    m = lw.Mechanism("doll")
    trunk = m.add(lw.Body("trunk", lw.Box(0.2, 0.2, 0.4), density=1000, position=(0, 0, 1)))
    for side, word in ((1, "left"), (-1, "right")):
        arm = m.add(lw.Body(f"{word} arm", lw.Capsule(0.04, 0.2), density=1000, position=(0, 0.2 * side, 1)))
        hand = m.add(lw.Body(f"{word} hand", lw.Sphere(0.05), density=1000, position=(0, 0.2 * side, 0.8)))
        m.add(lw.Spherical(f"{word} shoulder", trunk, arm, at=(0, 0.15 * side, 1.1), damping=0.2))
        m.add(lw.Revolute(f"{word} wrist", arm, hand, at=(0, 0.2 * side, 0.86), axis=(0, 1, 0), damping=0.1))
    m.add(lw.Free("base", m.ground, trunk))
    return m


def hanging() -> lw.Mechanism:
    """Return two boxes, 2 kg and 3 kg, one below the other, hanging from ground."""
    m = lw.Mechanism("hanging")
    a = m.add(lw.Body("upper", lw.Box(0.1, 0.1, 0.1), mass=2.0, position=(0, 0, -0.3)))
    b = m.add(lw.Body("lower", lw.Box(0.1, 0.1, 0.1), mass=3.0, position=(0, 0, -0.8)))
    m.add(lw.Revolute("top", m.ground, a, at=(0, 0, 0), axis=(0, 1, 0)))
    m.add(lw.Revolute("middle", a, b, at=(0, 0, -0.5), axis=(0, 1, 0)))
    return m


def crate(size: float = 0.3) -> lw.Body:
    """Return a wooden box."""
    return lw.Body("crate", lw.Box(size, size, size), density=500)


def world(**options) -> lw.Scene:
    """Return a scene with a floor."""
    made = lw.Scene(**options)
    made.add(lw.ground_plane(), name="floor", material=lw.Material(friction=0.6))
    return made
