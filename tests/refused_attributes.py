"""Attributes that are set or asked for: of what was made, what was computed, of behaviours and states."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from refusals import DATE, INF, NAN, NO_POINTS, NO_SIZES, Entry, added, each, pair, refused, right
from refused_scenes import ignore, part

import linkwork as lw


def changed(thing: Any, word: str, value: Any) -> Any:
    setattr(thing, word, value)
    return thing


def particle() -> Any:
    return lw.Particle("p", 1.0)


def rigid() -> Any:
    return lw.RigidBody("r", lw.Box(1, 2, 3), mass=1.0)


def states() -> Iterable[Entry]:
    yield from each(
        "Particle", "mass", NO_SIZES, lambda x: changed(particle(), "mass", x), "particle 'p': mass"
    )
    yield right("Particle", "mass = 2", lambda: changed(particle(), "mass", 2).mass == 2.0, bool)
    vectors = [x for x in NO_POINTS if x is not None]
    for word in ("x", "P"):
        yield from each(
            "Particle", word, vectors, lambda x, w=word: changed(particle(), w, x), "particle", word
        )
    for word in ("x", "P", "L"):
        yield from each(
            "RigidBody", word, vectors, lambda x, w=word: changed(rigid(), w, x), "rigid body", word
        )
        yield right(
            "RigidBody",
            f"{word} of whole numbers",
            lambda w=word: getattr(changed(rigid(), w, [1, 2, 3]), w).dtype == float,
            bool,
        )
    turns = (3 * np.eye(3), "x", NAN, (0, 0, 0, 0), np.diag([1, 1, -1]))
    yield from each("RigidBody", "R", turns, lambda x: changed(rigid(), "R", x), "rigid body 'r'")
    yield from each("Frame", "position", (np.eye(3), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]), lw.Frame, "position")


def behaviours() -> Iterable[Entry]:
    for word in ("force", "torque"):
        limits = (NAN, INF, "1", True, 1j, [1.0], DATE, -1.0, 0.0)
        yield from each(
            "BreakWhen", word, limits, lambda x, w=word: changed(lw.BreakWhen(part("top"), force=1.0), w, x)
        )
    made: tuple[tuple[str, Any, str, Any], ...] = (
        ("BreakWhen", lambda: lw.BreakWhen(part("top"), force=1.0), "joint", 3),
        ("BreakWhen", lambda: lw.BreakWhen(part("top"), force=1.0), "then", "stop"),
        ("OnTime", lambda: lw.OnTime(1.0, ignore), "time", "soon"),
        ("OnTime", lambda: lw.OnTime(1.0, ignore), "every", 0.0),
        ("OnTime", lambda: lw.OnTime(1.0, ignore), "action", 3),
        ("OnContact", lambda: lw.OnContact(part("end"), ignore), "body", 3),
        ("OnContact", lambda: lw.OnContact(part("end"), ignore), "ends", 3),
        ("OnDistance", lambda: lw.OnDistance(part("end"), (0, 0, 0), 1.0, ignore), "distance", -1.0),
        ("OnDistance", lambda: lw.OnDistance(part("end"), (0, 0, 0), 1.0, ignore), "a", "there"),
        ("RaySensor", lambda: lw.RaySensor(part("end")), "direction", (0, 0, 0)),
        ("RaySensor", lambda: lw.RaySensor(part("end")), "longest", -1.0),
        ("InertialSensor", lambda: lw.InertialSensor(part("end")), "position", (1, 2)),
        ("HeightSensor", lambda: lw.HeightSensor(part("end")), "body", "end"),
        ("Culling", lambda: lw.Culling((0, 0, 0)), "viewer", "me"),
        ("Culling", lambda: lw.Culling((0, 0, 0)), "levels", [(1.0, "full")]),
    )
    for name, make, word, value in made:
        yield refused(name, f".{word} = {value!r}", lambda m=make, w=word, x=value: changed(m(), w, x), name)
    for name, make in {name: make for name, make, _, _ in made}.items():
        yield refused(name, ".wrng = 1", lambda m=make: changed(m(), "wrng", 1), "has no wrng to set to 1")
    yield right(
        "BreakWhen",
        ".force = 2",
        lambda: changed(lw.BreakWhen(part("top"), force=1.0), "force", 2.0).force == 2.0,
        bool,
    )


def computed() -> Iterable[Entry]:
    model = pair().compile()
    run = lw.simulate(model, 0.1)
    forest = lw.Forest({"a": pair()})
    members = forest.simulate(0.1)
    stops = lw.Stop(1, 2), lw.ExponentialStop(force_at_limit=1.0, sharpness=2.0), lw.RigidStop()
    for thing, word in (
        *((stop, "mistaks") for stop in stops),
        (lw.Restoring(1, 2), "dampng"),
        (lw.Forest({"a": pair()}), "modls"),
        (lw.Input("a"), "valu"),
        (lw.Material(), "restitutin"),
        (lw.Sphere(1.0), "radus"),
        (lw.Scene(), "gravty"),
        (particle(), "mas"),
        (lw.Frame(), "positon"),
        (lw.Inertia(1.0, (0, 0, 0), np.eye(3)), "tensr"),
        (model.state(), "positons"),
        (run, "enrgy"),
        (lw.Positions(_driven()), "pats"),
    ):
        name = type(thing).__name__
        yield refused(name, f"{name}.{word}", lambda t=thing, w=word: getattr(t, w), word, "did you mean")
    for stop in stops:
        name = type(stop).__name__
        yield refused(name, f"{name} = 1", lambda t=stop: changed(t, "stiffness", 1), "stop= of the joint")
    yield refused(
        "Restoring", "damping = 1", lambda: changed(lw.Restoring(1, 2), "damping", 1), "make another"
    )
    yield refused("Forest", "run.tme = 1", lambda: changed(members, "tme", 1), "ForestRecording", "'time'")
    for quantity in ("q", "v", "time", "work", "energy"):
        array = getattr(run, quantity)
        if quantity != "energy":  # which is computed each time
            yield refused(
                "Recording", f"{quantity} *= 2", lambda a=array: np.multiply(a, 2, out=a), "read-only"
            )
    angle = run["pin a"].position
    yield refused("Recording", "position *= 57", lambda: np.multiply(angle, 57, out=angle), "read-only")
    yield refused(
        "Model", "inputs[...] = 1", lambda: _driving().inputs.__setitem__("push", 1), "inputs={'push'"
    )
    sim = lw.Simulation(_driving())
    yield refused("Simulation", "del inputs[...]", lambda: sim.inputs.__delitem__("push"), "= 0.0")


def _driving() -> Any:
    m = pair()
    m.add(lw.Motor("push", "pin a"))
    return m.compile()


def _driven() -> Any:
    bars = lw.examples.four_bar()
    bars.add(lw.Driver("motor", "A", lambda t: t))
    return bars


def with_themselves() -> Iterable[Entry]:
    own: tuple[tuple[str, Any], ...] = (
        ("Spring", lambda a: lw.Spring("s", a, a, stiffness=1.0)),
        ("Bushing", lambda a: lw.Bushing("s", a, a, at=(0, 0, 0), stiffness=1.0)),
        ("Distance", lambda a: lw.Distance("s", a, a)),
        ("Distance", lambda a: lw.Distance("s", a, a, on_child=(0, 0, 1))),
        ("Gear", lambda a: lw.Gear("s", "pin a", "pin a", 2.0)),
        ("RackPinion", lambda a: lw.RackPinion("s", "pin a", "pin a", 2.0)),
    )
    for name, make in own:
        yield refused(name, "with itself", lambda m=make: added(lambda a, b: m(a)), "'s'", "and itself")
    yield refused(
        "RackPinion", "rack first", lambda: _on_rail(lw.RackPinion("s", "rail", "pin", 1.0)), "exchange"
    )
    yield refused("Gear", "with a slide", lambda: _on_rail(lw.Gear("s", "rail", "pin", 1.0)), "lw.RackPinion")


def own_joints() -> Iterable[Entry]:
    yield refused("Joint", "stands still at 0", lambda: _cubed(0.0), "'joint' does not move", "armature=")
    yield right("Joint", "stands still, with armature", lambda: _cubed(0.1).status == "DONE", bool)


def _cubed(armature: float) -> Any:
    class Cubed(lw.Joint):
        def motion(self, q: Any) -> Any:
            return lw.translation(0, 0, q[0] ** 3)

    m = lw.Mechanism("cubed")
    ball = m.add(lw.Body("ball", lw.Sphere(0.1), mass=1.0))
    m.add(Cubed("joint", m.ground, ball, armature=armature))
    return lw.simulate(m, 0.1)


def _on_rail(constraint: Any) -> Any:
    m = lw.examples.cart_pole()
    m.add(constraint)
    return m.compile()


TABLES = (states, behaviours, computed, with_themselves, own_joints)
