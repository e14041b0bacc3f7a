"""Wrong values of shapes, bodies and joints."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from refusals import (
    BALL,
    DATE,
    HINGE,
    INF,
    NAN,
    NO_NUMBERS,
    NO_POINTS,
    NO_SIZES,
    PLACED,
    POINTS,
    Entry,
    all_right,
    changed,
    each,
    hung,
    pair,
    refused,
    right,
    warned,
)

import linkwork

lw: Any = linkwork  # types are wrong here on purpose

TRIANGLE = [(0, 0), (1, 0), (0, 1)]


def shapes() -> Iterable[Entry]:
    for kind, *words in (
        (lw.Sphere, "radius"),
        (lw.Box, "x", "y", "z"),
        (lw.Cylinder, "radius", "length"),
        (lw.Capsule, "radius", "length"),
        (lw.Cone, "radius", "length"),
        (lw.Ellipsoid, "x", "y", "z"),
    ):
        sizes, name = dict.fromkeys(words, 1.0), kind.__name__
        for word in words[:1]:
            yield from each(name, word, NO_SIZES, lambda x, k=kind, s=sizes, w=word: k(**{**s, w: x}))
        yield refused(name, "densty=", lambda k=kind, s=sizes: k(**s, densty=1.0), "densty", "'density'")
        yield refused(name, "assigned", lambda k=kind, s=sizes: changed(k(**s), "density", 1.0), "density")
    for kind, word in ((lw.Sphere, "density"), (lw.Box, "mass")):
        size = {"radius": 1.0} if kind is lw.Sphere else {"x": 1.0, "y": 1.0, "z": 1.0}
        values = [x for x in NO_NUMBERS if x is not None] + [-1.0]
        yield from each(kind.__name__, word, values, lambda x, k=kind, s=size, w=word: k(**s, **{w: x}))
    yield from each("Sphere", "position", NO_POINTS, lambda x: lw.Sphere(1.0, position=x))
    yield from all_right(
        "Sphere", "position", POINTS, lambda x: lw.Sphere(1.0, position=x).position, (1, 2, 3).__eq__
    )
    yield refused("Sphere", "mesh", lambda: BALL.mesh(2), "resolution", "2")
    yield refused("Sphere", "both", lambda: lw.Sphere(1.0, density=1.0, mass=1.0), "density", "mass")
    yield from each("Plane", "normal", [x for x in NO_POINTS if x is not NO_POINTS[8]], lw.Plane)
    yield refused("Plane", "no normal", lambda: lw.Plane((0, 0, 0)), "normal", "0")
    yield from each("Plane", "offset", NO_NUMBERS, lambda x: lw.Plane((0, 0, 1), x))
    yield from each("Extrusion", "length", NO_SIZES, lambda x: lw.Extrusion(TRIANGLE, x))
    turned = [(1, 0), (2, 0), (1, 1)]
    yield from each("Revolution", "angle", [*NO_SIZES, 7.0], lambda x: lw.Revolution(turned, x))
    for kind in (lw.Polygon, lw.ConvexHull):
        for points in ("abc", 1.0, [], [(0, 0)], [(0, 0), (1,)], [("0", "0")] * 3, [(0, NAN)] * 3, None):
            yield refused(kind.__name__, f"{points!r}", lambda k=kind, p=points: k(p), kind.__name__)
    yield refused("Mesh", "texts", lambda: lw.Mesh([("0", "0", "0")] * 4, [(0, 1, 2)]), "vertices", "texts")
    sheet = lw.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    yield refused("Mesh", "open", lambda: lw.Body("b", sheet, density=1.0), "mesh", "open")
    yield refused("Mesh", "far", lambda: lw.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 9)]), "9")
    yield refused("HeightField", "texts", lambda: lw.HeightField([["0", "1"]] * 2, (1, 1)), "heights")
    yield from each(
        "HeightField",
        "size",
        (1.0, (1, NAN), ("1", "1"), (0, 1)),
        lambda x: lw.HeightField(np.zeros((3, 3)), x),
    )
    yield from each("Compound", "parts", (1.0, None, [1.0], [], [lw.Plane()]), lw.Compound, "Compound")
    yield refused("Solid", "abstract", lambda: lw.Solid(), "abstract")


def bodies() -> Iterable[Entry]:
    some = [x for x in NO_NUMBERS if x is not None] + [-1.0]
    for word in ("density", "mass"):
        yield from each("Body", word, some, lambda x, w=word: lw.Body("b", BALL, **{w: x}), word, "body 'b'")
    yield from each("Body", "position", NO_POINTS, lambda x: lw.Body("b", position=x), "body 'b': position")
    yield from all_right(
        "Body", "position", POINTS, lambda x: lw.Body("b", position=x).position, lambda p: p == (1, 2, 3)
    )
    yield from each(
        "Body",
        "rotation",
        ("x", (1, 1, 0, 0), np.eye(3) * 2, np.diag([1, 1, -1]), (1, 2, 3), NAN, True),
        lambda x: lw.Body("b", rotation=x),
        "rotation",
    )
    yield warned("Body", "degrees", lambda: lw.Body("b", rotation=90), "rotation 90", "lw.degrees")
    yield from each("Body", "name", (1, None, BALL), lw.Body, "Body", "name")
    yield from each(
        "Body",
        "part",
        (1.0, "ball", None, lw.Sphere, [BALL, BALL]),
        lambda x: lw.Body("b", x, mass=1),
        "body 'b'",
    )
    yield from each("Body", "visuals", (BALL, 1.0, None, ["red"], [1.0]), lambda x: lw.Body("b", visuals=x))
    yield from each("Body", "collisions", (BALL, ["red"]), lambda x: lw.Body("b", collisions=x))
    yield right("Body", "visuals", lambda: lw.Body("b", visuals=[BALL]).visuals, lambda v: v == (BALL,))
    yield refused("Body", "densty=", lambda: lw.Body("b", BALL, densty=1.0), "densty", "'density'")
    yield refused("Body", "no density", lambda: lw.Body("b", BALL), "density")
    for word, value in (
        ("parts", ()),
        ("name", "c"),
        ("space", "plane"),
        ("dnsity", 1.0),
        ("mistakes", 1),
        ("inertia", 5.0),
    ):
        yield refused(
            "Body", f"{word} = ", lambda w=word, v=value: changed(lw.Body("b", BALL, mass=1.0), w, v), word
        )
    yield right(
        "Body",
        "mass = 5",
        lambda: changed(lw.Body("b", BALL, density=1.0), "mass", 5.0).inertia.mass,
        lambda x: x == 5,
    )
    yield right("Body", "mass", lambda: lw.Body("b", BALL, mass=5.0).mass, lambda x: x == 5.0)
    yield right(
        "Body",
        "density = 2",
        lambda: changed(lw.Body("b", BALL, mass=5.0), "density", 2.0).mass,
        lambda x: abs(x - 2 * BALL.volume) < 1e-12,
    )
    thing = lw.Inertia(1.0, (0, 0, 0), np.eye(3))
    yield refused(
        "Body",
        "mass of an Inertia",
        lambda: changed(lw.Body("b", thing), "mass", 5.0),
        "mass",
        "5.0",
        "Inertia",
    )
    yield refused(
        "Body", "mass of nothing", lambda: changed(lw.Body("b"), "mass", 5.0), "mass", "5.0", "Inertia"
    )
    yield refused("Body", "com", lambda: lw.Body("b").com, "com", "inertia.com")
    for word, k in (("mass", 0), ("com", 1), ("tensor", 2)):
        given = [1.0, (0, 0, 0), np.eye(3)]
        for value in ("1", None, 1j, [("1", "2", "3")] * 3, DATE):
            numbers = [value if n == k else x for n, x in enumerate(given)]
            yield refused(
                "Inertia", f"{word}={value!r:.20}", lambda g=numbers: lw.Inertia(*g), "inertia", word
            )
    yield refused("Inertia", "shape", lambda: lw.Inertia(1.0, (0, 0), np.eye(3)), "inertia", "(2,)", "(3, 3)")
    yield refused("Inertia", "assigned", lambda: changed(thing, "mass", 2.0), "mass")
    for mass, com, tensor, word in (
        (-1.0, 0.0, 1.0, "mass -1"),
        (NAN, 0.0, 1.0, "mass nan"),
        (1.0, NAN, 1.0, "nan"),
        (1.0, 0.0, -1.0, "moments"),
    ):
        numbers = mass, (com, 0, 0), tensor * np.eye(3)
        what = f"{mass}, {com}, {tensor}"
        yield refused("Inertia", what, lambda g=numbers: hung_inertia(lw.Inertia(*g)), "box", word)
    yield from each("Input", "value", NO_NUMBERS, lambda x: lw.Input("u", x), "input 'u'")
    yield from each("Input", "name", (1, None), lw.Input, "Input")


def hung_inertia(inertia: Any) -> Any:
    m = lw.Mechanism()
    m.add(lw.Free("free", m.ground, m.add(lw.Body("box", inertia))))
    return m.compile()


def joints() -> Iterable[Entry]:
    for word, value, other in (
        ("rest", 0.3, "stiffness="),
        ("rest", [0.3], "stiffness="),
        ("stop", "rigid", "limits="),
        ("stop", lw.Stop(1e3), "limits="),
        ("friction_speed", 0.1, "friction="),
        ("friction_speed", 0.0, "friction="),
    ):
        alone = {word: value}
        yield warned(
            "Revolute", f"{alone} alone", lambda o=alone: hung(lw.Revolute, **HINGE, **o), word, other
        )
    for together in (
        {"rest": 0.3, "stiffness": 2.0},
        {"rest": 0.3, "stiffness": lw.Input("k", 1.0)},
        {"stop": "rigid", "limits": (0, None)},
        {"stop": "rigid", "limits": (0, 0)},
        {"friction_speed": 0.1, "friction": 0.2},
    ):
        yield right("Revolute", f"{together}", lambda o=together: hung(lw.Revolute, **HINGE, **o))
    numbers = [x for x in NO_NUMBERS if not isinstance(x, list)]
    for word in ("damping", "friction", "stiffness", "armature"):
        yield from each(
            "Revolute",
            word,
            [*numbers, -1.0],
            lambda x, w=word: hung(lw.Revolute, **HINGE, **{w: x}),
            "joint 'joint'",
            word,
        )
        yield from each(
            "Fixed", word, (1.0,), lambda x, w=word: hung(lw.Fixed, **PLACED, **{w: x}), word, "1.0"
        )
    yield from each(
        "Revolute", "rest", numbers, lambda x: hung(lw.Revolute, **HINGE, stiffness=1.0, rest=x), "rest"
    )
    for limits in (
        1.0,
        (1, 2, 3),
        (1, -1),
        ("-1", "1"),
        (NAN, 1),
        (True, False),
        (INF, INF),
        {"lower": 0},
        "both",
    ):
        yield refused(
            "Revolute", f"limits={limits}", lambda x=limits: hung(lw.Revolute, **HINGE, limits=x), "limits"
        )
    yield warned(
        "Revolute",
        "limits in degrees",
        lambda: hung(lw.Revolute, **HINGE, limits=(-90, 90)),
        "limits (-90, 90)",
        "degrees",
    )
    yield right(
        "Revolute",
        "limits=(None, 1)",
        lambda: hung(lw.Revolute, **HINGE, limits=(None, 1)).limits,
        lambda x: x == [-INF, 1],
    )
    yield right("Prismatic", "limits of 90 m", lambda: hung(lw.Prismatic, axis=(0, 0, 1), limits=(-90, 90)))
    yield warned(
        "Revolute",
        "rest in degrees",
        lambda: hung(lw.Revolute, **HINGE, stiffness=1.0, rest=45),
        "rest 45",
        "degrees",
    )
    for word in ("at", "axis", "on_parent", "on_child"):
        more = {} if word == "axis" else {"axis": (0, 1, 0)}
        yield from each(
            "Revolute", word, NO_POINTS, lambda x, w=word, m=more: hung(lw.Revolute, **m, **{w: x}), word
        )
    yield from all_right("Revolute", "at", POINTS, lambda x: hung(lw.Revolute, at=x, axis=(0, 1, 0)), None)
    yield refused(
        "Revolute", "axis=0", lambda: hung(lw.Revolute, at=(0, 0, 0), axis=(0, 0, 0)), "axis (0, 0, 0)"
    )
    yield refused(
        "Revolute", "at and on_parent", lambda: hung(lw.Revolute, at=(0, 0, 0), on_parent=(0, 0, 0)), "at="
    )
    yield refused(
        "Revolute", "dampin=", lambda: hung(lw.Revolute, **HINGE, dampin=1.0), "dampin", "'damping'"
    )
    yield refused(
        "Revolute", "dmping = ", lambda: changed(pair().joints["pin a"], "dmping", 3.0), "dmping", "'damping'"
    )
    yield refused(
        "Revolute", "coordinates = ", lambda: changed(pair().joints["pin a"], "coordinates", 3), "coordinates"
    )
    yield right("Revolute", "damping = 3", lambda: changed_damping(3.0), lambda x: x == 3.0)
    yield refused(
        "Revolute",
        "generator",
        lambda: hung(lw.Revolute, **HINGE, damping=(x for x in (1.0,))),
        "damping",
        "once",
    )
    yield warned("Revolute", "no place", lambda: hung(lw.Revolute, axis=(0, 1, 0)), "centre of mass", "at=")
    yield warned(
        "Revolute", "no place, of a ball", lambda: ball_on(lw.Revolute), "centre of mass", "at=(0, 0"
    )
    yield right("Spherical", "a ball in a socket without place", lambda: ball_on(lw.Spherical))
    yield right("Revolute", "a wheel without place", wheel)
    yield from each("Revolute", "parent", ("ground", 1.0), lambda x: hung_between(x, None), "parent")
    yield from each("Revolute", "child", ("box", 1.0), lambda x: hung_between(None, x), "child")
    yield refused(
        "Revolute", "of another mechanism", lambda: hung_between(pair()["a"], None), "not in this mechanism"
    )
    yield from each("Helical", "pitch", numbers, lambda x: hung(lw.Helical, **HINGE, pitch=x), "pitch")
    yield refused("Helical", "pitc=", lambda: hung(lw.Helical, **HINGE, pitc=1.0), "pitc", "'pitch'")
    yield refused("Universal", "one axis", lambda: hung(lw.Universal, **HINGE), "axis2")
    yield refused("Universal", "not square", lambda: hung(lw.Universal, **HINGE, axis2=(0, 1, 1)), "square")
    yield refused("Spherical", "axis", lambda: hung(lw.Spherical, **HINGE), "axis")
    yield refused(
        "Spherical",
        "three numbers",
        lambda: hung(lw.Spherical, **PLACED).state(joint=(1, 2, 3)),
        "'joint'",
        "(1, 2, 3)",
        "quaternion",
    )
    yield refused("Free", "axis", lambda: hung(lw.Free, axis=(0, 0, 1)), "axis")
    yield refused("Free", "six numbers", lambda: hung(lw.Free).state(joint=[0] * 6), "'joint'", "quaternion")
    yield refused(
        "Cylindrical", "limits", lambda: hung(lw.Cylindrical, **HINGE, limits=[(0, 1)] * 3), "limits"
    )
    yield refused("Planar", "damping", lambda: hung(lw.Planar, **HINGE, damping=[1, 2]), "damping", "3")
    yield refused("Prismatic", "planar axis", planar_slider, "axis", "(0, 0, 1)")
    yield refused("Joint", "no motion", lambda: hung(lw.Joint, **PLACED), "motion")
    yield refused("Joint", "one name", lambda: lw.Joint(1, lw.Body("a"), lw.Body("b")), "name")
    for kind in (lw.Stop, lw.ExponentialStop):
        for value in (-1.0, NAN, "1", True):
            yield refused(
                kind.__name__,
                f"damping={value}",
                lambda k=kind, v=value: hung(lw.Revolute, **HINGE, limits=(-1, 1), stop=k(damping=v)),
                "damping",
                repr(value),
            )
        yield refused(kind.__name__, "dampin=", lambda k=kind: k(dampin=1.0), "dampin", "'damping'")
    yield from each(
        "RigidStop",
        "restitution",
        (-0.1, 1.1, NAN, "1", True, None),
        lambda x: hung(lw.Revolute, **HINGE, limits=(-1, 1), stop=lw.RigidStop(x)),
        "restitution",
    )
    yield refused("RigidStop", "bounce=", lambda: lw.RigidStop(bounce=1.0), "bounce")
    yield from each(
        "Stop",
        "stop",
        (lw.Stop, 1.0, "hard"),
        lambda x: hung(lw.Revolute, **HINGE, limits=(-1, 1), stop=x),
        "stop",
    )


def changed_damping(x: float) -> Any:
    m = pair()
    changed(m.joints["pin a"], "damping", x)
    return m.compile().damping[0]


def wheel() -> Any:
    m = lw.Mechanism()
    axle = m.add(lw.Body("axle", lw.Box(1, 0.1, 0.1), density=1000))
    disc = m.add(lw.Body("disc", lw.Cylinder(0.3, 0.1), density=1000, position=(0.5, 0, 0)))
    m.add(lw.Free("free", m.ground, axle))
    m.add(lw.Revolute("hub", axle, disc, axis=(0, 0, 1)))
    return m.compile()


def ball_on(kind: Any) -> Any:
    """Compile a ball that is drawn below the origin, on a joint whose place is not given."""
    m = lw.Mechanism("pendulum")
    bob = m.add(lw.Body("bob", lw.Sphere(0.1), mass=1.0, position=(0, 0, -1)))
    m.add(kind("pin", m.ground, bob))
    return m.compile()


def hung_between(parent: Any, child: Any) -> Any:
    m = lw.Mechanism()
    box = m.add(lw.Body("box", BALL, density=1.0))
    m.add(
        lw.Revolute("joint", m.ground if parent is None else parent, box if child is None else child, **HINGE)
    )
    return m.compile()


def planar_slider() -> Any:
    m = lw.Mechanism(space="plane")
    m.add(lw.Prismatic("joint", m.ground, m.add(lw.Body("box", BALL, density=1.0)), axis=(0, 0, 1)))
    return m.compile()


TABLES = (
    shapes,
    bodies,
    joints,
)
