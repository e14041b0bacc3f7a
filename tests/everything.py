"""Mechanisms that have one of everything a file can hold, in space and in the plane."""

import numpy as np
from mechanisms import Knee
from scipy.interpolate import BPoly, CubicSpline, PchipInterpolator, make_interp_spline

import linkwork as lw
from linkwork.geometry import Collision, MeshFile, Visual


class Wind(lw.Load):
    """A load of one's own, on a body and a joint, with a sharp edge."""

    def __init__(self, name, body, joint, strength):
        super().__init__(name, body, joint)
        self.strength = strength

    def units(self, shown, coordinates):
        return ("N", *("N m" if unit == "rad" else "N" for unit in coordinates))

    def act(self, t, body, joint):
        push = lw.where(body.position[2] > 0, self.strength * lw.sin(t), 0.1)
        speed = body.velocity_at((0, 0, 0.1))
        body.push((push, -0.1 * speed[1], 0), at=(0, 0, 0.1))
        body.twist([0.01 * w for w in body.angular_velocity], frame="body")
        joint.push(-0.2 * joint.velocity - 0.01 * lw.tanh(joint.position))
        return push, joint.position


class Governor(lw.Load):
    """Looks at the whole mechanism."""

    whole = True

    def act(self, t, system, joint):
        system.push("rail", -0.3 * system.v["pin"])
        joint.push(0.1 * system.q["rail"])
        return system.q["pin"]


class Ball(lw.Joint):
    """A ball joint of one's own: quaternion, rates, displacement, subspace."""

    coordinates = 3
    positions = 4
    quaternion = 0
    directed = False

    def motion(self, q):
        return lw.rotation_quaternion(q)

    def rates(self, q, v):
        w, x, y, z = q
        a, b, c = v
        return (
            0.5 * (-x * a - y * b - z * c),
            0.5 * (w * a + y * c - z * b),
            0.5 * (w * b + z * a - x * c),
            0.5 * (w * c + x * b - y * a),
        )

    def subspace(self, q):
        return lw.spatial.units()[:3]

    def displacement(self, q):
        return 2 * q[1], 2 * q[2], 2 * q[3]

    def neutral(self):
        return [1.0, 0.0, 0.0, 0.0]


def space() -> lw.Mechanism:
    """Return a mechanism in space with every kind of joint, load, shape and option."""
    m = lw.Mechanism("everything – 'alles'", gravity=(0.1, 0, -9.81))
    above = m.ground

    def body(name: str, *parts, **options) -> lw.Body:
        nonlocal above
        made = m.add(lw.Body(name, *(parts or (lw.Sphere(0.1),)), **({"mass": 2.0} | options)))
        above = made
        return made

    cart = body(
        "cart", lw.Box(0.4, 0.2, 0.1), lw.Cone(0.1, 0.2, position=(0, 0, 0.1)), density=800, mass=None
    )
    m.add(lw.Prismatic("rail", m.ground, cart, axis=(1, 0, 0), limits=(-1, None), friction=0.3))
    pole = body(
        "pole",
        lw.Cylinder(0.02, 1.0),
        position=(0, 0, 0.5),
        rotation=(np.cos(0.2), np.sin(0.2), 0, 0),
        visuals=[
            Visual(shape=lw.Capsule(0.02, 0.9), name="skin", colour=(1, 0.5, 0, 1)),
            Visual(shape=MeshFile(filename="pole.stl", scale=(1, -1, 1), rotation=(0, 1, 0, 0))),
        ],
        collisions=[Collision(shape=lw.Ellipsoid(0.1, 0.2, 0.3, position=(0, 0, 0.1)), name="hull")],
    )
    m.add(
        lw.Revolute("pin", cart, pole, at=(0, 0, 0.05), axis=(0, 1, 0), damping=0.01, friction=0.1,
                    friction_speed=0.01, stiffness=3, rest=0.2, armature=0.05, limits=(-2, 2),
                    stop=lw.Stop(stiffness=1e3))
    )  # fmt: skip
    m["pin"].effort, m["pin"].speed = 30.0, 4.0
    m.add(
        lw.Helical("screw", pole, body("nut", lw.Capsule(0.1, 0.1)), axis=(0, 1, 1), pitch=0.02, at=(0, 0, 1))
    )
    m.add(lw.Cylindrical("sleeve", above, body("ring"), axis=(1, 1, 0), at=(0, 0.1, 1), damping=(0.1, 2)))
    m.add(
        lw.Universal("cardan", m["ring"], body("cross", lw.Ellipsoid(0.1, 0.2, 0.1)), axis=(1, 0, 0),
                     axis2=(0, 0, 2), at=(0, 0.2, 1), limits=[(-1, 1), (None, 0.5)])
    )  # fmt: skip
    frame = lw.Frame(position=(0, 0.3, 0.1), rotation=lw.rotation_z(0.3).rotation.tolist())
    m.add(lw.Spherical("ball", m["cross"], body("bob"), on_parent=frame, on_child=(0, 0, 0.3), stiffness=1))
    inertia = lw.Inertia(1.5, (0.1, 0, 0), np.diag([0.2, 0.3, 0.4]))
    m.add(lw.Planar("plate", m["bob"], body("tile", inertia, mass=None), axis=(0, 0, 1)))
    m.add(lw.Fixed("weld", m["tile"], body("stud")))
    m.add(lw.Free("float", m.ground, body("kite", position=(0, 0, 3))))
    knee = Knee("knee", m["stud"], body("shin"), at=(0, 0, 0.5), axis=(1, 0, 0), limits=(-1, 1))
    knee.stop = lw.ExponentialStop(damping=0.1, sharpness=30)
    m.add(knee)
    m.add(Ball("own ball", m["shin"], body("foot"), stiffness=2.0))
    overruled = body("overruled")
    m.add(lw.Revolute("last", m["foot"], overruled))
    overruled.inertia = lw.Inertia(3.0, (0, 0, 0.1), 0.2 * np.eye(3))

    m.add(lw.Coupling("gear", "last", "pin", -2, 0.1))
    m.add(lw.Force("drag", pole, lambda body, t: -0.3 * body.velocity, at=(0, 0, 0.5)))
    m.add(lw.Force("weight", pole, (0, 0, -1), frame="body"))
    m.add(lw.Torque("twist", pole, lambda body, t: (0, lw.sin(3 * t), -0.1 * body.angular_velocity[2])))
    m.add(lw.Wrench("both", m["bob"], lambda body, t: [0, 0, t, *body.to_local((0, 0, 1))]))
    m.add(
        lw.Spring("spring", m.ground, m["kite"], on_parent=(0, 0, 5), stiffness=lambda x: 50 * x + 4 * x**3,
                  damping=lambda rate: lw.where(rate > 0, 2 * rate, rate))
    )  # fmt: skip
    m.add(lw.Spring("plain spring", m["bob"], m["kite"], stiffness=3, damping=0.1, rest=0.5))
    m.add(
        lw.Bushing(
            "bushing", m["cross"], m["tile"], at=(0, 0.4, 1), stiffness=(10, 20, 30), torsion_damping=1
        )
    )
    m.add(
        lw.TorsionSpring("torsion", "pin", stiffness=2, rest=0.1, damping=lambda rate: 0.1 * rate * abs(rate))
    )
    m.add(lw.TorsionSpring("between", m["foot"], overruled, stiffness=lambda angle: lw.sin(angle)))
    m.add(lw.Motor("motor", "rail", lambda t, q, v: 5 * lw.sin(3 * t) - 2 * v))
    m.add(lw.Motor("two", m["sleeve"], lambda t, q, v: -0.1 * v - np.array([0.2, 0.3]) * q))
    m.add(lw.Motor("push", "last", 0.25))
    m.add(
        lw.Feedback(
            "balance", ["rail", "sleeve"], lambda t, q, v: [4 * q["pin"] - v[0], q["ball"][1], v["pin"]]
        )
    )
    m.add(Wind("wind", pole, m["pin"], 2.5))
    m.add(Governor("governor", m["last"]))
    return m


class PinInSlot(lw.Constraint):
    """A constraint of one's own between two bodies."""

    def phi(self, a, b):
        return [b.to_local(a.to_world(self.pin))[1]]


class Sling(lw.Constraint):
    """One on a joint and a body, with an unknown of its own and a place to begin."""

    unknowns = 1

    def guess(self, joint, body):
        return [0.5 * joint.position]

    def phi(self, joint, body, s):
        x, *_, y = body.position
        return [joint.position - lw.sin(s) + 0.1 * y, x - self.radius * lw.cos(s) * body.rotation[0][1]]


class Egg(lw.Cam):
    """A cam whose outline the class knows: still a Cam."""

    def __init__(self, name, cam, follower, size):
        super().__init__(
            name, cam, follower, lambda s: (size * lw.cos(s), 0.7 * size * lw.sin(s)), radius=0.01
        )


class Rubber:
    """A stop of one's own."""

    absent = (0.0, 1.0)

    def __init__(self, hardness):
        self.hardness = hardness

    def numbers(self, inertia):
        return self.hardness * inertia, 0.1 + inertia**0.5

    def mistakes(self):
        return []

    @staticmethod
    def force(x, rate, lower, upper, numbers):
        k, c = numbers
        over = lw.max(x - upper, 0.0) - lw.max(lower - x, 0.0)
        return -k * over * abs(over) - c * lw.where(over * rate > 0, rate, 0.0)


def held(kind: str) -> lw.Mechanism:
    """Return a mechanism with every constraint, and every way to drive; nobody asks whether it can move."""
    m = lw.Mechanism(f"held in the {kind}", space=kind)
    size = 2 if kind == "plane" else 3

    def at(*numbers):
        return (*numbers, 0.0, 0.0)[:size]

    wheels = [
        m.add(lw.Body(f"wheel {k}", lw.Sphere(0.1), mass=1, position=at(0.3 * k, 0.1))) for k in range(6)
    ]
    pins = [m.add(lw.Revolute(f"pin {k}", m.ground, wheel)) for k, wheel in enumerate(wheels)]
    a, b, c, d, *_ = wheels
    rack = m.add(lw.Body("rack", lw.Sphere(0.1), mass=1, position=at(1, 2)))
    rail = m.add(lw.Prismatic("rail", m.ground, rack, axis=at(1), limits=(-1, 1), stop=Rubber(30)))
    m.add(lw.Distance("as drawn", a, b, on_child=at(0.01, 0.1)))
    m.add(lw.Distance("rod", a, c, 0.25, on_parent=at(0, 0.1)))
    m.add(lw.Gear("gear", "pin 0", pins[1], 2.5))
    m.add(lw.Gear("teeth", pins[1], "pin 2", teeth=(18, 35), kind="internal"))
    m.add(lw.RackPinion("rack and pinion", pins[0], "rail", -0.1))
    m.add(lw.Pulley("pulley", a, d, over=[at(0, 3), at(1, 3)], ratio=2, on_parent=at(0.1)))
    m.add(lw.Pulley("long pulley", a, d, over=np.array([at(0, 3), at(1, 3)]), length=7))
    m.add(lw.PointOnLine("line", a, rack, axis=at(1, 2), on_child=at(0.1, 0.2)))
    m.add(lw.PointOnLine("along x", m.ground, rack))
    m.add(lw.PointOnPlane("plane", m.ground, rack, normal=at(0.3, 1), on_parent=at(0.1)))
    m.add(lw.PointOnCurve("curve", a, b, lambda s: at(s, 0.2 * s**2 + lw.sin(s)), interval=(-1, 2)))
    m.add(lw.Cam("cam", c, rack, lambda s: (0.1 * lw.cos(s), 0.2 * lw.sin(s)), on_child=at(0.1)))
    m.add(lw.Cam("flat", c, rack, lambda s: ((0.1 + 0.01 * lw.cos(s)) * lw.cos(s), 0.1 * lw.sin(s)),
                 face=at(0, -1), interval=(0, 6)))  # fmt: skip
    m.add(Egg("egg", d, rack, 0.2))
    m.add(lw.Absolute("there", d, x=0.3, y=-0.25))
    m.add(lw.Absolute("stays", d))
    pose = (0.1, 0.2, 0.3) if kind == "plane" else (0.1, 0.2, 0.3, 0.6, 0, 0.8, 0)
    m.add(lw.Absolute("posed", d, pose=pose))
    m.add(lw.Coupling("coupling", "pin 3", "pin 4", 3, 0.1))
    m.add(PinInSlot("slot", a, b, pin=at(0.1, 0)))
    m.add(Sling("sling", rail, b, radius=0.3))
    times = np.linspace(0, 2, 7)
    m.add(lw.Driver("motor", "pin 0", lambda t: 2 * np.pi * t + 0.1 * lw.sin(t)))
    m.add(lw.Driver("still", pins[1], 0.25))
    m.add(lw.Driver("place", (rack, "x"), lambda t: lw.where(t > 1, 1.0, t)))
    m.add(lw.Driver("cubic", (rack, "y"), CubicSpline(times, np.sin(times))))
    m.add(lw.Driver("clamped", pins[2], PchipInterpolator(times, times**2, extrapolate=False)))
    m.add(lw.Driver("b-spline", pins[3], make_interp_spline(times, np.cos(times), k=5)))
    m.add(lw.Driver("round", "pin 4", CubicSpline([0, 1, 2], [0, 1, 0], bc_type="periodic")))
    m.add(lw.Driver("bernstein", "pin 5", BPoly([[0.0, 1.0], [2.0, 3.0], [1.0, 0.5]], [0, 1, 2])))
    if kind == "plane":
        m.add(lw.Driver("angle", (a, "angle"), lambda t: t))
    else:
        fork = m.add(lw.Body("fork", lw.Sphere(0.1), mass=1))
        cardan = m.add(lw.Universal("cardan", m.ground, fork, axis=(1, 0, 0), axis2=(0, 1, 0)))
        m.add(lw.Driver("second", (cardan, 1), 0.5))
    return m


def plane() -> lw.Mechanism:
    """Return a mechanism in the plane, with kinds mixed in the order."""
    m = lw.Mechanism("flat", space="plane", gravity=(0, -1.6))
    crank = m.add(lw.Body("crank", lw.Box(0.3, 0.02, 0.02), density=2700, position=(0.1, 0), rotation=0.4))
    m.add(lw.Revolute("pin", m.ground, crank, at=(0, 0), damping=0.1))
    slider = m.add(lw.Body("slider", lw.Inertia(1.0, (0, 0), 0.1), position=(0.2, 0.1)))
    m.add(lw.Prismatic("slot", crank, slider, axis=(1, 2), on_parent=lw.planar.Frame((0.1, 0.1), 0.3)))
    drag = m.add(lw.Force("drag", slider, lambda body, t: (-body.velocity[0] * body.angle, 0.1)))
    tip = m.add(lw.Body("tip", lw.Sphere(0.05), mass=1, position=(0.3, 0.2, 0)))
    m.add(lw.Free("fly", m.ground, tip))
    m.add(lw.Torque("turn", tip, lambda body, t: -0.2 * body.angular_velocity))
    m.add(lw.Spring("spring", slider, tip, on_child=(0.01, 0, 0), stiffness=20))
    m.add(lw.Bushing("bushing", crank, tip, stiffness=1, torsion_stiffness=0.1))
    assert drag.name == "drag"
    return m
