"""What people write before they have read the documentation, and the answers that they get."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from refusals import BALL, HINGE, Entry, added, changed, hung, pair, refused, right

import linkwork

lw: Any = linkwork  # types are wrong here on purpose


def made_by_hand() -> Iterable[Entry]:
    """Classes of answers, called as if they made things, as in other packages."""
    for name, words in (
        ("Model", "mechanism.compile()"),
        ("Recording", "lw.simulate"),
        ("Recordings", "lw.simulate"),
        ("KinematicRecording", "lw.kinematics"),
        ("Sound", "lw.sound"),
        ("Contacts", "lw.collide"),
        ("ContactPoint", "lw.collide"),
        ("Hit", "lw.ray_cast"),
        ("Hits", "lw.ray_cast"),
    ):
        for options in ({}, {"name": "pendulum"}, {"zzz": 1}):
            yield refused(
                name, f"by hand {options}", lambda n=name, o=options: getattr(lw, n)(**o), "by hand", words
            )
    yield right("State", "of lists", lambda: lw.State([0.0], [1]), lambda state: state.v.dtype == float)
    yield refused("State", "time first", lambda: lw.State(0.0, [0.0], [0.0]), "State: q 0.0", "model.state(")
    yield refused("State", "three arrays", lambda: lw.State([0.0], [0.0], [0.0]), "State: t [0.0]")
    yield refused("Positions", "a number", lambda: lw.Positions(3), "Positions: mechanism is 3")  # type: ignore[arg-type]


def words_of_others() -> Iterable[Entry]:
    for kind, option, answer in (
        (lw.Cylinder, "r", "radius="),
        (lw.Sphere, "diameter", "radius="),
        (lw.Box, "pos", "position="),
        (lw.Body, "orientation", "rotation="),
        (lw.Revolute, "origin", "at="),
        (lw.Revolute, "lower", "limits="),
        (lw.Revolute, "limit", "'limits'"),
        (lw.Spring, "k", "stiffness="),
        (lw.Spring, "length", "rest="),
        (lw.Motor, "torque", "law="),
        (lw.simulate, "dt", "step="),
        (lw.simulate, "rtol", "accuracy="),
        (lw.simulate, "t_eval", "times="),
        (lw.simulate, "solver", "method="),
        (lw.Event, "callback", "action="),
        (lw.Mechanism, "dim", "space="),
    ):
        name = kind.__name__
        yield refused(
            name,
            f"{option}=",
            lambda k=kind, o=option: k(**{o: 1.0}),
            f"{name} has no option {option}=",
            answer,
        )
    yield refused("simulate", "RK45", lambda: lw.simulate(pair(), 0.1, method="RK45"), "'RK45'", "'rkf45'")


def too_few_and_too_many() -> Iterable[Entry]:
    yield refused("Box", "one number", lambda: lw.Box(1.0), "'y'", "(x, y, z, *")
    yield refused("Revolute", "a place", lambda: lw.Revolute("p", 1, 2, (0, 0, 0)), "too many", "at=None")
    yield refused("Spring", "one body", lambda: lw.Spring("s", lw.Body("a")), "'b'", "(name, a, b, *")
    yield refused("simulate", "no duration", lambda: lw.simulate(pair()), "'duration'")
    yield refused("Event", "no quantity", lambda: lw.Event("e"), "'quantity'")
    yield refused(
        "Mechanism", "two at once", lambda: lw.Mechanism("m").add(lw.Body("a"), lw.Body("b")), "one", "'b'"
    )
    yield refused(
        "Revolute", "order", lambda: lw.Revolute(lw.Body("a"), lw.Body("b"), "p"), "name", "Body('a'"
    )


def changes_of_what_is_fixed() -> Iterable[Entry]:
    run = lw.simulate(pair(), 0.01)
    table = lw.sweep(lambda a: a, {"a": [1.0]}, lambda a: a)
    contacts = lw.collide(BALL, BALL)
    for name, thing, word, *words in (
        ("Material", lw.Material(), "friction", "friction", "0.25", "another Material"),
        ("Material", lw.Material(), "frictoin", "did you mean 'friction'"),
        ("Inertia", lw.Inertia(1.0, (0, 0, 0), np.eye(3)), "mass", "another lw.Inertia"),
        ("State", run.final, "q", "model.state"),
        ("State", run.final, "qvel", "state.v"),
        ("Model", run.model, "gravity", "compile it again", "lw.carry"),
        ("Recording", run.report, "staus", "did you mean 'status'"),
        ("Contacts", contacts, "dpeth", "did you mean 'depth'"),
        ("ContactPoint", contacts[0], "depth", "cannot be set"),
        ("Recording", run, "foo", "Recording has no 'foo'"),
        ("sweep", table, "colums", "did you mean 'columns'"),
        ("sweep", table, "rows", "was computed"),
        ("Box", lw.Box(1, 1, 1), "x", "Box", "x", "make another"),
        ("Sphere", BALL, "foo", "Sphere has no 'foo'", "make another"),
        ("Frame", lw.Frame(), "position", "make another, lw.Frame(0.25, frame.rotation)"),
        ("Frame", lw.Frame(), "rotation", "make another, lw.Frame(frame.position, 0.25)"),
        ("planar", lw.planar.Frame(), "position", "make another, lw.planar.Frame("),
        ("Simulation", lw.Simulation(pair()), "q", "sim.reset(model.state(...))"),
        ("Simulation", lw.Simulation(pair()), "t", "sim.reset"),
        ("Simulation", lw.Simulation(pair()), "inputs", "sim.inputs['motor'] = ..."),
    ):
        yield refused(name, f"{word} = 0.25", lambda t=thing, w=word: setattr(t, w, 0.25), *words)
    yield refused(
        "State", "state['pin a'] = 1", lambda: run.final.__setitem__("pin a", 1), "model.state(...)"
    )


def keywords_of_methods() -> Iterable[Entry]:
    m = pair()
    run, sim, model = lw.simulate(m, 0.01), lw.Simulation(m), m.compile()
    zero = np.zeros(2)
    for name, call, wrong, *words in (
        ("Mechanism", m.compile, "cuts", "'cut'"),
        ("Mechanism", m.save, "indent", "'path'"),
        ("Mechanism", m.add, "density", "'thing'"),
        ("Body", m["a"].add, "materal", "'material'"),
        ("Model", lambda **o: model.jacobian(zero, "a", **o), "pont", "'point'"),
        ("Model", model.poses, "position", "poses has no option"),
        ("Model", model.state, "velocty", "state: unknown joint 'velocty'"),
        ("Recording", run.at, "time", "'t'"),
        ("Recording", run.save, "compress", "'path'"),
        ("Recording", run.to_dataframe, "columns", "to_dataframe has no option"),
        ("Simulation", sim.reset, "vv", "'v'"),
        ("Scene", lw.Scene().step, "time", "'dt'"),
        ("Forest", lambda **o: lw.Forest({"a": m}).simulate(1.0, **o), "dt", "here it is step="),
    ):
        yield refused(name, f"{wrong}=", lambda c=call, w=wrong: c(**{w: 1.0}), wrong, *words)
    yield refused("Model", "no v", lambda: model.velocities(zero), "'v'", "it takes (q, v, *")
    yield refused("Model", "no tau", lambda: model.forward_dynamics(zero, zero), "tau", "missing")
    yield refused("Body", "shape=", lambda: lw.Body("b", shape=BALL), "shapes follow the name")


def names_that_are_known() -> Iterable[Entry]:
    model = pair().compile()
    run, runs, sim = (
        lw.simulate(model, 0.01),
        lw.simulate(model, 0.01, q=np.zeros((2, 2))),
        lw.Simulation(model),
    )
    for name, thing in (
        ("Recording", run),
        ("Recordings", runs),
        ("Recording", run.at(0.005)),
        ("Simulation", sim),
        ("State", run.final),
    ):
        known = "pin a" in thing, "pin c" in thing
        yield right(name, "'pin a' in it", lambda k=known: k, lambda k: k == (True, False))
    yield refused("Recording", "for x in run", lambda: list(run), "run.time", "joint_names")
    yield refused("Simulation", "sim.a", lambda: sim.a, "sim['a']")
    yield refused("Simulation", "sim.render", lambda: sim.render(), "sim.recording.show()")


def laws() -> Iterable[Entry]:
    for law, *words in (
        (lambda t: 1.0, "law(t, q, v)"),
        (lambda t, q, v: -q[0], "law(t, q, v)", "numbers"),
        (lambda t, q, v: None, "'s'"),
        (lambda t, q, v: "1", "'s'"),
        (lambda t, q, v: 1 / 0, "'s'", "ZeroDivisionError"),
        (lambda t, q, v: q > 0, "'s'", "truth value"),
    ):
        yield refused(
            "Motor",
            f"{words}",
            lambda x=law: added(lambda a, b: lw.Motor("s", "pin a", x)).motion([0, 0], [0, 0]),
            *words,
        )
    yield refused(
        "Force",
        "of t",
        lambda: added(lambda a, b: lw.Force("s", a, lambda t: (1, 0, 0))).motion([0, 0], [0, 0]),
        "law(body, t)",
    )
    model = pair().compile()
    event = lw.Event("e", lambda t, q, v: q["pin a"] > 0)
    for quantity, *words in (
        (lambda t: t, "quantity(t, q, v)"),
        (lambda t, q, v: 1j, "complex"),
    ):
        watched = lw.Event("e", quantity)
        yield refused(
            "Event", f"{words}", lambda e=watched: lw.simulate(model, 0.1, events=[e]), "'e'", *words
        )
    spring = lambda **o: added(lambda a, b: lw.Spring("s", a, b, **o)).motion([0, 0], [0, 0])  # noqa: E731
    yield refused("Spring", "of two", lambda: spring(stiffness=lambda x, v: x), "stiffness(extension)")
    both = {"stiffness": lambda x, v: x, "damping": lambda v: v}
    yield refused("Spring", "both", lambda: spring(**both), "stiffness(extension) and damping(rate)")
    yield refused(
        "Gear", "ratio -2", lambda: added(lambda a, b: lw.Gear("g", "pin a", "pin b", -2.0)), "internal"
    )
    yield refused(
        "Sampled", "of a law", lambda: busy_motor(), "'motor' has a law of its own", "lw.Input('motor')"
    )
    yield refused(
        "Event", "a comparison", lambda: lw.simulate(model, 0.1, events=[event]), "'e'", "truth value"
    )


def results() -> Iterable[Entry]:
    m = pair()
    run = lw.simulate(m.compile(), 0.01)
    yield refused("Recording", "run.a joint", lambda: getattr(run, "pin a"), "run['pin a']")
    yield refused("Mechanism", "m.b", lambda: m.b, "mechanism['b']")
    yield refused("Recording", "joint.angle", lambda: run["pin a"].angle, "angle", "position")
    yield refused("Recording", "body.x", lambda: run["a"].x, "position")
    yield refused("Recording", "plot a list", lambda: run.plot(["pin a"]), "['pin a']", "one by one")
    yield refused("Recording", "plot a joint", lambda: run.plot(m["pin a"]), "one by one")
    for call, wrong, known in (
        (run.plot, "degress", "'degrees'"),
        (run.show, "prot", "'port'"),
        (run.snapshot, "sise", "'size'"),
        (lambda **o: run.save_video("film.gif", **o), "sped", "'speed'"),
        (lambda **o: run.save_html("page.html", **o), "trac", "'trace'"),
    ):
        yield refused("Recording", f"{wrong}=", lambda c=call, w=wrong: c(**{w: 1.0}), f"{wrong}=", known)
    yield refused("plot", "degress=", lambda: lw.plot([run], "pin a", degress=True), "'degrees'")
    yield refused("interp", "kindd=", lambda: lw.interp(0.5, [0, 1], [0, 1], kindd="cubic"), "'kind'")
    yield refused("Recording", "snapshot of 'x'", lambda: run.snapshot("x"), "snapshot: t 'x'", "seconds")
    many = lw.simulate(m, 0.01, q=np.zeros((2, 2)))
    yield refused("sound", "of a batch", lambda: lw.sound(many), "runs[0]")
    yield refused("Recording", "a page in .txt", lambda: run.save_html("page.txt"), ".html")
    yield refused("Mechanism", "ground moved", lambda: grounded(), "ground", "world")
    yield refused("State", "velocity=", lambda: m.compile().state(velocity={"pin a": 1.0}), "velocities=")
    yield refused("State", "a list", lambda: m.compile().state([0.1]), "names of joints")
    yield refused(
        "Model", "jacobian of a body", lambda: m.compile().jacobian(np.zeros(2), m["a"]), "jacobian", "'a'"
    )
    yield refused("Revolute", "renamed", lambda: changed(m["pin a"], "name", "x"), "name", "'x'")
    yield refused("Body", "in a list", lambda: lw.Body("b", [BALL], density=1.0), "one by one")
    yield refused("Spherical", "axis", lambda: hung(lw.Spherical, **HINGE), "axis")


def busy_motor() -> Any:
    """Simulate a controller that writes to a motor whose law is a number."""
    m = pair()
    m.add(lw.Motor("motor", "pin a", 3.0))
    m.add(lw.Sampled("controller", "motor", every=0.01, law=lambda t, q, v: 0.0))
    return lw.simulate(m, 0.1)


def grounded() -> Any:
    m = pair()
    m.ground.position = (1, 0, 0)
    return m.compile()


TABLES = (
    made_by_hand,
    words_of_others,
    too_few_and_too_many,
    changes_of_what_is_fixed,
    keywords_of_methods,
    names_that_are_known,
    laws,
    results,
)
