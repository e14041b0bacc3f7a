"""Wrong values of scenes and of what acts in them."""

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np
from refusals import (
    DATE,
    INF,
    NAN,
    NO_NUMBERS,
    NO_POINTS,
    NO_SIZES,
    Entry,
    changed,
    each,
    pair,
    refused,
    right,
    warned,
)

import linkwork

lw: Any = linkwork  # types are wrong here on purpose

NO_COUNTS = (1.5, NAN, "1", None, -1, [1])
NO_SWITCHES = (1, 0, None, "yes", NAN)
ORIGINS = {"a": (0, 0, 0), "b": (0, 0, 0)}
LIMITS = [x for x in NO_SIZES if x is not None]  # None: no limit


def ignore(*_: Any) -> None:
    """Do nothing, when something happens."""


@functools.cache
def stage() -> tuple[Any, Any]:
    """Return a scene and a mechanism that hangs in it: two boxes on two hinges, one with limits."""
    scene, m = lw.Scene(), lw.Mechanism("arm")
    a = m.add(lw.Body("upper", lw.Box(0.1, 0.1, 0.1), mass=2.0, position=(0, 0, -0.3)))
    b = m.add(lw.Body("lower", lw.Box(0.1, 0.1, 0.1), mass=3.0, position=(0, 0, -0.8)))
    m.add(lw.Revolute("top", m.ground, a, at=(0, 0, 0), axis=(0, 1, 0), limits=(-1, 1)))
    m.add(lw.Revolute("middle", a, b, at=(0, 0, -0.5), axis=(0, 1, 0)))
    m.add(
        lw.Fixed(
            "glue", b, m.add(lw.Body("end", lw.Sphere(0.05), mass=1.0, position=(0, 0, -1))), at=(0, 0, -1)
        )
    )
    scene.add(lw.ground_plane(), name="floor", position=(0, 0, -5))
    return scene, scene.add(m, name="arm")


def part(name: str) -> Any:
    return stage()[1][name]


def no_bodies() -> tuple[Any, ...]:
    """Return what is no body of a scene, though some of it names one, or describes one."""
    scene, arm = stage()
    return "upper", None, 1, arm, arm["top"], scene, lw.Body("upper"), lw.Sphere(1)


def no_joints() -> tuple[Any, ...]:
    scene, arm = stage()
    return "top", None, 1, arm, arm["upper"], scene, arm.mechanism.joints["top"]


def crate() -> Any:
    return lw.Body("crate", lw.Box(1, 1, 1), density=500)


def scenes() -> Iterable[Entry]:
    yield from each("Scene", "gravity", [*NO_POINTS, (0, -9.81), None], lw.Scene, "gravity")
    yield from each("Scene", "step", NO_SIZES, lambda x: lw.Scene(step=x), "step")
    yield from each("Scene", "threads", (0, -1, 1.5, "2", True), lambda x: lw.Scene(threads=x), "threads")
    yield from each("Scene", "record", (0, *NO_COUNTS), lambda x: lw.Scene(record=x), "record")
    yield from each("Scene", "rewind", (True, *NO_COUNTS), lambda x: lw.Scene(rewind=x), "rewind")
    yield from each("Scene", "seed", (True, *NO_COUNTS), lambda x: lw.Scene(seed=x), "seed")
    yield warned("Scene", "start beyond limits", _beyond, "'pin a' at 0, limits (1, 2)")
    yield refused("Scene", "gravty=", lambda: lw.Scene(gravty=(0, 0, 0)), "gravty", "'gravity'")
    yield refused("Scene", "graviti = ", lambda: changed(lw.Scene(), "graviti", (0, 0, 1)), "'gravity'")
    yield refused("Scene", ".simulate", lambda: lw.Scene().simulate(1.0), "scene.step(1 / 60)")  # type: ignore[attr-defined]
    yield refused("OnTime", "arguments", lambda: lw.OnTime(1.0, lambda: 0), "action(scene)")
    yield refused("Scene", "a step of 30 years", lambda: lw.Scene().step(1e9), "1000000000.0", "steps")
    yield refused("Scene", "timestep=", lambda: lw.Scene(timestep=0.1), "timestep", "step")
    yield refused("Scene", "step by place", lambda: lw.Scene((0, 0, 0), 0.1), "Scene", "step")
    for word in ("time", "gravity", "actors"):
        yield refused("Scene", f"{word} = 1", lambda w=word: setattr(lw.Scene(), w, 1), word)
    for word, remedy in (
        ("gravity", "lw.Scene(gravity=...)"),
        ("time", "rewind"),
        ("threads", "lw.Scene(threads"),
    ):
        yield refused("Scene", f".{word} = 1", lambda w=word: changed(lw.Scene(), w, 1), word, remedy)
    for word in ("position", "velocity", "state", "q"):
        yield refused(
            "Scene", f"arm.{word} = 1", lambda w=word: changed(stage()[1], w, 1), "world.add(mechanism"
        )
    for name, word in (("upper", "position"), ("upper", "velocity"), ("top", "position")):
        place = f"{name}.{word} = 1"
        yield refused("Scene", place, lambda n=name, w=word: changed(part(n), w, 1), "world.add(mechanism")
    for word in ("pose", "solids", "material"):
        floor = f"floor.{word} = 1"
        yield refused("Scene", floor, lambda w=word: changed(stage()[0]["floor"], w, 1), "world.remove")
    yield right("Scene", "no gravity", lambda: lw.Scene(np.zeros(3, np.float32)).gravity == 0.0, np.all)
    yield right("Scene", "one seed", lambda: [lw.Scene(seed=3).random.random() for _ in "ab"], _same)
    for value in (3, None, "crate", print, lw.Body, [], [1], lw.Revolute):
        yield refused("Scene", f"add({value!r:.30})", lambda x=value: lw.Scene().add(x), "cannot add")
    yield refused("Scene", "add a plane", lambda: lw.Scene().add(lw.Mechanism("m", space="plane")), "space")
    yield from each("Scene", "name", (1, "", "a/b"), lambda x: lw.Scene().add(crate(), name=x), "name")
    points = [x for x in NO_POINTS if x is not None]
    for word in ("position", "velocity"):
        yield from each("Scene", word, points, lambda x, w=word: lw.Scene().add(crate(), **{w: x}), word)
    for word in ("accuracy", "max_step"):
        yield from each("Scene", word, LIMITS, lambda x, w=word: lw.Scene().add(crate(), **{w: x}), word)
    yield refused("Scene", "accuracy 2", lambda: lw.Scene().add(crate(), accuracy=2), "accuracy 2", "'crate'")
    yield refused("Scene", "max_step alone", lambda: lw.Scene().add(crate(), max_step=0.01), "accuracy=")
    for material in (0.5, "steel", lw.Material):
        yield refused(
            "Scene",
            f"material={material!r:.30}",
            lambda x=material: lw.Scene().add(lw.Box(1, 1, 1), material=x),
            "material",
            "lw.Material(...)",
        )
    yield refused("Scene", "of a body", lambda: lw.Scene().add(crate(), material=1), "material 1", "meaning")
    yield refused("Scene", "a wall that moves", _moving_wall, "velocity", "meaning")
    yield from each("Scene", "dt", LIMITS, lambda x: lw.Scene().step(x), "dt")
    yield from each("Scene", "n", (-1, 1.5, True, "2"), lambda x: lw.Scene().step(0.1, x), "n")
    for word in ("duration", "fps"):
        yield from each(
            "Scene",
            word,
            NO_SIZES,
            lambda x, w=word: lw.Scene().run(**{"duration": 0.1, w: x}),
            f"run: {word}",
        )
    yield refused("Scene", "run: until", lambda: lw.Scene().run(0.1, until=3), "until 3", "function")
    for word in ("momentum", "energy"):
        others = ("arm", 1, stage()[0], crate(), lw.Scene().add(crate()))
        yield from each("Scene", word, others, lambda x, w=word: getattr(stage()[0], w)(x), "")
    yield refused("Scene", "present", lambda: lw.Scene().record.present("arm/upper"), "arm/upper")
    yield from each("Scene", "observe", (1, None, "print"), lambda x: lw.Scene().observe(x), "observe")
    yield from each("Scene", "path", ("flor", 1, None), lambda x: stage()[0][x], "")
    yield refused("Scene", "'flor'", lambda: stage()[0]["flor"], "did you mean 'floor'")
    yield refused("Scene", "'arm/uper'", lambda: stage()[0]["arm/uper"], "did you mean 'upper'")
    yield refused("Scene", "remove", lambda: stage()[0].remove(lw.Box(1, 1, 1)), "no node in it")
    yield refused("Scene", "remove a body", lambda: stage()[0].remove(part("upper")), "robot.remove")
    yield from each("Scene", "steps", (1, 0, True, "1"), lambda x: lw.Scene().rewind(x), "take back")
    yield refused("Scene", "save('x.txt')", lambda: lw.Scene().save("x.txt"), "'.lws'")
    yield from each("ground_plane", "height", NO_NUMBERS, lw.ground_plane, "ground_plane", "height")
    yield refused("ground_plane", "hight=", lambda: lw.ground_plane(hight=1), "hight", "'height'")
    yield right("ground_plane", "height=-2", lambda: lw.ground_plane(-2).offset == -2.0, bool)


def _same(pair: Any) -> bool:
    return pair[0] == pair[1]


def _beyond() -> None:
    scene = lw.Scene()
    scene.add(pair(limits=(1.0, 2.0)))
    scene.step(1 / 60)


def _moving_wall() -> Any:
    return lw.Scene().add(lw.Box(1, 1, 1), velocity=(1, 0, 0))


def behaviours() -> Iterable[Entry]:
    yield refused("Behaviour", "an option", lambda: lw.Behaviour(1), "Behaviour")
    yield refused("Behaviour", "the class", lambda: lw.Scene().add(lw.Behaviour), "cannot add", "Behaviour")
    yield refused("Behaviour", "twice", _twice, "<Behaviour> is in it already")
    for word, value in (("name", "b"), ("position", (0, 0, 0)), ("material", 1), ("accuracy", 1e-3)):
        yield refused(
            "Behaviour",
            f"{word}=",
            lambda w=word, x=value: lw.Scene().add(lw.Behaviour(), **{w: x}),
            word,
            "no meaning for a Behaviour",
        )
    yield refused("Behaviour", "remove", lambda: lw.Scene().remove(lw.Behaviour()), "is not in it")
    yield right("Behaviour", "that does nothing", lambda: _stepped(lw.Behaviour()).time == 0.1, bool)
    yield from each("action", "function", (1, "print", None, lambda: 1, ignore_all), lw.action, "action")
    yield refused("action", "no function", lambda: lw.action(), "function")
    yield right("action", "a function", lambda: lw.action(ignore) is ignore, bool)


ignore_all = functools.partial(ignore, 1)


def _twice() -> Any:
    one, scene = lw.Behaviour(), lw.Scene()
    return [scene.add(one) for _ in "ab"]


def _stepped(behaviour: Any) -> Any:
    scene = lw.Scene()
    scene.add(behaviour)
    scene.step(0.1)
    return scene


def breaking() -> Iterable[Entry]:
    for joint in no_joints():
        yield refused(
            "BreakWhen",
            f"joint={joint!r:.40}",
            lambda x=joint: lw.BreakWhen(x, force=1.0),
            "BreakWhen: joint",
            repr(joint)[:20],
        )
    for word in ("force", "torque", "energy"):
        yield from each("BreakWhen", word, LIMITS, lambda x, w=word: lw.BreakWhen(part("top"), **{w: x}))
    yield refused("BreakWhen", "nothing", lambda: lw.BreakWhen(part("top")), "force=, torque= or energy=")
    yield refused("BreakWhen", "a weld", lambda: lw.BreakWhen(part("glue"), energy=1.0), "arm/glue", "force=")
    yield from each(
        "BreakWhen", "then", (1, "stop", []), lambda x: lw.BreakWhen(part("top"), force=1, then=x), "then"
    )
    yield refused("BreakWhen", "froce=", lambda: lw.BreakWhen(part("top"), froce=1.0), "froce", "'force'")
    yield right(
        "BreakWhen", "whole numbers", lambda: lw.BreakWhen(part("top"), force=800).broken is None, bool
    )


def captured() -> Iterable[Entry]:
    for actor in ("arm", None, 1, part("upper"), lw.examples.chain(2), stage()[0]):
        yield refused(
            "CapturedMotion",
            f"actor={actor!r:.40}",
            lambda x=actor: lw.CapturedMotion(x, swinging()),
            "CapturedMotion",
            "mechanism of the scene",
        )
    for recording in (None, 1, "run.npz", lw.examples.chain(2), np.zeros((3, 2))):
        yield refused(
            "CapturedMotion",
            f"recording={recording!r:.40}",
            lambda x=recording: lw.CapturedMotion(stage()[1], x),
            "CapturedMotion",
            "Recording",
        )
    yield refused(
        "CapturedMotion", "of another", lambda: lw.CapturedMotion(stage()[1], swinging()), "no joint of 'arm'"
    )
    yield refused("CapturedMotion", "no recording", lambda: lw.CapturedMotion(stage()[1]), "recording")


@functools.cache
def swinging() -> Any:
    return lw.simulate(lw.examples.chain(2), 0.05, every=0.01)


def culling() -> Iterable[Entry]:
    levels = [(10, "full"), (INF, "pause")]
    no_places = [*NO_POINTS, (0, 0), part("top"), stage()[0], lw.Body("b", position=(1, 2, 3))]
    yield from each("Culling", "viewer", no_places, lambda x: lw.Culling(x, levels), "viewer")
    yield from each(
        "Culling",
        "levels",
        (None, 1, "full", [], ["full"], [10], [(10,)], [("10", "full")], [(True, "full")], [(10, "full", 1)]),
        lambda x: lw.Culling((0, 0, 0), x),
        "levels",
    )
    for distances in ((NAN, 1), (1, NAN), (-1, 1), (2, 1), (1, 1), (INF, INF)):
        yield refused(
            "Culling",
            f"distances {distances}",
            lambda d=distances: lw.Culling((0, 0, 0), [(d[0], "full"), (d[1], "pause")]),
            "distances",
            "rising",
        )
    for level in ("fulll", "Full", 1, None):
        yield refused(
            "Culling",
            f"level {level!r}",
            lambda x=level: lw.Culling((0, 0, 0), [(1, x)]),
            "level",
            repr(level),
        )
    low, high = (0, 0, 0), (1, 1, 1)
    no_boxes = (1.0, "box", low, (low,), (low, high, high), (high, low), ((0, 0), (1, 1)), (low, (1, NAN, 1)))
    yield from each("Culling", "region", no_boxes, lambda x: lw.Culling(region=x, levels=levels), "region")
    for actors in ("arm", 1, ["arm"], [1], [part("upper")], stage()[1], [lw.examples.chain(2)]):
        yield refused(
            "Culling",
            f"actors={actors!r:.40}",
            lambda x=actors: lw.Culling((0, 0, 0), levels, actors=x),
            "Culling: actors",
        )
    yield refused("Culling", "nobody", lambda: lw.Culling(levels=levels), "viewer=, or a region=")
    yield refused("Culling", "both", lambda: lw.Culling(low, levels, region=(low, high)), "one of them")
    yield refused("Culling", "veiwer=", lambda: lw.Culling(veiwer=low), "veiwer", "'viewer'")
    yield refused("Culling", "captured", _captured_by_none, "'crate'", "lw.CapturedMotion(robot")
    yield right(
        "Culling", "a body that looks", lambda: lw.Culling(part("end"), levels).levels[1] == "pause", bool
    )


def _captured_by_none() -> Any:
    scene = lw.Scene()
    scene.add(crate())
    scene.add(lw.Culling((90, 0, 0), [(1, "full"), (INF, "captured")]))
    scene.step(1 / 60)


def events() -> Iterable[Entry]:
    no_actions = (1, "print", None, [])
    for name, make in (
        ("OnContact", lambda x: lw.OnContact(part("upper"), x)),
        ("OnLimit", lambda x: lw.OnLimit(part("top"), x)),
        ("OnDistance", lambda x: lw.OnDistance(part("upper"), (0, 0, 0), 1.0, x)),
        ("OnTime", lambda x: lw.OnTime(1.0, x)),
    ):
        yield from each(name, "action", no_actions, make, name, "action")
    for body in no_bodies():
        yield refused(
            "OnContact", f"body={body!r:.40}", lambda x=body: lw.OnContact(x, ignore), "OnContact", "body"
        )
    for other in ("floor", 1, (0, 0, 0), stage()[1], lw.Box(1, 1, 1), part("top")):
        yield refused(
            "OnContact",
            f"other={other!r:.40}",
            lambda x=other: lw.OnContact(part("upper"), ignore, other=x),
            "OnContact: other",
        )
    yield from each("OnContact", "ends", NO_SWITCHES, lambda x: lw.OnContact(part("upper"), ignore, ends=x))
    yield right(
        "OnContact",
        "floor",
        lambda: lw.OnContact(part("end"), ignore, other=stage()[0]["floor"]).ends is False,
        bool,
    )
    for joint in (*no_joints(), part("middle")):
        yield refused("OnLimit", f"joint={joint!r:.40}", lambda x=joint: lw.OnLimit(x, ignore), "has limits")
    for word in ("a", "b"):
        no_places = [*NO_POINTS, (0, 0), None, "arm", part("top"), stage()[0]["floor"], lw.Body("b")]
        for value in no_places:
            yield refused(
                "OnDistance",
                f"{word}={value!r:.40}",
                lambda w=word, x=value: lw.OnDistance(**{**ORIGINS, w: x}, distance=1.0, action=ignore),
                f"OnDistance: {word}",
            )
    yield from each(
        "OnDistance", "distance", NO_SIZES, lambda x: lw.OnDistance(part("end"), (0, 0, 0), x, ignore)
    )
    yield from each(
        "OnDistance",
        "leaves",
        NO_SWITCHES,
        lambda x: lw.OnDistance(part("end"), (0, 0, 0), 1.0, ignore, leaves=x),
    )
    yield from each("OnTime", "time", NO_NUMBERS, lambda x: lw.OnTime(x, ignore), "OnTime", "time")
    yield from each("OnTime", "every", LIMITS, lambda x: lw.OnTime(1.0, ignore, every=x), "OnTime", "every")
    yield refused("OnTime", "evry=", lambda: lw.OnTime(1.0, ignore, evry=1.0), "evry", "'every'")
    yield right(
        "OnTime", "before now", lambda: _stepped(lw.OnTime(-1.0, ignore)).behaviours[0].count == 1, bool
    )


def sensors() -> Iterable[Entry]:
    kinds = ("ContactSensor", "HeightSensor", "InertialSensor", "RaySensor")
    for name in kinds:
        for body in no_bodies():
            yield refused(
                name, f"body={body!r:.40}", lambda n=name, x=body: getattr(lw, n)(x), name, "give a body"
            )
        yield refused(name, "no body", lambda n=name: getattr(lw, n)(), name, "body")
        yield refused(name, "bodi=", lambda n=name: getattr(lw, n)(bodi=part("end")), "bodi", "'body'")
        yield right(name, "a body", lambda n=name: getattr(lw, n)(part("end")).body is part("end"), bool)
    points = [*NO_POINTS, (0, 0), None]
    yield from each("InertialSensor", "position", points, lambda x: lw.InertialSensor(part("end"), x))
    yield from each("RaySensor", "direction", [*points, (0, 0, 0)], lambda x: lw.RaySensor(part("end"), x))
    yield from each("RaySensor", "origin", points, lambda x: lw.RaySensor(part("end"), origin=x))
    no_lengths = (NAN, "1", True, 1j, None, [1.0, 2.0], DATE, -1.0, 0.0)
    yield from each("RaySensor", "longest", no_lengths, lambda x: lw.RaySensor(part("end"), longest=x))
    yield right("RaySensor", "down", lambda: _looking_down().distance, lambda d: abs(d - 4.0) < 1e-12)


def _looking_down() -> Any:
    sensor = lw.RaySensor(part("end"), np.array([0, 0, -2], np.float32))
    sensor.begin(stage()[0])
    return sensor


TABLES = (scenes, behaviours, breaking, captured, culling, events, sensors)
