"""Scenes in the plane x, z: planar mechanisms, or spatial ones in which nothing leaves the plane y = 0.

Angles and spins count from x to z. Bodies are as deep as 0.5 m in space, balls are round.
"""

from math import atan2, cos, sin

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw

G = 9.81
EXACT = {"rtol": 1e-11, "atol": 1e-13, "method": "DOP853"}
STEPS, ACCURACY = {"step": 1 / 60}, {}


class Scene:
    """A mechanism in the making, and what came out of it."""

    def __init__(self, space, gravity=(0.0, -G)):
        self.flat, self.velocities = space == "plane", {}
        self.m = lw.Mechanism("scene", space=space, gravity=self.at(*gravity))

    def at(self, x, z):
        return (x, z) if self.flat else (x, 0.0, z)

    def turned(self, angle):
        return angle if self.flat else Rotation.from_rotvec((0, -angle, 0))

    def inertia(self, mass, k, com=(0.0, 0.0)):
        return lw.Inertia(mass, self.at(*com), k if self.flat else k * np.eye(3))

    def box(self, wide, high, x=0.0, z=0.0):
        sizes = (wide, high, 0.5) if self.flat else (wide, 0.5, high)
        return lw.Box(*sizes, position=self.at(x, z))

    def disc(self, r, x=0.0, z=0.0):
        turned = {} if self.flat else {"rotation": Rotation.from_euler("x", 90, degrees=True)}
        return lw.Cylinder(r, 0.5, position=self.at(x, z), **turned)

    def ball(self, r, x=0.0, z=0.0):
        return lw.Sphere(r, position=self.at(x, z))

    def hull(self, corners):
        if self.flat:
            return lw.Polygon(corners)
        return lw.ConvexHull([(x, y, z) for y in (-0.25, 0.25) for x, z in corners])

    def body(self, name, shape, place=(0.0, 0.0), mass=1.0, *, angle=0.0, k=None, com=(0.0, 0.0), moves=None):
        """Add a body; `moves` are the velocities of its origin along x and z, and its spin."""
        options = {"position": self.at(*place), "rotation": self.turned(angle)}
        if k is None:
            body = lw.Body(name, shape, mass=mass, **options)
        else:
            body = lw.Body(name, self.inertia(mass, k, com), collisions=[shape] if shape else [], **options)
        if moves is not None:
            x, z, w = moves
            own = cos(angle) * x + sin(angle) * z, cos(angle) * z - sin(angle) * x
            self.velocities[f"{name} free"] = (w, *own) if self.flat else (0, -w, 0, own[0], 0, own[1])
        return self.m.add(body)

    def floor(self):
        self.m.ground.add(lw.Plane(normal=self.at(0, 1)))
        return self

    def contact(self, **material):
        self.m.add(lw.Contact("contact", material=lw.Material(**material)))

    def pair(self, a, b, **material):
        a = self.m.ground if a == "ground" else a
        self.m.add(lw.Contact(f"{a} and {b}", (a, b), material=lw.Material(**material)))

    def _ends(self, a, b):
        return (self.m.ground if a == "ground" else self.m[a]), self.m[b]

    def hinge(self, name, a, b, place, **options):
        axis = {} if self.flat else {"axis": (0, -1, 0)}
        return self.m.add(lw.Revolute(name, *self._ends(a, b), at=self.at(*place), **axis, **options))

    def slide(self, name, a, b, way):
        return self.m.add(lw.Prismatic(name, *self._ends(a, b), axis=self.at(*way)))

    def drive(self, joint, law, rate):
        self.m.add(lw.Driver(f"drive of {joint}", joint, law))
        self.velocities[joint] = rate

    def push(self, body, force, place=(0.0, 0.0)):
        self.m.add(lw.Force(f"push of {body}", self.m[body], self.at(*force), at=self.at(*place)))

    def motor(self, joint, torque):
        self.m.add(lw.Motor(f"motor of {joint}", joint, torque))

    def run(self, span, way):
        model = self.m.compile()
        assert set(self.velocities) <= set(model.joint_names)
        start = model.state(velocities=self.velocities)
        self.found = lw.simulate(model, span, start, times=[span], **way)
        return self

    def place(self, body):
        found = self.found[body].position[-1]
        return found if self.flat else found[[0, 2]]

    def velocity(self, body):
        found = self.found[body].velocity[-1]
        return found if self.flat else found[[0, 2]]

    def spin(self, body):
        found = self.found[body].angular_velocity[-1]
        return float(found) if self.flat else -float(found[1])

    def angle(self, body):
        if self.flat:
            return float(self.found[body].angle[-1])
        R = self.found.at(self.found.time[-1])[body].pose.rotation
        return atan2(R[2, 0], R[0, 0])

    def times(self, word):
        return [t for t, what in self.found.report.events if word in what]


def near(way, steps, accuracy=1e-8):
    """Return how near an answer is to be, by steps of 1/60 s and to an accuracy of 1e-8."""
    return {"abs": steps if way else accuracy}
