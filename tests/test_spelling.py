"""A misspelt keyword is answered with those that there are, by every public function and method."""

import inspect

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanic import Editor

# Functions of numbers, whose arguments are written in their order, and classes of what comes out.
NUMBERS = """
abs acos asin atan atan2 cos cosh deg degrees exp floor hypot log max min norm pow rotation_x rotation_y
rotation_z sign sin sinh sqrt tan tanh translation where action
"""
RESULTS = "ContactPoint Contacts Hit Hits KinematicRecording Model Recording Recordings Sound"
# What the algebra of formulas is made of, and what is handed to compiled loops.
INTERNAL = {
    "Frame": ["from_scalars", "local", "moved", "of", "switched", "twist", "turned", "turned_back"],
    "Model": ["forward_call", "inverse_call", "mass_call", "kernel", "kernel_of"],
    "Inertia": ["zero"],
    "Sphere": ["reach", "surface"],
}


def objects():
    mechanism = lw.examples.cart_pole()
    model = mechanism.compile()
    state = model.state(pin=0.1)
    run = lw.simulate(model, 0.1, state)
    runs = lw.simulate(model, 0.1, q=np.stack([state.q] * 2), v=np.stack([state.v] * 2))
    four_bar = lw.examples.four_bar()
    four_bar.add(lw.Driver("motor", next(iter(four_bar.joints)), lambda t: 6 * t))
    scene = lw.Scene()
    actor = scene.add(lw.examples.cart_pole())
    body = mechanism.bodies["pole"]
    kept = (mechanism, model, state, run, runs, scene, actor, body, body.inertia, run.at(0.05))
    return [
        *kept,
        *(lw.Simulation(model, state), lw.kinematics(four_bar, [0.0, 0.1]), Editor(lw.examples.cart_pole())),
        *(lw.Frame(), lw.Sphere(1.0), lw.Sphere(1.0).mesh(8), lw.Forest({"a": mechanism}), run["pole"]),
        *(
            run["pin"],
            runs["pole"],
            lw.Colliders(),
            lw.Positions(four_bar),
            model.specialize(),
            scene.group("g"),
        ),
    ]


def answer(callee):
    with pytest.raises((TypeError, lw.LinkworkError, ValueError)) as error:
        callee(zzqq=1)
    return str(error.value)


def takes_any(callee):
    return any(
        p.kind is p.VAR_KEYWORD and p.annotation is not inspect.Parameter.empty and "Any" in str(p.annotation)
        for p in inspect.signature(callee).parameters.values()
    )


def test_methods():
    asked = 0
    for thing in objects():
        kind = type(thing).__name__
        for word in dir(thing):
            if word.startswith("_") or word in INTERNAL.get(kind, ()):
                continue
            try:
                method = getattr(thing, word)
            except (AttributeError, lw.LinkworkError):
                continue  # what there is none of
            if not inspect.isroutine(method) or not inspect.signature(method).parameters:
                continue
            if takes_any(method):
                continue  # hands it on
            text = answer(method)
            assert "zzqq" in text, (kind, word, text)
            assert "unexpected keyword" not in text, (kind, word, text)
            asked += 1
    assert asked > 250


def test_functions():
    for word in lw.__all__:
        callee = getattr(lw, word)
        if not callable(callee) or word in (NUMBERS + RESULTS).split() or word.endswith("Error"):
            continue
        if inspect.isclass(callee) and inspect.isabstract(callee):
            continue
        text = answer(callee)
        assert "unexpected keyword" not in text, (word, text)


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics", "mass_matrix"])
def test_what_is_called_most_has_no_frame_around_it(name):
    """The answer must not cost where calls take a microsecond: the method is the plain function."""
    method = getattr(lw.Model, name)
    assert inspect.isfunction(method)
    assert not hasattr(method, "__wrapped__")
    model = lw.examples.cart_pole().compile()
    with pytest.raises(TypeError, match=r"has no option outt= .*; did you mean 'out'\?"):
        getattr(model, name)(model.q_drawn, outt=np.zeros(2))
    with pytest.raises(TypeError, match="has no option Q="):
        getattr(model, name)(Q=model.q_drawn)


def test_a_step_has_no_frame_around_it():
    assert not hasattr(lw.Simulation.step, "__wrapped__")
    sim = lw.Simulation(lw.examples.cart_pole())
    with pytest.raises(TypeError, match=r"step has no option dtt= \(0.1\); did you mean 'dt'\?"):
        sim.step(dtt=0.1)


class Sliding(lw.Joint):
    """What hands its other options on, and one that keeps them."""

    coordinates = 1

    def __init__(self, name, parent, child, *, pitch=1.0, **options):
        super().__init__(name, parent, child, **options)
        self.pitch = pitch

    def motion(self, q):
        return lw.translation(0, 0, self.pitch * q[0])


class Noted(lw.Load):
    """What keeps any other option."""

    def __init__(self, name, body, **others):
        super().__init__(name, body)
        self.others = others

    def act(self, t, body):
        pass


def test_a_class_of_ones_own_that_hands_its_options_on():
    body = lw.Body("body", lw.Sphere(1), density=1)
    with pytest.raises(TypeError, match=r"Sliding has no option dampin= \(2\); did you mean 'damping'\?"):
        Sliding("joint", lw.Body("other", lw.Sphere(1), density=1), body, dampin=2)
    assert Noted("note", body, dampin=2).others == {"dampin": 2}
