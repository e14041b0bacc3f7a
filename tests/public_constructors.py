"""How each public constructor and function is called rightly, to be called wrongly in one argument."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import linkwork

lw: Any = linkwork  # types are wrong here on purpose

SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]
TETRAHEDRON = {
    "vertices": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
    "faces": [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)],
}


@dataclass(frozen=True)
class Made:
    """What a constructor gave, and what finds out what is wrong with it at the latest."""

    thing: Any
    use: Callable[[], Any] = lambda: None


Call = Callable[..., Made]


def arm() -> Any:
    """Two links on hinges, in the world, and a third body that floats; one hinge has limits."""
    m = lw.Mechanism("arm")
    box = lw.Box(0.2, 0.1, 0.1)
    upper, lower, free = (
        m.add(lw.Body(name, box, density=1000, position=(0, 0, -k))) for name, k in zip("abc", (1, 2, 3))
    )
    m.add(lw.Revolute("p", m.ground, upper, at=(0, 0, 0), axis=(0, 1, 0)))
    m.add(lw.Revolute("r", upper, lower, at=(0, 0, -1), axis=(0, 1, 0)))
    m.add(lw.Free("f", m.ground, free))
    m.ground.add(lw.Plane(offset=-9.0))
    m.add(lw.Motor("drive", "r", lw.Input("u")))
    return m


def function(name: str, /, **right: Any) -> Call:
    """A call of a function, or of a constructor that checks all it is given."""
    return lambda **wrong: Made(getattr(lw, name)(**{**right, **wrong}))


def of_arm(name: str, /, **right: Any) -> Call:
    """An element that is added to an arm; arguments in angle brackets are what it has under this name."""

    def call(**wrong: Any) -> Made:
        m = arm()
        given = {word: m[x[1:-1]] if isinstance(x, str) and x[:1] == "<" else x for word, x in right.items()}
        thing = m.add(getattr(lw, name)(**{**given, **wrong}))
        return Made(thing, m.compile)

    return call


def joint(name: str, /, **right: Any) -> Call:
    """A joint of one more body, on the end of the arm."""

    def call(**wrong: Any) -> Made:
        m = arm()
        child = m.add(lw.Body("d", lw.Box(0.2, 0.1, 0.1), density=1000, position=(0, 0, -3)))
        given = {"name": "j", "parent": m["b"], "child": child, "at": (0, 0, -2), **right}
        return Made(m.add(getattr(lw, name)(**{**given, **wrong})), m.compile)

    return call


def stop(name: str, /, **right: Any) -> Call:
    """A stop of a hinge with limits."""

    def call(**wrong: Any) -> Made:
        m = arm()
        made = getattr(lw, name)(**{**right, **wrong})
        m["p"].limits, m["p"].stop = (-1, 1), made
        return Made(made, m.compile)

    return call


def body(**wrong: Any) -> Made:
    m = arm()
    thing = m.add(lw.Body(**{"name": "x", **wrong}))
    thing.inertia = lw.Inertia(1.0, (0, 0, 0), np.eye(3))
    m.add(lw.Free("g", m.ground, thing))
    return Made(thing, m.compile)


def inertia(**wrong: Any) -> Made:
    m, made = arm(), lw.Inertia(**{"mass": 1.0, "com": (0, 0, 0), "tensor": np.eye(3), **wrong})
    m.add(lw.Free("g", m.ground, m.add(lw.Body("x", made))))
    return Made(made, m.compile)


def in_scene(name: str, /, **right: Any) -> Call:
    """A behaviour of a scene in which an arm hangs; functions are given the arm."""

    def call(**wrong: Any) -> Made:
        m, scene = arm(), lw.Scene()
        m["p"].limits = (-1, 1)
        actor = scene.add(m, name="arm")
        named = {**{f"<{name}>": actor[name] for name in "apb"}, "<>": actor}
        given = {word: named[x] if isinstance(x, str) else x for word, x in right.items()}
        return Made(scene.add(getattr(lw, name)(**{**given, **wrong})), lambda: scene.step(1 / 60, 2))

    return call


def event(**wrong: Any) -> Made:
    made = lw.Event(**{"name": "e", "quantity": lambda t, q, v: q[0] - 3.0, **wrong})
    return Made(made, lambda: lw.simulate(MODEL, 0.01, events=[made]))


def restoring(**wrong: Any) -> Made:
    m, made = arm(), lw.Restoring(**wrong)
    m.add(lw.Distance("d", m.ground, m["b"]))
    return Made(made, lambda: lw.simulate(m, 0.01, loops=made))


def state(**wrong: Any) -> Made:
    made = lw.State(**{"q": MODEL.state().q, "v": MODEL.state().v, **wrong})
    return Made(made, lambda: lw.simulate(MODEL, 0.01, made))


def particle(**wrong: Any) -> Made:
    made = lw.Particle(**{"name": "x", "mass": 1.0, **wrong})
    return Made(made, lambda: lw.integrate([made], 0.01))


def rigid_body(**wrong: Any) -> Made:
    name = wrong.pop("name", "x")
    made = lw.RigidBody(name, lw.Inertia(1.0, (0, 0, 0), np.eye(3)), **wrong)
    return Made(made, lambda: lw.integrate([made], 0.01))


def sampled(**wrong: Any) -> Made:
    return of_arm("Sampled", name="x", inputs="u", every=0.1, law=lambda t, q, v: 0.0)(**wrong)


def four_bar() -> Any:
    m = lw.examples.four_bar()
    m.add(lw.Driver("crank angle", "A", lambda t: 2.0 * t))
    return m


def of_motion(**wrong: Any) -> Made:
    return Made(lw.kinematics(**{"mechanism": four_bar(), "times": [0.0, 0.1], **wrong}))


def nothing(*_: Any) -> None:
    """Do nothing, when something happens."""


ROBOT = Path(lw.examples.__file__).with_name("humanoid.urdf")
MODEL = arm().compile()
RUN = lw.simulate(MODEL, 0.05)
BALL = lw.Sphere(1.0)
MOTION = lw.kinematics(four_bar(), [0.0, 0.1])
BETWEEN: Mapping[str, Any] = {"name": "x", "parent": "<a>", "child": "<b>"}
CALLS: dict[str, Call] = {
    **{name: joint(name) for name in ["Revolute", "Prismatic", "Cylindrical", "Universal", "Spherical"]},
    **{name: joint(name) for name in ["Planar", "Free", "Fixed"]},
    "Helical": joint("Helical", pitch=0.1),
    **{name: of_arm(name, **BETWEEN) for name in ("Distance", "PointOnLine", "PointOnPlane")},
    "PointOnCurve": of_arm("PointOnCurve", **BETWEEN, curve=lambda s: (s, 0, 0)),
    "Pulley": of_arm("Pulley", **BETWEEN, over=[(0, 0, 1), (1, 0, 1)]),
    "Gear": of_arm("Gear", name="x", first="<p>", second="<r>", ratio=2.0),
    "Coupling": of_arm("Coupling", name="x", joint="<p>", of="<r>"),
    "Absolute": of_arm("Absolute", name="x", body="<a>", x=0.0),
    "Spring": of_arm("Spring", name="x", a="<a>", b="<b>", stiffness=10.0, on_child=(0.1, 0, 0)),
    "Bushing": of_arm("Bushing", name="x", a="<a>", b="<b>", stiffness=10.0),
    "TorsionSpring": of_arm("TorsionSpring", name="x", a="<p>", stiffness=1.0),
    "Motor": of_arm("Motor", name="x", joint="<p>"),
    "Force": of_arm("Force", name="x", body="<a>", law=(0, 0, 1)),
    "Torque": of_arm("Torque", name="x", body="<a>", law=(0, 0, 1)),
    "Wrench": of_arm("Wrench", name="x", body="<a>", law=(0, 0, 1, 0, 0, 1)),
    "Feedback": of_arm("Feedback", name="x", joints="<p>", law=lambda t, q, v: -q[0]),
    "Driver": of_arm("Driver", name="x", what="p"),
    "Contact": of_arm("Contact", name="x"),
    "Sampled": sampled,
    "Body": body,
    "Inertia": inertia,
    "Box": function("Box", x=1, y=2, z=3),
    "Ellipsoid": function("Ellipsoid", x=1, y=2, z=3),
    "Sphere": function("Sphere", radius=1),
    **{name: function(name, radius=1, length=2) for name in ("Cylinder", "Capsule", "Cone")},
    "Plane": function("Plane"),
    "HeightField": function("HeightField", heights=np.zeros((3, 3)), size=(1, 1)),
    "Polygon": function("Polygon", points=SQUARE),
    "Mesh": function("Mesh", **TETRAHEDRON),
    "ConvexHull": function("ConvexHull", points=TETRAHEDRON["vertices"]),
    "Extrusion": function("Extrusion", polygon=SQUARE, length=1.0),
    "Revolution": function("Revolution", polygon=SQUARE),
    "Compound": function("Compound", parts=(BALL,)),
    "Material": function("Material"),
    "Input": function("Input", name="u"),
    "Stop": stop("Stop", stiffness=10.0, damping=1.0),
    "ExponentialStop": stop("ExponentialStop", force_at_limit=1.0, sharpness=1.0),
    "RigidStop": stop("RigidStop"),
    "Restoring": restoring,
    "Event": event,
    "Frame": function("Frame"),
    "Mechanism": function("Mechanism"),
    "Particle": particle,
    "RigidBody": rigid_body,
    "State": state,
    "Scene": function("Scene"),
    "Simulation": function("Simulation", model=MODEL),
    "Positions": function("Positions", mechanism=four_bar()),
    "Listener": function("Listener"),
    "Colliders": function("Colliders"),
    "Forest": function("Forest", members={"a": arm()}),
    "CapturedMotion": in_scene("CapturedMotion", actor="<>", recording=lw.simulate(arm(), 0.05)),
    "BreakWhen": in_scene("BreakWhen", joint="<p>", force=1e6),
    "OnContact": in_scene("OnContact", body="<a>", action=nothing),
    "OnDistance": in_scene("OnDistance", a="<a>", b="<b>", distance=1.0, action=nothing),
    "OnLimit": in_scene("OnLimit", joint="<p>", action=nothing),
    "OnTime": in_scene("OnTime", time=1.0, action=nothing),
    **{name: in_scene(name, body="<a>") for name in ("ContactSensor", "HeightSensor")},
    **{name: in_scene(name, body="<a>") for name in ("InertialSensor", "RaySensor")},
    "Culling": in_scene("Culling", viewer=(0, 0, 0), levels=((5.0, "full"),)),
    "simulate": function("simulate", model=MODEL, duration=0.01),
    "kinematics": of_motion,
    "assembly_modes": function("assembly_modes", mechanism=four_bar(), starts=3),
    "sensitivity": function("sensitivity", motion=MOTION, parameter=("B", "on_parent", 0)),
    "integrate": function("integrate", bodies=[lw.Particle("x", 1.0)], duration=0.01),
    **{name: function(name, a=BALL, b=BALL) for name in ("collide", "distance", "closest_points", "overlap")},
    "contains": function("contains", shape=BALL, points=[(0, 0, 0)]),
    "ray_cast": function("ray_cast", shapes=BALL, origin=(0, 0, 5), direction=(0, 0, -1)),
    "ground_plane": function("ground_plane"),
    "rotation": function("rotation", angle=1.0),
    "rotation_about": function("rotation_about", axis=(0, 0, 1), angle=1.0),
    "rotation_euler": function("rotation_euler", sequence="xyz", angles=(0, 0, 0)),
    "rotation_quaternion": function("rotation_quaternion", q=(1, 0, 0, 0)),
    **{f"rotation_{axis}": function(f"rotation_{axis}", angle=1.0) for axis in "xyz"},
    "cross_matrix": function("cross_matrix", v=(0, 0, 1)),
    "degrees": function("degrees", angle=1.0),
    "interp": function("interp", x=0.5, xs=[0, 1], ys=[0, 1]),
    "Checkpoint": function("Checkpoint", file="night.lwc"),
    "merge": function("merge", members={"a": arm(), "b": arm()}),
    "carry": function("carry", model=MODEL, state=MODEL.state(), mechanism=arm()),
    "sound": function("sound", run=RUN),
    "plot": function("plot", runs=RUN),
    "image_outline": function("image_outline", image=np.eye(9)),
    "load": function("load", path=ROBOT),
}
