"""Faults in a run: nothing silently wrong, nothing lost, nothing that hangs; arguments that cannot be."""

import inspect
import math
import os
import pickle
import pty
import re
import signal
import sys
import termios
import time
import traceback
import typing
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simulation.scenes import ADAPTIVE, METHODS, ball, bent, bouncing, digest, driven, how, kites, pendulum

import linkwork as lw
from linkwork.simulation import single_run
from linkwork.spelling import keywords

Array = np.ndarray

ATTEMPTS = 100_000  # steps after which a run without progress gives up


@dataclass(frozen=True)
class Fault:
    """A mechanism that cannot go on, and what must be said of it."""

    model: Callable[[], lw.Model]
    who: str  # who is to blame, one or the other
    words: str = ""  # regular expression
    velocities: dict[str, float] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    survivors: tuple[str, ...] = ()  # methods that may get through

    def run(self, method: str, **others: Any) -> Any:
        model = self.model()
        arguments = {**how(method), **self.options, **others}
        return lw.simulate(model, 1.0, bent(model, **self.velocities), **arguments)


def after(when: float, then: Callable[[], Any]) -> Callable[..., Any]:
    """Return a law in Python that does something from a time on."""

    def law(t: Any, q: Any, v: Any) -> Any:
        return then() if float(t) > when else 0.0

    return law


def boom() -> float:
    raise RuntimeError("boom")


def asleep(t: Any, q: Any, v: Any) -> float:
    time.sleep(1e-4 if float(q) < 9.0 else 0.0)
    return 0.0


class Liar(lw.Load):
    """Shows more numbers later than at first."""

    def act(self, t, joint):
        joint.push(0.1)
        return [1.0] if float(t) < 0.5 else [1.0, 2.0]


ALL = tuple(METHODS)
FAULTS = {
    "NaN torque": Fault(lambda: driven(lambda t, q, v: math.nan * q), "motor", "gives nan"),
    "infinite torque": Fault(lambda: driven(lambda t, q, v: 1e300 * 1e300 + q), "motor", "gives inf"),
    "NaN later": Fault(
        lambda: driven(lambda t, q, v: lw.where(t > 0.5, lw.sqrt(-1.0 - q * q), 0.0)), "motor", "no finite"
    ),
    "NaN of a called law": Fault(lambda: driven(after(0.5, lambda: math.nan)), "motor", "gives nan"),
    "law that raises": Fault(lambda: driven(after(0.0, boom)), "motor", "RuntimeError: boom"),
    "law that raises later": Fault(lambda: driven(after(0.5, boom)), "motor", "RuntimeError: boom"),
    "law of other length": Fault(lambda: driven(after(0.5, lambda: [1.0, 2.0])), "motor", "2 numbers"),
    "law that gives a text": Fault(
        lambda: driven(after(0.5, lambda: "much")), "motor", "let it return numbers"
    ),
    "load that shows more": Fault(lambda: pendulum(Liar("liar", "elbow")), "liar", "2 numbers"),
    "sleeping law": Fault(
        lambda: driven(asleep), "elbow", "more steps", options={"max_steps": 15, "step": None}
    ),
    "feedback 1e12": Fault(
        lambda: driven(lambda t, q, v: -1e12 * q - 1e7 * v),
        "motor",
        options={"max_steps": 1e6},
        survivors=("auto", "rodas"),
    ),
    "feedback the wrong way": Fault(lambda: driven(lambda t, q, v: 1e12 * (q + v)), "motor"),
    "1e9 rad/s": Fault(pendulum, "shoulder|elbow", velocities={"elbow": 1e9}),
    "mass ratio 1e12": Fault(lambda: pendulum(masses=(1e-6, 1e6)), "shoulder|elbow", survivors=ALL),
    "mass ratio 1e-12": Fault(lambda: pendulum(masses=(1e6, 1e-6)), "shoulder|elbow", survivors=ALL),
    "blow-up": Fault(lambda: driven(lambda t, q, v: 10 * v**3), "motor", velocities={"elbow": 2.0}),
    "singular law": Fault(
        lambda: driven(lambda t, q, v: -3 / (q - 1)), "motor", velocities={"elbow": 2.0}, survivors=("euler",)
    ),
    "stiffness 1e15": Fault(lambda: pendulum(stiffness=1e15), "elbow"),
    "overflow in a stop": Fault(
        lambda: pendulum(limits=(-0.1, 0.1), stop=lw.ExponentialStop(1.0, 1e5)), "elbow", "stop"
    ),
    "overflow in a law": Fault(lambda: driven(lambda t, q, v: lw.exp(2e3 * q)), "motor"),
    "step of 10 s": Fault(pendulum, "shoulder|elbow", velocities={"elbow": 3.0}, survivors=tuple(ADAPTIVE)),
}
FAULTS["step of 10 s"].options.update(step=10.0)


def outcome(fault: Fault, method: str, **others: Any) -> tuple[Any, list[str]]:
    """Run into a fault; return the error, or the run that got through, and the warnings."""
    options = {"step": None} if method in ADAPTIVE else {}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = fault.run(method, **options, **others)
        except lw.SimulationError as error:
            result = error
    report = (result if isinstance(result, lw.Recording) else result.run).report
    assert report.accepted + report.rejected <= min(ATTEMPTS, fault.options.get("max_steps", ATTEMPTS))
    return result, [str(warning.message) for warning in told]


CASES = [
    (name, method)
    for name in FAULTS
    for method in METHODS
    if name != "sleeping law" or method in ADAPTIVE  # as many fixed steps are refused
]


@pytest.mark.parametrize(("name", "method"), CASES)
def test_a_fault_ends_a_run_with_all_that_is_known(name, method):
    fault = FAULTS[name]
    error, told = outcome(fault, method)
    if isinstance(error, lw.Recording):
        assert method in fault.survivors
        assert np.isfinite([error.q, error.v]).all()
        assert error.energy_error < (1e-5 if method in ADAPTIVE else 0.1) or "does not balance" in told[0]
        return
    run, text = error.run, str(error)
    assert re.search(f"'({fault.who})'", text)
    assert re.search(fault.words, text)
    assert error.where in (*run.layout.joints, *run.layout.loads)
    assert text.startswith(f"at t = {error.time:.9g} s: ")
    assert error.hint
    assert text.endswith(error.hint)
    assert all(np.isfinite(array).all() for array in (run.time, run.q, run.v, run.energy, run.work))
    assert run.final.t == run.time[-1] == error.time
    assert (run.final.q == run.q[-1]).all()
    assert (run.final.v == run.v[-1]).all()
    still = lw.State(run.final.q, 0 * run.final.v, run.final.t)
    assert lw.simulate(pendulum(), 0.01, still).status == "DONE"
    returned, _ = outcome(fault, method, check=False)
    assert (returned.status, returned.message, returned.report.hint) == (
        error.status,
        run.message,
        error.hint,
    )
    assert digest(returned) == digest(run)


def test_a_fault_is_met_where_it_is():
    """A good state is good to the last: the run ends just before the law fails, and goes on when mended."""
    for method in ADAPTIVE:
        error, _ = outcome(FAULTS["law that raises later"], method)
        assert error.time == pytest.approx(0.5, abs=1e-12)
        assert isinstance(error.__cause__, RuntimeError)
        mended, whole = driven(lambda t, q, v: 0.0 * q), pendulum()
        end = lw.simulate(mended, 1.0 - error.run.final.t, error.run).final
        expected = lw.simulate(whole, 1.0, bent(whole), method=method).final
        np.testing.assert_allclose(end.q, expected.q, rtol=0, atol=1e-7)


def test_an_error_in_a_step_that_was_shortened_is_noted():
    calls = []

    def law(t: Any, q: Any, v: Any) -> float:
        calls.append(float(q))
        if len(calls) == 500:
            raise RuntimeError("once")
        return 0.0

    model = driven(law)
    with pytest.warns(UserWarning, match="'motor' raised RuntimeError: once"):
        run = lw.simulate(model, 2.0, bent(model))
    assert run.status == "DONE"
    assert "once" in run.report.warnings[0]


def test_errors_travel_between_processes():
    error, _ = outcome(FAULTS["NaN later"], "auto")
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.where, copy.time, copy.status) == (str(error), "motor", error.time, "NOT_FINITE")


def test_a_joint_that_moves_no_inertia_is_refused():
    m = lw.Mechanism("ghost")
    body = m.add(lw.Body("ghost", lw.Inertia(0.0, (0, 0, 0), np.zeros((3, 3)))))
    m.add(lw.Revolute("hinge", m.ground, body, axis=(0, 1, 0)))
    with pytest.raises(lw.ModelError, match="hinge"):
        lw.simulate(m, 1.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_start_that_is_not_finite_is_refused_by_name(bad):
    model = pendulum()
    state = bent(model)
    state.q[1] = bad
    with pytest.raises(ValueError, match=rf"simulate: the position of joint 'elbow' is {bad}"):
        lw.simulate(model, 1.0, state)
    q = np.tile(model.q_drawn, (5, 1))
    v = np.zeros((5, 2))
    v[3, 0] = bad
    with pytest.raises(ValueError, match=rf"the velocity of joint 'shoulder' of run 3 is {bad}"):
        lw.simulate(model, 1.0, q=q, v=v)


def test_quaternions_are_brought_to_length_one_or_refused():
    model = kites()
    state = model.state(velocities={"ball": (1.0, 2.0, 3.0)})
    expected = lw.simulate(model, 0.5, state)
    part = model.slices["ball"][0]
    for factor in (2.0, 1e-200, 1e200):
        scaled = lw.State(state.q.copy(), state.v)
        scaled.q[part] *= factor
        assert digest(lw.simulate(model, 0.5, scaled)) == digest(expected)
        assert scaled.q[part].max() == factor
    scaled.q[part] = 0.0
    with pytest.raises(ValueError, match=r"position\[0\] of joint 'ball' begins a quaternion of zeros"):
        lw.simulate(model, 0.5, scaled)


def test_samples_that_would_fill_the_memory_end_a_run(monkeypatch):
    monkeypatch.setattr(single_run, "most_numbers", lambda: 10_000)
    model = pendulum()
    with pytest.raises(lw.SimulationError, match=r"samples of .* steps take .* GB; give every=") as caught:
        lw.simulate(model, 1e4, bent(model))
    first = caught.value.run
    assert 10_000 < first.q.size / 2 * 6 < 100_000
    rest = lw.simulate(model, 1.0, first, every=0.5)
    monkeypatch.undo()
    whole = lw.simulate(model, rest.final.t, bent(model))
    assert (whole.final.q == rest.final.q).all()


# interruption


def test_an_interrupt_in_a_law_is_not_passed_over():
    for method in METHODS:
        calls = []

        def law(t: Any, q: Any, v: Any, calls: list[float] = calls) -> float:
            calls.append(float(q))
            if len(calls) == 300:
                raise KeyboardInterrupt
            return 0.0

        model = driven(law)
        run = lw.simulate(model, 30.0, bent(model), **how(method))
        assert run.status == "INTERRUPTED"
        assert 0.0 < run.final.t == run.time[-1] < 29.0
        assert np.isfinite(run.q).all()
    model = driven(after(0.5, sys.exit))
    with pytest.raises(SystemExit):
        lw.simulate(model, 1.0, bent(model))


def test_an_interrupt_in_an_action_ends_all_runs():
    model = pendulum()

    def stop(t: float, q: Any, v: Any) -> None:
        raise KeyboardInterrupt

    event = lw.Event("straight", lambda t, q, v: q["elbow"], action=stop)
    run = lw.simulate(model, 3.0, bent(model), events=[event])
    runs = lw.simulate(model, 3.0, q=np.tile(bent(model).q, (3, 1)), events=[event], check=False)
    for one in (run, *runs):
        assert one.status == "INTERRUPTED"
        assert one.report.events == ()
        assert 0.0 < one.final.t < 3.0


@pytest.fixture
def ctrl_c() -> Iterator[Callable[[], None]]:
    """Press Ctrl-C, once."""
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: None if pressed else (pressed.append(1), os.kill(os.getpid(), signal.SIGINT))[0]
    signal.signal(signal.SIGINT, before)


def test_an_interrupted_run_goes_on_bit_for_bit(ctrl_c):
    def law(t: Any, q: Any, v: Any) -> float:
        if float(t) > 0.5:
            ctrl_c()
        return -0.1 * float(q)

    model = driven(law)
    run = lw.simulate(model, 3.0, bent(model))
    assert run.status == "INTERRUPTED"
    assert 0.4 < run.final.t < 2.9
    rest, whole = lw.simulate(model, 3.0 - run.final.t, run), lw.simulate(model, 3.0, bent(model))
    assert rest.final.q.tobytes() == whole.final.q.tobytes()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def child(work: Callable[[], Any]) -> tuple[int, int]:
    """Start a process with a terminal of its own; return its number, and the terminal."""
    number, terminal = pty.fork()
    if number == 0:
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            termios.tcsetwinsize(2, (24, 80))
            with open(1, "w", closefd=False) as sys.stdout, open(2, "w", closefd=False) as sys.stderr:
                work()
        except BaseException:
            os.write(1, traceback.format_exc().encode())
        finally:
            os._exit(0)
    return number, terminal


def seen(number: int, terminal: int) -> tuple[str, float]:
    """Return all that a process shows until it ends, and the time its processors took [s]."""
    shown = b""
    try:
        while part := os.read(terminal, 65536):
            shown += part
    except OSError:  # the other end is closed
        pass
    used = os.wait4(number, 0)[2]
    os.close(terminal)
    return shown.decode(), used.ru_utime + used.ru_stime


def processor_time(number: int) -> float:
    """Return what a process that goes on has taken so far [s]."""
    fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def endless(model: lw.Model, **others: Any) -> None:
    """Run for minutes, unless told to stop."""
    run = lw.simulate(model, 2e5, every=100.0, **others)
    runs = run if hasattr(run, "finals") else [run]
    final = max(one.final.t for one in runs)
    good = all(np.isfinite(one.q).all() and (one.time <= one.final.t).all() for one in runs)
    print(f"{ ({one.status for one in runs}) } {0 < final < 2e5} {good}")


@pytest.mark.parametrize(
    "many", [0, 3, 40], ids=["one run", "batch in one thread", "batch in several threads"]
)
def test_ctrl_c_returns_what_was_computed(many):
    model = pendulum()
    start = bent(model)
    words = {"q": np.tile(start.q, (many, 1)), "threads": 2, "check": False} if many else {"state": start}
    number, terminal = child(lambda: endless(model, **words))
    shown = b""
    while b"double pendulum" not in shown:  # the progress bar
        shown += os.read(terminal, 65536)
    before = processor_time(number)
    os.kill(number, signal.SIGINT)
    rest, taken = seen(number, terminal)
    assert "{'INTERRUPTED'} True True" in rest
    assert taken - before < 1.0  # of the minutes that it would take


def test_a_progress_bar_is_for_terminals_and_the_patient(capfd):
    model = pendulum()
    assert "%" not in seen(*child(lambda: lw.simulate(model, 1.0, bent(model))))[0]
    lw.simulate(model, 3000.0, bent(model), every=100.0)
    assert capfd.readouterr() == ("", "")


def test_handlers_of_the_user_are_left_alone():
    caught = []
    before = signal.signal(signal.SIGINT, lambda *_: caught.append(1))
    try:
        model = driven(after(0.5, lambda: os.kill(os.getpid(), signal.SIGINT) or 0.0))
        run = lw.simulate(model, 0.6, bent(model), **how("rk4"))
    finally:
        signal.signal(signal.SIGINT, before)
    assert run.status == "DONE"
    assert caught


# arguments


def refused() -> dict[str, tuple[dict[str, Any], str]]:
    """Return arguments that cannot be, and the words that name them."""
    model, q = pendulum(), np.zeros((3, 2))
    state = bent(model)
    wrong = {"accuracy": (0.0, -1e-8, math.nan, math.inf, "fine", 1e-15, 1.0, 2, True, [1e-8])}
    wrong |= {"step": (0.0, -1.0, math.nan, math.inf, "small"), "every": (0, -1.0, math.inf, "often", 1e-300)}
    wrong |= {"max_step": (0.0, -1.0, math.nan, "long"), "max_steps": (0, -5, math.nan, None, "many")}
    wrong |= {"method": ("rkf", "", None, 4, ["auto"]), "events": (5, "impact", [5], bouncing())}
    wrong |= {"duration": (-1.0, math.nan, math.inf, "long", None, True, [1.0])}
    wrong |= {"state": (q[0], "start", (q[0], q[0])), "model": ("model", None, lw.Model)}
    wrong |= {
        "times": ([], [1.0, 0.5], [0.5, 0.5], [math.nan], [-1.0], [0.0, 11.0], 0.5, "now", [[0.0, 1.0]])
    }
    wrong |= {"threads": (0, -1, 1.5, "all", True), "check": ("no", None, 1)}
    wrong |= {"checkpoint": (5, b"file", "/")}
    wrong |= {"q": (np.zeros(3), np.zeros((3, 5)), np.zeros((2, 2, 2)), "left", [[0, 1j]], 0.0)}
    wrong |= {"v": (np.zeros(3), np.zeros((3, 5)), "fast")}
    cases = {f"{word} {value!r}": ({word: value}, word) for word, values in wrong.items() for value in values}
    return cases | {
        "times and every": ({"times": [1.0], "every": 1.0}, "times= and every="),
        "state and q": ({"state": state, "q": q}, "q= and v="),
        "checkpoint and q": ({"checkpoint": "here.lwc", "q": q}, "checkpoint"),
        "q and v of different lengths": ({"q": q, "v": np.zeros((4, 2))}, r"q .*\(3, 2\) .* v .*\(4, 2\)"),
        "step and accuracy": ({"step": 0.01, "accuracy": 1e-6}, "step 0.01 and accuracy 1e-06 exclude"),
        "threads for one run": ({"threads": 2}, "threads 2 for one run"),
        "states of several": ({"state": lw.State(q, q)}, "state is of 3 mechanisms; give q=state.q"),
        "runs of several": ({"state": lw.simulate(model, 0.1, q=q)}, "3 runs.*give one of runs.finals"),
        "rk4 without a step": ({"method": "rk4"}, "'rk4' .*step="),
        "steps of 1e-12 s": ({"step": 1e-12}, "1e[+]13 of step .*max_steps"),
        "a step beyond max_step": ({"step": 0.1, "max_step": 0.01}, "step 0.1 .*max_step 0.01"),
        "a duration that is lost in time": ({"state": model.state(t=1e20)}, "duration 10 .*state.t 1e[+]20"),
        "a state of another model": ({"state": kites().state()}, r"q has shape \(11,\); give \(2,\)"),
        "more samples than memory": ({"q": np.zeros((10_000, 2)), "every": 1e-6}, "take .* GB; give fewer"),
    }


REFUSED = refused()


@pytest.mark.parametrize("case", REFUSED)
def test_an_argument_that_cannot_be_is_named(case):
    arguments, words = REFUSED[case]
    with pytest.raises(ValueError, match=f"simulate: .*{words}"):
        lw.simulate(**{"model": pendulum(), "duration": 10.0, **arguments})


def accepted() -> dict[str, dict[str, Any]]:
    """Return for every word of the refused arguments values that can be."""
    model, q = pendulum(), np.full((3, 2), 0.1)
    good = {"accuracy": (None, 1e-3, 1e-8, np.float32(1e-6)), "step": (None, 0.01), "every": (None, 0.1, 1)}
    good |= {"max_step": (0.5, math.inf), "max_steps": (10**4, 1e5), "method": ("auto", "rodas")}
    good |= {"duration": (0.0, 1, 0.5), "state": (None, bent(model)), "model": (model, model.mechanism)}
    good |= {"times": (None, [0.5], np.linspace(0.0, 1.0, 3)), "threads": (1, 2), "check": (True, False)}
    good |= {"events": ((), [lw.Event("straight", lambda t, q, v: q["elbow"])]), "checkpoint": (None,)}
    good |= {"q": (q, q.tolist()), "v": (np.zeros((3, 2)),)}
    cases = {f"{word} {value!r}": {word: value} for word, values in good.items() for value in values}
    many = {"v", "threads"}
    return {case: {**({"q": q} if many & words.keys() else {}), **words} for case, words in cases.items()}


ACCEPTED = accepted()


@pytest.mark.parametrize("case", ACCEPTED)
def test_an_argument_that_can_be_is_accepted(case):
    run = lw.simulate(**{"model": pendulum(), "duration": 1.0, **ACCEPTED[case]})
    assert set(np.atleast_1d(run.status)) == {"DONE"}


def test_every_argument_that_is_refused_is_accepted_with_another_value():
    words = {word for arguments, _ in REFUSED.values() for word in arguments}
    assert words == {word for arguments in ACCEPTED.values() for word in arguments}


@pytest.mark.parametrize("every", [0.0, -1.0, math.nan, "often"])
def test_the_interval_of_a_checkpoint_is_checked(every):
    with pytest.raises(ValueError, match="checkpoint: every"):
        lw.Checkpoint("here.lwc", every=every)


def test_what_a_run_begins_with_determines_what_is_returned():
    """The forms that type checkers see: each returns what it promises, and together they have all options."""
    model, q = pendulum(), np.zeros((3, 2))
    starts: list[dict[str, Any]] = [{"state": bent(model)}, {"q": q, "v": q}, {"v": q}]
    starts += [{"vary": {"arm.mass": [1.0, 2.0]}}, {"model": lw.Forest({"a": model})}]
    forms = typing.get_overloads(inspect.unwrap(lw.simulate))
    for form, start in zip(forms, starts, strict=True):
        signature = inspect.signature(form)
        options = [each for each in signature.parameters.values() if each.kind is each.KEYWORD_ONLY]
        assert {each.name for each in options if each.default is each.empty} <= start.keys()
        assert start.keys() <= signature.parameters.keys()
        run = lw.simulate(**{"model": model, "duration": 0.1, **start})
        assert type(run) is signature.return_annotation
    assert set().union(*map(keywords, forms)) == set(keywords(inspect.unwrap(lw.simulate)))


def test_names_and_quantities_of_events_are_checked():
    model = ball()
    assert lw.simulate(model, 0.1, events=[bouncing()]).status == "DONE"
    for events, words in (
        ([bouncing(), bouncing()], "event 'impact': the name is used twice"),
        ([bouncing(action="bounce")], "event 'impact': action 'bounce'"),
        ([lw.Event("two", lambda t, q, v: [t, t])], "event 'two': its quantity is 2 numbers"),
        ([lw.Event("up", lambda t, q, v: t, direction=2)], "event 'up': direction 2"),
        ([lw.Event("none", None)], "event 'none': quantity None"),
        ([lw.Event("lost", lambda t, q, v: q["depth"])], "'lost'.*unknown joint 'depth'"),
    ):
        with pytest.raises(lw.ModelError, match=words):
            lw.simulate(model, 1.0, events=events)


def test_nothing_happens_in_no_time():
    model = pendulum()
    run = lw.simulate(model, 0.0, bent(model))
    assert (run.status, len(run), run.final.t) == ("DONE", 1, 0.0)
    runs = lw.simulate(model, 0.0, q=np.zeros((3, 2)))
    assert runs.status.tolist() == ["DONE"] * 3
    assert len(lw.simulate(model, 1.0, q=np.zeros((0, 2)))) == 0


def test_what_cannot_move_stays():
    m = lw.Mechanism("stone")
    m.add(lw.Fixed("foot", m.ground, m.add(lw.Body("stone", lw.Sphere(1.0), density=1.0))))
    assert lw.simulate(m, 1.0).status == "DONE"
    assert lw.simulate(m, 1.0, q=np.zeros((3, 0))).status.tolist() == ["DONE"] * 3
