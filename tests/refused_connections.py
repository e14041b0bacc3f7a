"""Wrong values of loads, drivers and constraints."""

import random
from collections.abc import Iterable
from functools import partial
from typing import Any

from refusals import NAN, NO_NUMBERS, NO_POINTS, Entry, added, each, pair, refused, right, warned

import linkwork

lw: Any = linkwork  # types are wrong here on purpose


def loads() -> Iterable[Entry]:
    numbers = [x for x in NO_NUMBERS if x is not None] + [-1.0]
    for word in ("stiffness", "damping"):
        yield from each(
            "Spring",
            word,
            numbers,
            lambda x, w=word: added(lambda a, b: lw.Spring("s", a, b, **{w: x})),
            word,
        )
        yield from each(
            "TorsionSpring",
            word,
            numbers[:4],
            lambda x, w=word: added(lambda a, b: lw.TorsionSpring("s", "pin a", **{w: x})),
            word,
        )
        yield from each(
            "Bushing",
            word,
            [x for x in numbers if not isinstance(x, list)],
            lambda x, w=word: added(lambda a, b: lw.Bushing("s", a, b, at=(0, 0, 0), **{w: x})),
            word,
        )
    yield from each(
        "Spring",
        "rest",
        numbers,
        lambda x: added(lambda a, b: lw.Spring("s", a, b, stiffness=1.0, rest=x)),
        "rest",
    )
    yield from each(
        "Spring",
        "on_parent",
        NO_POINTS[:6],
        lambda x: added(lambda a, b: lw.Spring("s", a, b, on_parent=x)),
        "on_parent",
    )
    yield from each(
        "Spring", "a", ("a", 1.0, None), lambda x: added(lambda a, b: lw.Spring("s", x, b)), "'s'"
    )
    for word, make in (
        ("Spring", lambda a, b, **o: lw.Spring("s", a, b, **o)),
        ("TorsionSpring", lambda a, b, **o: lw.TorsionSpring("s", "pin a", **o)),
    ):
        yield warned(
            word, "rest alone", lambda f=make: added(partial(f, rest=0.3, damping=1.0)), "stiffness="
        )
        yield right(word, "rest", lambda f=make: added(partial(f, rest=0.3, stiffness=lw.Input("k", 0.0))))
        yield warned(word, "neither", lambda f=make: added(f), "stiffness= or damping=")
    yield warned(
        "Bushing", "none", lambda: added(lambda a, b: lw.Bushing("s", a, b, at=(0, 0, 0))), "torsion_damping="
    )
    yield warned("TorsionSpring", "degrees", lambda: torsion(45.0), "rest 45.0", "degrees")
    for kind, count in ((lw.Force, 3), (lw.Torque, 3), (lw.Wrench, 6)):
        for law in (
            "up",
            (1.0,) * (count + 1),
            (NAN,) * count,
            ("1",) * count,
            (True,) * count,
            None,
            (1j,) * count,
        ):
            yield refused(
                kind.__name__, f"law={law}", lambda k=kind, x=law: added(lambda a, b: k("s", a, x)), "law"
            )
        yield refused(
            kind.__name__,
            "a name",
            lambda k=kind: added(lambda a, b: k("s", "a", (0.0,) * 6)),
            "'a'",
            "Body itself",
        )
        yield refused(
            kind.__name__,
            "frame",
            lambda k=kind: added(lambda a, b: k("s", a, (0.0,) * 6, frame="local")),
            "frame 'local'",
        )
    yield from each(
        "Motor", "law", numbers[:-1], lambda x: added(lambda a, b: lw.Motor("s", "pin a", x)), "law"
    )
    yield refused(
        "Motor", "joint", lambda: added(lambda a, b: lw.Motor("s", "pin c", 1.0)), "'pin c'", "'pin a'"
    )
    yield refused("Motor", "a body", lambda: added(lambda a, b: lw.Motor("s", a, 1.0)), "'a' is not a joint")
    yield refused("Motor", "lwa=", lambda: lw.Motor("s", "pin a", lwa=1.0), "lwa", "'law'")
    yield from each(
        "Feedback", "law", (1.0, None, "u"), lambda x: added(lambda a, b: lw.Feedback("s", "pin a", x)), "law"
    )
    yield from each(
        "Feedback",
        "joints",
        (1.0, None, "pin c"),
        lambda x: added(lambda a, b: lw.Feedback("s", x, lambda t, q, v: 0.0)),
        "'s'",
    )
    yield refused("Load", "no act", lambda: added(lambda a, b: lw.Load("s", a)), "act")
    yield from each(
        "Driver", "law", numbers[:-1], lambda x: added(lambda a, b: lw.Driver("s", "pin a", x)), "law"
    )
    yield from each(
        "Driver",
        "what",
        ("pin c", 1.0, None, ("a", "x"), ("pin a", 1), ("pin a", "x")),
        lambda x: added(lambda a, b: lw.Driver("s", x, 0.0)),
        "'s'",
    )
    yield warned(
        "Driver", "degrees", lambda: added(lambda a, b: lw.Driver("s", "pin a", 90)), "law 90", "degrees"
    )
    yield refused("Driver", "twice", driven_twice, "'first'", "'second'", "'pin a'")
    yield refused("Line", "a number", lambda: lw.Line(1.0), "piece", "1.0")


def torsion(rest: float) -> Any:
    m = pair()
    m.add(lw.TorsionSpring("s", m.joints["pin a"], stiffness=1.0, rest=rest))
    return m.compile()


NO_EQUATIONS = {  # functions phi, by what they give
    "None": lambda self, a, b: None,
    "one number": lambda self, a, b: a.position[0],
    "a text": lambda self, a, b: "zero",
    "complex numbers": lambda self, a, b: [1j * a.position[0]],
    "nothing": lambda self, a, b: [],
}


def driven_by(law: Any) -> Any:
    m = pair()
    m.add(lw.Driver("drive", "pin a", law))
    return m


def wrenched(law: Any) -> Any:
    m = pair()
    m.add(lw.Wrench("w", m["a"], law))
    return m


def driven_twice() -> Any:
    m = pair()
    m.add(lw.Driver("first", "pin a", 0.0))
    m.add(lw.Driver("second", "pin a", lambda t: t))
    return m.compile()


def constraints() -> Iterable[Entry]:
    numbers, some = list(NO_NUMBERS), [x for x in NO_NUMBERS if x is not None]
    yield from each(
        "Distance",
        "length",
        [*some, -1.0, 0.0],
        lambda x: added(lambda a, b: lw.Distance("s", a, b, x)),
        "length",
    )
    yield from each(
        "Distance",
        "on_child",
        NO_POINTS[:4],
        lambda x: added(lambda a, b: lw.Distance("s", a, b, on_child=x)),
        "on_child",
    )
    yield refused(
        "Distance",
        "name of a body",
        lambda: added(lambda a, b: lw.Distance("s", a, "b")),
        "'b'",
        "Body itself",
    )
    yield refused("Distance", "itself", lambda: added(lambda a, b: lw.Distance("s", a, a, 1.0)), "itself")
    yield from each(
        "Gear",
        "ratio",
        [*some, -1.0, 0.0],
        lambda x: added(lambda a, b: lw.Gear("s", "pin a", "pin b", x)),
        "ratio",
    )
    yield from each(
        "Gear",
        "teeth",
        (1.0, (1, 0), ("1", "2"), (1, 2, 3)),
        lambda x: added(lambda a, b: lw.Gear("s", "pin a", "pin b", teeth=x)),
        "teeth",
    )
    yield refused(
        "Gear",
        "kind",
        lambda: added(lambda a, b: lw.Gear("s", "pin a", "pin b", 1.0, kind="inner")),
        "kind 'inner'",
    )
    yield from each(
        "RackPinion",
        "radius",
        [*numbers, 0.0],
        lambda x: added(lambda a, b: lw.RackPinion("s", "pin a", "pin b", x)),
        "radius",
    )
    yield from each(
        "Coupling",
        "ratio",
        numbers,
        lambda x: added(lambda a, b: lw.Coupling("s", "pin a", "pin b", x)),
        "ratio",
    )
    yield refused(
        "Coupling",
        "joint",
        lambda: added(lambda a, b: lw.Coupling("s", "pin c", "pin b")),
        "'pin c'",
        "'pin a'",
    )
    over = [(0, 0, 1), (1, 0, 1)]
    yield from each(
        "Pulley",
        "ratio",
        [*numbers, -1.0],
        lambda x: added(lambda a, b: lw.Pulley("s", a, b, over=over, ratio=x)),
        "ratio",
    )
    yield from each(
        "Pulley",
        "over",
        (1.0, [(0, 0, 1)], [("0", "0", "1")] * 2, None),
        lambda x: added(lambda a, b: lw.Pulley("s", a, b, over=x)),
        "over",
    )
    yield from each(
        "PointOnLine",
        "axis",
        [*NO_POINTS[:6], (0, 0, 0)],
        lambda x: added(lambda a, b: lw.PointOnLine("s", a, b, axis=x)),
        "axis",
    )
    yield from each(
        "PointOnPlane",
        "normal",
        [*NO_POINTS[:6], (0, 0, 0)],
        lambda x: added(lambda a, b: lw.PointOnPlane("s", a, b, normal=x)),
        "normal",
    )
    yield from each(
        "PointOnCurve",
        "curve",
        (1.0, None, lambda s: s),
        lambda x: added(lambda a, b: lw.PointOnCurve("s", a, b, x)),
        "curve",
    )
    yield from each(
        "PointOnCurve",
        "interval",
        (1.0, (1, 0), ("0", "1")),
        lambda x: added(lambda a, b: lw.PointOnCurve("s", a, b, lambda s: (s, 0, 0), interval=x)),
        "interval",
    )
    yield from each(
        "Cam",
        "radius",
        [*numbers, -1.0],
        lambda x: added(lambda a, b: lw.Cam("s", a, b, lambda s: (lw.cos(s), lw.sin(s)), radius=x)),
        "radius",
    )
    yield from each(
        "Cam", "profile", (1.0, None), lambda x: added(lambda a, b: lw.Cam("s", a, b, x)), "profile"
    )
    yield from each("Absolute", "x", some, lambda x: added(lambda a, b: lw.Absolute("s", a, x=x)), "x")
    yield from each(
        "Absolute",
        "pose",
        (1.0, (0, 0, 0), "here"),
        lambda x: added(lambda a, b: lw.Absolute("s", a, pose=x)),
        "pose",
    )
    yield refused(
        "Absolute", "angle in space", lambda: added(lambda a, b: lw.Absolute("s", a, angle=0.1)), "angle"
    )
    for what, phi in NO_EQUATIONS.items():
        own = type("Own", (lw.Constraint,), {"phi": phi})
        yield refused(
            "Constraint",
            f"phi gives {what}",
            lambda k=own: added(lambda a, b: k("s", a, b)),
            "'s': phi gives",
            "return",
        )
    noise = type(
        "Noise", (lw.Constraint,), {"phi": lambda self, a, b: [float(a.position[0]) - random.random()]}
    )
    yield refused(
        "Constraint",
        "random phi",
        lambda: added(lambda a, b: noise("s", a, b)),
        "'s': phi is not a function",
        "lw.Sampled",
    )
    noisy = lambda t: random.random() if t > -1.0 else 0.0  # noqa: E731
    yield refused(
        "Driver", "random law", lambda: lw.simulate(driven_by(noisy), 0.1), "driver 'drive'", "lw.Sampled"
    )
    yield refused(
        "Wrench",
        "two vectors",
        lambda: lw.simulate(wrenched(lambda body, t: ((1, 0, 0), (0, 0, 1))), 0.1),
        "2 numbers",
        "torque first",
        "6",
    )
    yield refused("Constraint", "no phi", lambda: added(lambda a, b: lw.Constraint("s", a, b)), "phi")
    yield refused(
        "Constraint", "a word of its own", lambda: lw.Constraint("s", lw.Body("a"), word=1.0), "word"
    )


TABLES = (
    loads,
    constraints,
)
