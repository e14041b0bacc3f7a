"""Bodies that fall, bounce, roll and knock each other over: contact without joints."""

from collections.abc import Sequence
from math import cos, radians, sin

import numpy as np

from linkwork.geometry import Box, Cylinder, Plane, Sphere
from linkwork.mechanism.body import Body
from linkwork.mechanism.contact import Contact
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.joints import Free, Revolute
from linkwork.mechanism.material import Material
from linkwork.mechanism.mechanism import Mechanism

_WOOD, _STEEL = 600.0, 7850.0  # kg/m^3


def bouncing_balls(restitutions: Sequence[float] = (0.5, 0.7, 0.9), height: float = 1.0) -> Mechanism:
    """Return balls that fall from this height [m], side by side, and bounce: to e^2 of it, e^4 of it, ..."""
    m = Mechanism("bouncing balls")
    radius = 0.05
    for k, restitution in enumerate(restitutions, start=1):
        material = Material(friction=0.5, restitution=restitution)
        place = (4.0 * radius * k, 0.0, height + radius)
        m.add(Body(f"ball {k}", Sphere(radius), density=1000.0, position=place, material=material))
    m.ground.add(Plane())
    m.add(Contact("contact"))
    return m


def rolling_race(slope: float = 20.0) -> Mechanism:
    """Return a ball, a cylinder and a hollow ball at the top of a slope [deg].

    They roll, and so accelerate by g sin(slope) / (1 + k), with k = 2/5, 1/2 and 2/3 their moments of inertia
    per mass and radius^2; they would slide on less friction than tan(slope) k / (1 + k).
    """
    m = Mechanism("rolling race")
    radius, mass, angle = 0.1, 1.0, radians(slope)
    up = (sin(angle), 0.0, cos(angle))  # out of the slope, which falls along x
    hollow = Inertia(mass, np.zeros(3), 2.0 / 3.0 * mass * radius**2 * np.eye(3))
    lying = Cylinder(radius, 0.1, rotation=(cos(radians(45.0)), sin(radians(45.0)), 0.0, 0.0))
    m.add(Body("ball", Sphere(radius), mass=mass))
    m.add(Body("cylinder", lying, mass=mass))
    m.add(Body("hollow ball", hollow, collisions=[Sphere(radius)]))
    for k, body in enumerate(m.bodies.values()):
        body.position = (radius * up[0], 0.3 * k, radius * up[2])
    m.ground.add(Plane(up))
    m.add(Contact("contact", material=Material(friction=0.8)))
    return m


def dominoes(count: int = 20) -> Mechanism:
    """Return a row of dominoes, 48 x 24 x 7.5 mm, the first of which is about to fall on the others."""
    m = Mechanism("dominoes")
    thick, wide, high, pitch = 0.0075, 0.024, 0.048, 0.02  # [m]
    # The first leans over by more than the 9 degrees to which it stands, and has room to fall: it must lift
    # the centre of the second by 0.3 mm to bring it down.
    lean, room = radians(12.0), 0.015
    for k in range(count):
        turn = lean if k == 0 else 0.0
        edge = pitch * k - (room if k == 0 else 0.0) + 0.5 * thick  # the one it falls over
        x = edge + 0.5 * (high * sin(turn) - thick * cos(turn))
        z = 0.5 * (high * cos(turn) + thick * sin(turn))
        rotation = (cos(0.5 * turn), 0.0, sin(0.5 * turn), 0.0)
        shape = Box(thick, wide, high)
        m.add(Body(f"domino {k + 1}", shape, density=_WOOD, position=(x, 0.0, z), rotation=rotation))
    m.ground.add(Plane())
    m.add(Contact("contact", material=Material(friction=0.4)))
    return m


def newtons_cradle(balls: int = 5, *, gap: float = 1e-4) -> Mechanism:
    """Return steel balls that hang side by side and hit each other without loss; joints are `pin 1`, ...

    Let the first go: `model.state({"pin 1": 0.5})`. They hang this far apart [m], so that blows follow each
    other; where balls touch, the law of impact decides how they share a blow.
    """
    m = Mechanism("Newton's cradle")
    radius, length = 0.02, 0.2
    for k in range(1, balls + 1):
        place = ((2.0 * radius + gap) * k, 0.0, -length)
        ball = m.add(Body(f"ball {k}", Sphere(radius), density=_STEEL, position=place))
        m.add(Revolute(f"pin {k}", m.ground, ball, at=(place[0], 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    m.add(Contact("contact", material=Material(friction=0.0, restitution=1.0)))
    return m


def brick_wall(columns: int = 6, rows: int = 6) -> Mechanism:
    """Return a wall of bricks in running bond, and a ball in front of it: shoot it by `flight`.

    `model.state(velocities={"flight": (0, 0, 0, 0, 20, 0)})` lets it fly at 20 m/s along y.
    """
    m = Mechanism("brick wall")
    long, deep, high = 0.24, 0.115, 0.071  # a brick of DIN 105, normal size [m]
    for row in range(rows):
        for column in range(columns):
            place = ((column + 0.5 * (row % 2)) * long, 0.0, (row + 0.5) * high)
            name = f"brick {row + 1}.{column + 1}"
            m.add(Body(name, Box(long, deep, high), density=1800.0, position=place))
    middle = (0.5 * (columns - 0.5) * long, -1.0, 0.6 * rows * high)
    ball = m.add(Body("ball", Sphere(0.05), density=_STEEL, position=middle))
    m.add(Free("flight", m.ground, ball))
    m.ground.add(Plane())
    m.add(Contact("contact", material=Material(friction=0.6)))
    return m
