"""Wrong values of mechanisms, models, runs and motions."""

import functools
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
    Entry,
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


def driven() -> Any:
    m = lw.examples.four_bar()
    m.add(lw.Driver("motor", "A", lambda t: t))
    return m


def wholes() -> Iterable[Entry]:
    yield from each(
        "Mechanism", "gravity", [*NO_POINTS, (0, -9.81)], lambda x: lw.Mechanism("m", gravity=x), "gravity"
    )
    yield from each("Mechanism", "space", (1, None, "3d", [1]), lambda x: lw.Mechanism("m", space=x), "space")
    yield from each("Mechanism", "name", (1, None), lw.Mechanism, "Mechanism", "name")
    yield from each(
        "Mechanism",
        "add",
        (1.0, None, "bob", BALL, lw.Body),
        lambda x: lw.Mechanism("m").add(x),
        "'m'",
        "add",
    )
    for word, value in (
        ("bodies", {}),
        ("elements", []),
        ("space", "plane"),
        ("ground", None),
        ("gravty", (0, 0, 0)),
        ("joints", {}),
        ("simulate", 1),
    ):
        yield refused("Mechanism", f"{word} = ", lambda w=word, v=value: changed(pair(), w, v), word)
    yield right(
        "Mechanism",
        "gravity = ",
        lambda: changed(pair(), "gravity", (0, 0, -1)).compile().gravity,
        lambda g: g == (0, 0, -1),
    )
    yield refused("Mechanism", "joints[...] = ", lambda: pair().joints.__setitem__("c", 1), "__setitem__")
    yield refused("Mechanism", "m['pim']", lambda: pair()["pin c"], "'pin c'", "'pin a'")
    for word, answer in (
        ("simulate", "lw.simulate("),
        ("add_body", "add(lw.Body"),
        ("nq", "compile().nq"),
        ("links", "bodies"),
        ("jonts", "'joints'"),
    ):
        yield refused("Mechanism", f".{word}", lambda w=word: getattr(pair(), w), word, answer)
    yield refused("Mechanism", "gravty=", lambda: lw.Mechanism("m", gravty=(0, 0, 0)), "gravty", "'gravity'")
    yield from each("Mechanism", "compile", (1.0, "yes"), lambda x: pair().compile(floating=x), "floating")
    yield refused("Mechanism", "save", lambda: pair().save("x.txt"), ".json")
    for word, answer in (
        ("simulate", "lw.simulate("),
        ("dof", "nv"),
        ("fk", "poses"),
        ("mas_matrix", "'mass_matrix'"),
    ):
        yield refused("Model", f".{word}", lambda w=word: getattr(pair().compile(), w), word, answer)
    yield refused("Model", "gravity = ", lambda: changed(pair().compile(), "gravity", 0), "gravity")
    model, zero = pair().compile(), np.zeros(2)
    for word in ("q", "v", "tau"):
        for value in (
            ("1", "2"),
            (NAN, 0),
            (1.0,),
            np.zeros(3),
            (True, True),
            (1j, 0),
            None,
            np.array([DATE] * 2),
            1.0,
            (x for x in (1.0, 2.0)),
        ):
            given = {"q": zero, "v": zero, "tau": zero, word: value}
            yield refused(
                "Model",
                f"{word}={value!r:.30}",
                lambda g=given: model.forward_dynamics(**g),
                "forward_dynamics",
                word,
            )
    for value in (
        np.zeros(2, np.float32),
        np.zeros(2, int),
        [0, 0],
        np.zeros(4)[::2],
        np.broadcast_to(0.0, (2,)),
    ):
        yield right(
            "Model",
            f"q as {type(value).__name__}",
            lambda v=value: model.forward_dynamics(v, zero, zero),
            lambda a: a == model.forward_dynamics(zero, zero, zero),
        )
    many = np.zeros((3, 2))
    repeated = np.lib.stride_tricks.as_strided(np.zeros(2), (3, 2), (0, 8))
    for out in (
        repeated,
        np.zeros(2, np.float32),
        np.zeros((3, 1)),
        [0.0, 0.0],
        np.broadcast_to(0.0, (3, 2)),
    ):
        yield refused(
            "Model",
            f"out {type(out).__name__}",
            lambda o=out: model.forward_dynamics(many, many, many, out=o),
            "out",
        )
    yield refused("Model", "jacobian", lambda: model.jacobian(zero, "c"), "jacobian", "'c'")
    yield refused(
        "Model", "jacobian of a joint", lambda: model.jacobian(zero, "pin a"), "jacobian", "'pin a'"
    )
    yield from each(
        "State", "pin a", [*NO_NUMBERS[:-1], (1, 2)], lambda x: model.state({"pin a": x}), "'pin a'"
    )
    yield from each(
        "State", "t", [x for x in NO_NUMBERS if not isinstance(x, list)], lambda x: model.state(t=x), "t"
    )
    yield refused("State", "velocities", lambda: model.state(velocities=[1.0, 2.0]), "velocities")
    yield refused("State", "pim", lambda: model.state(pim=1.0), "'pim'")
    yield warned("State", "degrees", lambda: model.state({"pin a": 90}), "'pin a' 90", "degrees")
    yield refused("State", "qpos", lambda: model.state().qpos, "qpos", "state.q")
    yield refused("State", "tme=", lambda: lw.State(zero, zero, tme=1.0), "tme")
    yield refused("State", "q assigned", lambda: changed(model.state(), "q", zero), "q")


def runs() -> Iterable[Entry]:
    model = pair().compile()
    for word in ("accuracy", "step", "every", "max_step"):
        values = [x for x in (*NO_SIZES, "fast") if x is not None and not (word == "max_step" and x == INF)]
        yield from each(
            "simulate",
            word,
            values,
            lambda x, w=word: lw.simulate(model, 0.01, **{w: x}),
            f"simulate: {word}",
        )
    for what, together, *words in (
        ("steps chosen twice", {"step": 0.01, "accuracy": 1e-6}, "step 0.01", "accuracy 1e-06", "give one"),
        ("steps bounded twice", {"step": 0.01, "max_step": 0.02}, "step 0.01", "max_step 0.02", "give one"),
        ("accuracy above 1", {"accuracy": 2}, "accuracy 2", "less than 1"),
        ("accuracy in %", {"accuracy": 1.0}, "accuracy 1", "less than 1"),
    ):
        yield refused("simulate", what, lambda g=together: lw.simulate(model, 0.01, **g), *words)
        yield refused("Simulation", what, lambda g=together: lw.Simulation(model, **g), *words)
    yield refused(
        "simulate",
        "threads for one run",
        lambda: lw.simulate(model, 0.01, threads=2),
        "threads 2",
        "one run",
    )
    for every in (*NO_NUMBERS, 0.0, -1.0):
        yield refused(
            "Checkpoint", f"every {every!r}", lambda e=every: lw.Checkpoint("a.lwc", every=e), "every"
        )
    for file in (1.0, None, b"a"):
        yield refused("Checkpoint", f"file {file!r}", lambda f=file: lw.Checkpoint(f), "checkpoint")
    yield from each("simulate", "duration", (*NO_NUMBERS, -1.0), lambda x: lw.simulate(model, x), "duration")
    yield from each(
        "simulate", "model", (1.0, None, lw.Body("a")), lambda x: lw.simulate(x, 1.0), "simulate: model"
    )
    yield from each(
        "simulate", "state", (1.0, [0.0, 0.0], {"pin a": 0.1}), lambda x: lw.simulate(model, 1.0, x), "state"
    )
    yield from each(
        "simulate",
        "times",
        ([], [1.0, 0.5], ["0", "1"], [0.0, 2.0], [NAN], 1.0),
        lambda x: lw.simulate(model, 1.0, times=x),
        "times",
    )
    yield from each(
        "simulate", "method", ("rk5", 1.0, None), lambda x: lw.simulate(model, 1.0, method=x), "method"
    )
    yield from each(
        "simulate", "events", (1.0, [1.0], lw.Event), lambda x: lw.simulate(model, 1.0, events=x), "events"
    )
    yield from each(
        "simulate", "threads", (0, 1.5, "2", True), lambda x: lw.simulate(model, 1.0, threads=x), "threads"
    )
    yield from each(
        "simulate", "inputs", (1.0, {"u": 1.0}), lambda x: lw.simulate(model, 1.0, inputs=x), "input"
    )
    yield from each(
        "simulate",
        "q",
        (1.0, [[0.0]], [["0", "0"]], [[NAN, 0]]),
        lambda x: lw.simulate(model, 0.01, q=x),
        "simulate",
    )
    yield from each(
        "simulate", "check", (1, "yes", None), lambda x: lw.simulate(model, 0.01, check=x), "check"
    )
    yield refused(
        "simulate", "acuracy=", lambda: lw.simulate(model, 1.0, acuracy=1e-3), "acuracy", "'accuracy'"
    )
    yield refused("simulate", "nothing", lambda: lw.simulate(lw.Mechanism("empty"), 1.0), "'empty'", "move")
    limited = hung(lw.Revolute, **HINGE, limits=(-1, 1))
    yield warned(
        "simulate",
        "outside",
        lambda: lw.simulate(limited, 0.01, limited.state(joint=2.0)),
        "'joint' at 2",
        "(-1, 1)",
    )
    yield warned(
        "simulate", "one outside", lambda: lw.simulate(limited, 0.01, q=[[0.0], [2.0]]), "run 1", "at 2"
    )
    yield right("simulate", "going on in a stop", lambda: gone_on(limited), lambda run: run.status == "DONE")
    for quantity in (1.0, None, "height"):
        yield refused(
            "Event",
            f"quantity={quantity}",
            lambda x=quantity: lw.simulate(model, 0.01, events=[lw.Event("e", x)]),
            "event 'e'",
            "quantity",
        )
    for word, values in (
        ("direction", (2, "up", True, None)),
        ("action", ("bounce", 1.0, None)),
        ("of", (1.0, "pin c")),
    ):
        yield from each(
            "Event",
            word,
            values,
            lambda x, w=word: lw.simulate(model, 0.01, events=[lw.Event("e", lambda *a: a[1], **{w: x})]),
            "event 'e'",
        )
    yield from each(
        "Restoring",
        "stiffness",
        ("1", True, -1.0, NAN, {"X": 1.0}),
        lambda x: lw.simulate(lw.examples.four_bar(), 0.01, loops=lw.Restoring(x)),
        "stiffness",
    )
    yield refused("Restoring", "stifness=", lambda: lw.Restoring(stifness=1.0), "stifness", "'stiffness'")
    yield from each(
        "Tableau",
        "order",
        (0, 1.5, "4", None),
        lambda x: lw.Tableau(name="own", title="own", order=x, A=((),), b=(1.0,), c=(0.0,)),
        "'own'",
        "order",
    )
    yield from each(
        "Tableau",
        "b",
        (("1",), (0.5,), (NAN,), 1.0),
        lambda x: lw.Tableau(name="own", title="own", order=1, A=((),), b=x, c=(0.0,)),
        "own",
    )
    run = lw.simulate(model, 0.01)
    for word, answer in (
        ("t", "run.time"),
        ("success", "run.status"),
        ("to_csv", "save"),
        ("enrgy", "'energy'"),
    ):
        yield refused("Recording", f".{word}", lambda w=word: getattr(run, w), word, answer)
    yield refused("Recording", "run['pim']", lambda: run["pin c"], "'pin c'")
    yield refused("Recording", "save", lambda: run.save("run.txt"), ".lwr or .csv")
    yield refused("Recording", "at", lambda: run.at(9.0), "9")
    yield refused(
        "Recordings", "save", lambda: lw.simulate(model, 0.01, q=model.q_drawn).save("runs.txt"), ".lwr"
    )
    yield refused("Recordings", ".t", lambda: lw.simulate(model, 0.01, q=model.q_drawn).t, "runs.time")
    yield refused("plot", "a number", lambda: lw.plot(1.0), "plot")
    yield refused("plot", "a name", lambda: lw.plot([run], "pin c"), "'pin c'")
    yield right(
        "simulate",
        "a forest",
        lambda: lw.simulate(lw.Forest({"a": pair()}), 1.0),
        lambda runs: runs["a"].report.status == "DONE",
    )
    yield refused("simulate", "a file", lambda: lw.simulate("a.json", 1.0), "lw.load('a.json')")
    yield refused("Simulation", "a scene", lambda: lw.Simulation(lw.Scene()), "scene.run")
    yield refused("Simulation", "a state first", lambda: lw.Simulation(state, model), "before the state")
    yield refused("Forest", "state", lambda: lw.Forest({"a": pair()}).state([1, 2]), "members is [1, 2]")
    yield refused("Forest", ".a", lambda: lw.Forest({"a": pair()}).a, "use forest['a']")
    yield from each("Forest", "members", (1.0, None, [pair()], {"a": 1.0}), lw.Forest, "forest")
    shaped = {"a": pair()}
    yield from each(
        "Forest", "contact", (1.0, "all", True), lambda x: lw.Forest(shaped, contact=x), "forest: contact"
    )
    meet = lw.Contact("all")
    yield from each(
        "Forest", "at", (1.0, {"b": (0, 0, 0)}), lambda x: lw.Forest(shaped, contact=meet, at=x), "forest: at"
    )
    yield from each("merge", "members", (1.0, None, [pair()], {"a": 1.0}, {}), lw.merge, "merge")
    yield from each(
        "merge", "at", (1.0, {"b": (0, 0, 0)}), lambda x: lw.merge({"a": pair()}, at=x), "merge: at"
    )
    state = model.state()
    yield from each("carry", "model", (1.0, pair()), lambda x: lw.carry(x, state, pair()), "carry: model")
    yield from each("carry", "state", (1.0, None), lambda x: lw.carry(model, x, pair()), "carry: state")
    yield from each(
        "carry", "mechanism", (1.0, model), lambda x: lw.carry(model, state, x), "carry: mechanism"
    )
    other = lw.examples.chain(3).compile().state()
    flat = lw.examples.four_bar()
    yield refused(
        "carry", "a planar one", lambda: lw.carry(model, state, flat), "space='plane'", "'four-bar'"
    )
    yield from each(
        "sweep",
        "executor",
        (4, "all"),
        lambda x: lw.sweep(float, {"x": [1.0]}, float, executor=x),
        "executor",
    )
    yield refused("carry", "another's state", lambda: lw.carry(model, other, pair()), "a state of this model")
    yield from each("sweep", "build", (1.0, None), lambda x: lw.sweep(x, {"a": [1.0]}, float), "sweep: build")
    yield from each(
        "sweep", "measure", (1.0, None), lambda x: lw.sweep(float, {"a": [1.0]}, x), "sweep: measure"
    )
    yield from each(
        "sweep",
        "parameters",
        (1.0, {}, [1.0], {"a": 1.0}, {"a": [NAN]}),
        lambda x: lw.sweep(lambda a: a, x, float),
        "sweep",
    )
    yield refused(
        "sweep",
        "options",
        lambda: lw.sweep(lambda a: a, {"a": [1.0]}, float, options={"x": 1}),
        "options",
        "folder",
    )
    yield warned(
        "sweep",
        "a failing case",
        lambda: lw.sweep(lambda a: 1 / a, {"a": [0.0, 1.0]}, float),
        "a=0.0",
        "ZeroDivisionError",
        "line",
    )


def gone_on(model: Any) -> Any:
    first = lw.simulate(model, 0.4, model.state(joint=0.99, velocities={"joint": 3.0}), every=0.01)
    inside = int(np.argmax(first.q[:, 0]))
    assert first.q[inside, 0] > 1.0
    return lw.simulate(model, 0.01, lw.State(first.q[inside], first.v[inside]))


def controlled(**options: Any) -> Any:
    m = pair()
    m.add(lw.Motor("motor", "pin a"))
    m.add(lw.Sampled("s", **{"inputs": "motor", "every": 0.01, "law": lambda t, q, v: 0.0, **options}))
    return lw.simulate(m, 0.05)


def controllers() -> Iterable[Entry]:
    yield from each("Sampled", "every", NO_SIZES, lambda x: controlled(every=x), "'s'", "every")
    yield from each("Sampled", "law", (1.0, None, "u"), lambda x: controlled(law=x), "'s'", "law")
    yield from each("Sampled", "inputs", ("mtor", "pin a"), lambda x: controlled(inputs=x), "'s'", "'motor'")
    for answer in ("1", None, True, NAN, [1.0, 2.0]):
        yield refused("Sampled", f"gives {answer}", lambda x=answer: controlled(law=lambda *a: x), "'s' gave")
    yield refused("Sampled", "no arguments", lambda: controlled(law=lambda: 0.0), "'s' raised TypeError")
    yield refused("Sampled", "one argument", lambda: controlled(law=lambda s: 0.0), "law(t, q, v)")
    for word in ("rate", "period", "dt"):
        yield refused("Sampled", f"{word}=", lambda w=word: controlled(**{w: 1.0}), "every=")
    yield from each(
        "Sampled", "limits", (3, (3, -3), ("a", "b")), lambda x: controlled(limits=x), "'s'", "limits"
    )
    yield from each("Sampled", "offset", ("x", np.nan), lambda x: controlled(offset=x), "'s'", "offset")
    yield refused("Sampled", "evry=", lambda: controlled(evry=1.0), "evry", "'every'")


def kinematics() -> Iterable[Entry]:
    yield from each(
        "kinematics",
        "mechanism",
        (1.0, None, pair().compile()),
        lambda x: lw.kinematics(x, [0.0]),
        "mechanism",
    )
    yield from each(
        "kinematics",
        "times",
        ("abc", [], ["0"], [NAN], None, [True]),
        lambda x: lw.kinematics(driven(), x),
        "times",
    )
    yield from each(
        "kinematics",
        "start",
        ("abc", [0.0], [NAN] * 9),
        lambda x: lw.kinematics(driven(), [0.0], start=x),
        "start",
    )
    yield refused("kinematics", "strat=", lambda: lw.kinematics(driven(), [0.0], strat=1), "strat", "'start'")
    motion = lw.kinematics(driven(), [0.0, 0.1])
    yield refused("KinematicRecording", ".t", lambda: motion.t, "motion.time")
    yield refused("KinematicRecording", "save", lambda: motion.save("motion.txt"), ".lwr")
    yield from each(
        "sensitivity",
        "motion",
        (1.0, None),
        lambda x: lw.sensitivity(x, ("C", "on_parent", 0)),
        "sensitivity: motion",
    )
    yield refused("sensitivity", "a number", lambda: lw.sensitivity(motion, ("C", "length")), "sensitivity")
    yield from each("assembly_modes", "mechanism", (1.0, None), lw.assembly_modes, "mechanism")
    yield from each(
        "assembly_modes",
        "starts",
        (0, 1.5, "2", True),
        lambda x: lw.assembly_modes(driven(), starts=x),
        "starts",
    )
    yield refused(
        "Positions", "vary", lambda: lw.Positions(driven(), vary={"rod": ("C", "lenght", 0)}), "lenght"
    )
    yield refused("Positions", "values", lambda: lw.Positions(driven())(["a"]), "value")
    for image in ("disc", 1.0, np.zeros(3), np.full((3, 3), NAN)):
        yield refused("image_outline", f"{image!r:.20}", lambda x=image: lw.image_outline(x), "image")
    yield from each(
        "image_outline", "width", (0.0, -1.0, NAN, "1"), lambda x: lw.image_outline(np.eye(4), x), "width"
    )


def free_bodies() -> Iterable[Entry]:
    yield from each("Particle", "mass", NO_SIZES, lambda x: lw.Particle("p", x), "particle 'p': mass")
    yield from each(
        "Particle", "velocity", NO_POINTS, lambda x: lw.Particle("p", 1.0, velocity=x), "velocity"
    )
    yield refused("Particle", "frce = ", lambda: changed(lw.Particle("p", 1.0), "frce", 1), "frce", "'force'")
    yield from each(
        "RigidBody",
        "angular_velocity",
        NO_POINTS,
        lambda x: lw.RigidBody("r", BALL, mass=1.0, angular_velocity=x),
        "angular_velocity",
    )
    yield from each(
        "RigidBody", "space", ("3d", None, 1), lambda x: lw.RigidBody("r", BALL, mass=1.0, space=x), "space"
    )
    yield refused(
        "RigidBody", "mass = ", lambda: changed(lw.RigidBody("r", BALL, mass=1.0), "mass", 2.0), "mass"
    )
    yield refused(
        "RigidBody", "trque=", lambda: lw.RigidBody("r", BALL, mass=1.0, trque=1), "trque", "'torque'"
    )
    yield from each(
        "integrate",
        "bodies",
        (1.0, None, [], [1.0], lw.Body("b")),
        lambda x: lw.integrate(x, 0.1),
        "integrate",
    )
    yield from each(
        "integrate",
        "duration",
        (NAN, "1", None, -1.0),
        lambda x: lw.integrate(lw.Particle("p", 1.0), x),
        "duration",
    )
    yield from each(
        "integrate",
        "gravity",
        ("down", (0, -1), (NAN, 0, 0)),
        lambda x: lw.integrate(lw.Particle("p", 1.0), 0.1, gravity=x),
        "gravity",
    )


def stepping() -> Iterable[Entry]:
    m = pair()
    m.add(lw.Motor("motor", "pin a", lw.Input("u", 0.0)))
    model = m.compile()
    yield from each("Simulation", "dt", NO_SIZES, lambda x: lw.Simulation(model).step(x), "step")
    yield from each(
        "Simulation",
        "n",
        [x for x in NO_SIZES if x is not True],
        lambda x: lw.Simulation(model).step(0.01, x),
        "n ",
    )
    yield from each(
        "Simulation", "u", NO_NUMBERS, lambda x: lw.Simulation(model).inputs.__setitem__("u", x), "input 'u'"
    )
    beyond = functools.partial(pair, limits=(1.0, 2.0))
    yield warned(
        "Simulation", "start beyond limits", lambda: lw.Simulation(beyond()), "'pin a' at 0, limits (1, 2)"
    )
    yield warned(
        "Simulation",
        "reset beyond limits",
        lambda: lw.Simulation(pair(limits=(-1, 1))).reset(pair().compile().state(**{"pin a": 3.0})),
        "'pin a' at 3",
    )
    yield from each("Simulation", "state", (1.0, [0.0, 0.0]), lambda x: lw.Simulation(model, x), "state")
    yield from each("Simulation", "model", (1.0, None), lambda x: lw.Simulation(x), "model")
    yield from each(
        "Simulation", "record", ("all", -1, 1.5), lambda x: lw.Simulation(model, record=x), "record"
    )
    yield refused("Simulation", "acuracy=", lambda: lw.Simulation(model, acuracy=1.0), "'accuracy'")
    yield refused("Simulation", "input", lambda: lw.Simulation(model).inputs["w"], "'w'", "'u'")
    yield refused("Simulation", "q[0] = ", lambda: lw.Simulation(model).q.__setitem__(0, 1.0), "read-only")
    for word, value in (("q", [0.0, 0.0]), ("t", 1.0), ("inputs", {})):
        yield refused(
            "Simulation", f"{word} = ", lambda w=word, v=value: changed(lw.Simulation(model), w, v), word
        )
    for word, answer in (("time", "sim.t"), ("ctrl", "sim.inputs"), ("stp", "'step'")):
        yield refused("Simulation", f".{word}", lambda w=word: getattr(lw.Simulation(model), w), answer)
    driven_pair = pair()
    driven_pair.add(lw.Motor("motor", "pin a"))
    vary = {"a.mas": [1.0], "c.mass": [1.0], "a.mass": ["1"], "pin a.damping": 1.0}
    for name, values in vary.items():
        yield refused(
            "simulate", f"vary {name}", lambda n=name, v=values: lw.simulate(model, 0.01, vary={n: v}), name
        )
        yield refused(
            "Simulation", f"vary {name}", lambda n=name, v=values: lw.Simulation(model, vary={n: v}), name
        )
    wrong = {
        "a.mass": (np.ones((2, 2)), {1.0, 2.0}, [1.0, np.nan], [], 3.0, [True]),
        "pin a.limits": ([1.0, 2.0],),
        "a.position[3]": ([1.0],),
        "motor": ([1.0],),
        "motor.effort": ([1.0],),
    }
    for name, several in wrong.items():
        for values in several:
            yield refused(
                *("simulate", f"vary {name} {values}"),
                *(lambda n=name, v=values: lw.simulate(driven_pair, 0.01, vary={n: v}), name.split(".")[0]),
            )
    yield refused("simulate", "vary mass", lambda: lw.simulate(model, 0.01, vary={"mass": [1.0]}), "'a.mass'")
    yield refused(
        "simulate", "vary motor", lambda: lw.simulate(driven_pair, 0.01, vary={"motor": [1.0]}), "inputs="
    )
    yield refused("Simulation", "save csv", lambda: lw.Simulation(model).save("x.csv"), ".lwc")
    numbers = {"a.mass": [1.0, 2.0]}
    yield refused("Simulation", "vary", lambda: lw.Simulation(model, vary=[1.0]), "vary")
    yield refused(
        "Simulation", "q", lambda: lw.Simulation(model, q=np.zeros((3, 2)), vary=numbers), "q has shape"
    )
    for word, answer in (("timestep", "sim.step"), ("model", "model"), ("moter", "moter")):
        yield refused(
            "Simulation", f"{word} = ", lambda w=word: changed(lw.Simulation(model), w, 1.0), answer
        )
    yield refused(
        "Simulation", ".inputs.u =", lambda: changed(lw.Simulation(model).inputs, "u", 1.0), "['u']"
    )
    yield refused("simulate", "vary", lambda: lw.simulate(model, 0.01, vary=[1.0]), "vary")
    yield refused(
        "simulate", "vary", lambda: lw.simulate(model, 0.01, vary={"a.mass": [1.0, -1.0]}), "run 1", "mass"
    )


@functools.cache
def dropped() -> Any:
    return lw.simulate(lw.examples.bouncing_balls((0.5,)), 0.6, step=1 / 60)


def sounds() -> Iterable[Entry]:
    for word in ("position", "looks", "up"):
        yield from each(
            "Listener", word, NO_POINTS, lambda x, w=word: lw.Listener(**{w: x}), "listener", word
        )
    yield refused("Listener", "looks up", lambda: lw.Listener(looks=(0, 0, 1)), "looks", "two directions")
    yield refused("Listener", "body=1", lambda: lw.Listener(body=1), "body 1")
    yield refused("Listener", "postion=", lambda: lw.Listener(postion=(0, 0, 0)), "postion", "'position'")
    yield refused("Listener", "assigned", lambda: changed(lw.Listener(), "body", "head"), "body")
    yield from each(
        "sound", "rate", (*NO_NUMBERS, 44100.5, 10), lambda x: lw.sound(dropped(), rate=x), "rate"
    )
    yield from each("sound", "level", ("loud", NAN, INF), lambda x: lw.sound(dropped(), level=x), "level")
    yield from each("sound", "travel", (1, None, "yes"), lambda x: lw.sound(dropped(), travel=x), "travel")
    yield from each("sound", "materials", ("wood", 1, ["wood"]), lambda x: lw.sound(dropped(), materials=x))
    yield refused("sound", "no run", lambda: lw.sound(3.0), "sound", "3.0")
    yield refused("sound", "a mechanism", lambda: lw.sound(lw.examples.four_bar()), "lw.simulate")
    yield refused("sound", "a place of two", lambda: lw.sound(dropped(), (0, 1)), "3 numbers")
    yield refused("sound", "leval=", lambda: lw.sound(dropped(), leval=1), "leval", "'level'")
    yield refused("Sound", "assigned", lambda: changed(lw.sound(dropped()), "rate", 1), "rate")
    yield refused("Sound", "save('x.ogg')", lambda: lw.sound(dropped()).save("x.ogg"), ".wav")


TABLES = (wholes, runs, stepping, controllers, kinematics, free_bodies, sounds)
