"""Wrong values of formulas, collision queries and files."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from refusals import BALL, INF, NAN, NO_POINTS, Entry, changed, each, refused, right, warned

import linkwork

lw: Any = linkwork  # types are wrong here on purpose


def algebra() -> Iterable[Entry]:
    yield from each(
        "Frame",
        "position",
        [*(x for x in NO_POINTS if x is not NO_POINTS[-1]), (0, 0), None, b"abc", {1, 2, 3}],
        lw.Frame,
        "position",
    )
    for turn in (
        0.3,
        (1, 2, 3),
        (0, 0, 0, 0),
        np.eye(3) * 2,
        np.diag([1, 1, -1]),
        "x",
        np.eye(4),
        (NAN, 0, 0, 0),
        ("1", "0", "0", "0"),
        True,
    ):
        yield refused("Frame", f"rotation={turn!r:.30}", lambda x=turn: lw.Frame((0, 0, 0), x), "rotation")
    yield right(
        "Frame",
        "few digits",
        lambda: lw.Frame((0, 0, 0), [[1, 0, 0], [0, 0.7071, -0.7071], [0, 0.7071, 0.7071]]).rotation,
        lambda R: abs(R.T @ R - np.eye(3)) < 1e-14,
    )
    for axis in ((0, 0, 0), (1, 1), "z", ("1", "0", "0"), (NAN, 0, 0), (True, 0, 0), None):
        yield refused("Frame", f"axis={axis!r}", lambda x=axis: lw.Frame.from_axis_angle(x, 0.3), "axis")
    for angle in (NAN, INF, "1", True, 1j, None):
        yield refused(
            "Frame", f"angle={angle!r}", lambda x=angle: lw.Frame.from_axis_angle((0, 0, 1), x), "angle"
        )
        yield refused(
            "rotation_about", f"angle={angle!r}", lambda x=angle: lw.rotation_about((0, 0, 1), x), "angle"
        )
    for numbers in (*(x for x in NO_POINTS if x is not NO_POINTS[-1]), (0, 0)):
        yield refused(
            "Frame", f"vector={numbers!r:.40}", lambda x=numbers: lw.Frame.from_rotation_vector(x), "vector"
        )
        yield refused(
            "Frame", f"angles={numbers!r:.40}", lambda x=numbers: lw.Frame.from_euler("ZYX", x), "Euler"
        )
        yield refused(
            "Frame",
            f"position={numbers!r:.40} of angles",
            lambda x=numbers: lw.Frame.from_euler("ZYX", (0, 0, 0), x),
            "position",
        )
    for sequence in ("ZYY", "ZY", "zYx", "abc", None, 1, True):
        yield refused("Frame", f"sequence={sequence!r}", lambda x=sequence: lw.Frame().euler(x), "sequence")
    for turn in (
        lambda: lw.rotation_x(90),
        lambda: lw.rotation_about((0, 0, 1), -45.0),
        lambda: lw.rotation_euler("xyz", [90, 0, 0]),
        lambda: lw.rotation(180),
        lambda: lw.Frame.from_euler("ZYX", (0, 0, 30)),
        lambda: lw.Frame.from_axis_angle((0, 0, 1), 90),
        lambda: lw.Frame.from_rotation_vector((90, 0, 0)),
    ):
        yield warned("Frame", "an angle in degrees", turn, "in radians", "lw.degrees(...)")
    yield right("Frame", "an angle in radians", lambda: lw.rotation_x(31.4).quaternion[1] < 1.0, bool)
    yield refused("Frame", "degrees=", lambda: lw.Frame.from_euler("Z", [90], degrees=True), "degrees")
    yield refused("Frame", "positon=", lambda: lw.Frame(positon=(0, 0, 0)), "positon", "'position'")
    yield refused("contact_laws", "a material without", lambda: touching(lw.contact_laws.sticky), "stiffness")
    yield refused("planar", "Frame", lambda: lw.planar.Frame((0, 0, 0)), "position", "2")
    yield refused("planar", "Frame", lambda: lw.planar.Frame((0, 0), np.eye(2) * 2), "rotation")
    yield refused("spatial", "Frame", lambda: lw.spatial.Frame((0, 0)), "position", "3")
    yield right(
        "rotation_about",
        "not of length one",
        lambda: np.linalg.det(lw.rotation_about((1, 1, 0), 0.5).rotation),
        lambda d: abs(d - 1) < 1e-14,
    )
    yield from each(
        "rotation_about",
        "axis",
        ((0, 0, 0), (1, 1), "z", ("1", "0", "0"), (NAN, 0, 0), None),
        lambda x: lw.rotation_about(x, 0.3),
        "axis",
    )
    yield from each(
        "rotation_quaternion",
        "q",
        ((0, 0, 0, 0), (1, 0, 0), "wxyz", (NAN, 0, 0, 0), (True, 0, 0, 0)),
        lw.rotation_quaternion,
        "q",
    )
    for sequence, angles in (
        ("xyz", 0.3),
        ("xy", (1, 2, 3)),
        ("abc", (1, 2, 3)),
        ("xYz", (1, 2, 3)),
        (1, (1, 2, 3)),
    ):
        yield refused(
            "rotation_euler", f"{sequence}", lambda s=sequence, a=angles: lw.rotation_euler(s, a), "Euler"
        )
    for place in ((1.0,), ((1, 2, 3),), ("1", "2", "3"), (None, 0, 0), (1, 2, 3, 4)):
        yield refused("translation", f"{place}", lambda p=place: lw.translation(*p), "translation")
    for word in (
        "rotation",
        "rotation_x",
        "rotation_y",
        "rotation_z",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "sqrt",
        "exp",
        "log",
        "floor",
    ):
        for value in ("1", None, [1.0], lw.Body("b")):
            yield refused(
                word, f"{value!r:.10}", lambda w=word, v=value: getattr(lw, w)(v), "give real numbers"
            )
    yield refused("atan2", "text", lambda: lw.atan2("1", 2.0), "atan2", "'1'")
    yield refused("hypot", "text", lambda: lw.hypot("1", "2"))
    yield refused("sign", "text", lambda: lw.sign("1"))
    yield refused("norm", "text", lambda: lw.norm("123"))
    for v in ((1, 2), (1, 2, 3, 4), "abc", None, 3.0, ("1", "2", "3"), (1j, 0, 0), (True, False, True)):
        yield refused("cross_matrix", f"{v!r}", lambda x=v: lw.cross_matrix(x), "cross_matrix: v")
    yield refused("interp", "xs", lambda: lw.interp(0.5, [1, 0], [0, 1]), "xs")
    yield refused("interp", "ys", lambda: lw.interp(0.5, [0, 1], [0, 1, 2]), "ys")
    yield refused("interp", "texts", lambda: lw.interp(0.5, ["0", "1"], [0, 1]), "xs")
    yield refused("interp", "kind", lambda: lw.interp(0.5, [0, 1], [0, 1], kind="spline"), "'spline'")
    yield refused("degrees", "text", lambda: lw.degrees("90"), "90")
    yield right("deg", "one", lambda: 180 * lw.deg, lambda x: abs(x - np.pi) < 1e-15)
    yield right(
        "where", "both sides", lambda: lw.where(np.array([True, False]), 1.0, 2.0), lambda x: x == [1, 2]
    )


def contact() -> Iterable[Entry]:
    for query in (lw.collide, lw.distance, lw.overlap, lw.closest_points):
        name = query.__name__
        for thing in (1.0, None, "ball", lw.Body("b"), lw.Sphere):
            yield refused(name, f"a={thing!r:.20}", lambda f=query, x=thing: f(x, BALL), "give a solid")
        yield from each(
            name,
            "pose_b",
            (1.0, "here", (NAN, 0, 0), ("1", "0", "0"), (0.3, 0.2)),
            lambda x, f=query: f(BALL, BALL, pose_b=x),
            "position",
        )
        yield from each(name, "space", (1, None, "3d"), lambda x, f=query: f(BALL, BALL, space=x), "space")
    yield from each(
        "collide",
        "margin",
        (NAN, INF, "1", -1.0, None, True),
        lambda x: lw.collide(BALL, BALL, margin=x),
        "margin",
    )
    yield from each(
        "contains",
        "points",
        ("abc", (1, 2), (NAN, 0, 0), ("1", "0", "0")),
        lambda x: lw.contains(BALL, x),
        "point",
    )
    yield from each(
        "ray_cast",
        "origin",
        ("abc", (1, 2), (NAN, 0, 0)),
        lambda x: lw.ray_cast(BALL, x, (0, 0, 1)),
        "origin",
    )
    yield from each(
        "ray_cast",
        "direction",
        ("abc", (1, 2), (0, 0, 0)),
        lambda x: lw.ray_cast(BALL, (0, 0, 3), x),
        "direction",
    )
    yield from each(
        "ray_cast",
        "longest",
        (NAN, -1.0, "1", None, True),
        lambda x: lw.ray_cast(BALL, (0, 0, 3), (0, 0, 1), longest=x),
        "longest",
    )
    yield from each("Colliders", "space", (1, None, "3d"), lw.Colliders, "space")
    for word, values in (
        ("group", (1.5, "1", None)),
        ("mask", (1.5, "1")),
        ("fixed", (1, "yes")),
        ("position", NO_POINTS[:3]),
    ):
        yield from each(
            "Colliders", word, values, lambda x, w=word: lw.Colliders().add("ball", BALL, **{w: x}), word
        )
    yield refused("Colliders", "name", lambda: lw.Colliders().remove("ball"), "'ball'")
    yield refused("Colliders", "spce = ", lambda: changed(lw.Colliders(), "spce", "plane"), "spce", "'space'")
    touching = lw.collide(BALL, BALL, pose_b=(0.9, 0, 0))
    hit = lw.ray_cast(BALL, (0, 0, 3), (0, 0, -1))
    hits = lw.ray_cast(BALL, np.array([[0, 0, 3], [0, 0, 4.0]]), (0, 0, -1))
    for thing in (touching, touching[0], hit, hits):
        yield refused(type(thing).__name__, "assigned", lambda t=thing: changed(t, "normal", 0.0), "normal")
    for kind in (lw.ContactPoint, lw.Contacts, lw.Hit, lw.Hits):
        yield refused(kind.__name__, "nothing", kind, "not made by hand")


def files() -> Iterable[Entry]:
    yield from each("load", "path", (1.0, None, b"x.json"), lw.load, "load")
    yield refused("load", "suffix", lambda: lw.load("robot.xyz"), "robot.xyz", ".urdf")
    for path, options in (
        ("x.json", {"base": "free"}),
        ("x.json", {"repair": True}),
        ("x.stl", {"base": "free"}),
        ("x.urdf", {"scale": 2.0}),
        ("x.lwr", {"base": "free"}),
        ("x.stl", {"packages": {}}),
        ("x.lwr", {"hulls": True}),
    ):
        yield refused("load", f"{path} {options}", lambda p=path, o=options: lw.load(p, **o), *options, "out")
    yield from each("load", "base", ("floating", 1, True), lambda x: lw.load("x.urdf", base=x), "base")
    yield from each("load", "scale", (0.0, NAN, "1", None), lambda x: lw.load("x.stl", scale=x), "scale")
    yield from each("load", "largest", (0, -1.0, NAN, "1"), lambda x: lw.load("x.stl", largest=x), "largest")
    yield from each("load", "hulls", (1, "yes", None), lambda x: lw.load("x.urdf", hulls=x), "hulls")
    yield from each(
        "load", "packages", (1, "arm", {"arm": 1}), lambda x: lw.load("x.urdf", packages=x), "packages"
    )
    yield refused("load", "bse=", lambda: lw.load("x.urdf", bse="free"), "bse", "'base'")
    yield from each(
        "FileFormat",
        "suffix",
        ("txt", ".TXT", 1, None),
        lambda x: lw.FileFormat(suffix=x, holds="mesh", read=print),
        "suffix",
    )
    yield from each(
        "FileFormat",
        "holds",
        ("film", 1, None),
        lambda x: lw.FileFormat(suffix=".txt", holds=x, read=print),
        "holds",
    )
    yield from each(
        "FileFormat",
        "read",
        (1, "read"),
        lambda x: lw.FileFormat(suffix=".txt", holds="mesh", read=x),
        "read",
    )
    yield from each("add_format", "added", (1, None, ".txt"), lw.add_format, "add_format")
    yield refused(
        "add_format",
        "taken",
        lambda: lw.add_format(lw.FileFormat(suffix=".json", holds="mesh", read=print)),
        ".json",
    )
    yield refused("view", "a number", lambda: lw.view.snapshot(1.0))
    yield refused("examples", "a number", lambda: lw.examples.chain("3"))


TABLES = (
    algebra,
    contact,
    files,
)


def touching(law: Any) -> Any:
    """Simulate a ball of rigid material on ground by a law."""
    m = lw.Mechanism("ball")
    m.add(lw.Body("ball", lw.Sphere(0.1), density=1000, position=(0, 0, 0.1)))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact", law=law))
    return lw.simulate(m, 0.01)
