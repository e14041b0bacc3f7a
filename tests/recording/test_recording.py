"""Recordings: arrays by name, derived once, the same from a file; tables and pictures with units."""

import dataclasses
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import FormatError, LinkworkError, SimulationError
from linkwork.recording import array_file
from linkwork.recording.batch import Recordings
from linkwork.recording.channels import LiveChannels, derivable
from linkwork.recording.load_recording import load_recording
from linkwork.recording.recording import Recording
from linkwork.recording.report import Report
from linkwork.recording.samples import Samples

Array = np.ndarray
REPORT = Report(
    "DONE",
    mechanism="zoo",
    method="rk4",
    accuracy=1e-8,
    accepted=50,
    rejected=3,
    evaluations=200,
    wall_time=0.25,
    compile_time=3.0,
    error_estimate=2e-9,
    python_laws=("wind",),
    warnings=("it is late",),
    events=((0.5, "bell"),),
    provenance={"linkwork": lw.__version__, "options": {"h_max": np.inf, "order": (4, np.int64(5))}},
)
FAILED = dataclasses.replace(REPORT, status="NOT_FINITE", message="'wind' gave nan", hint="mend 'wind'")


class Counted:
    """A model that counts how often each of its methods is taken."""

    def __init__(self, model: lw.Model) -> None:
        self.model, self.calls = model, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += 1
        return getattr(self.model, name)


def zoo(space: str = "space") -> lw.Model:
    """Return a model with joints of one and of several coordinates, a motor and a spring."""
    m = lw.Mechanism("zoo", space=space)  # type: ignore[arg-type]
    size = 3 if space == "space" else 2
    masses, places = [1.0, 2.0, 3.0, 1.5], [[0, 0, 1], [0, 2, 0], [3, 0, 0], [1, 1, 1]]
    arm, bar, kite = (
        m.add(lw.Body.from_points(name, masses, [place[:size] for place in places]))
        for name in ("arm", "bar.one", "kite")
    )
    m.add(lw.Revolute("pin", m.ground, arm, axis=(0, 1, 0) if size == 3 else None, damping=0.3))
    m.add(lw.Prismatic("rail", arm, bar, axis=(1, 0, 0)[:size]))
    m.add(lw.Free("air", m.ground, kite))
    m.add(lw.Motor("drive", "rail", lambda t, q, v: lw.sin(t) - 2.0 * v))
    m.add(lw.Spring("cord", arm, kite, on_parent=(1, 0, 0)[:size], stiffness=20.0, rest=0.1))
    return m.compile()


def motion(model: lw.Model, samples: int = 9, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return times, positions and velocities that a mechanism could have, though not one after the other."""
    rng = np.random.default_rng(seed)
    q = np.tile(model.q_drawn, (samples, 1))
    q[:, : min(5, model.nq)] += rng.uniform(-1.0, 1.0, (samples, min(5, model.nq)))
    return np.linspace(0.0, 2.0, samples), q, rng.normal(size=(samples, model.nv))


def recorded(model: Any, report: Report = REPORT, seed: int = 0, samples: int = 9) -> Recording:
    time, q, v = motion(model, samples, seed)
    memory = {"h": np.array(0.25), "mesh": np.array([1, 2]), "stiff": np.array([True])}
    final = lw.State(q[-1], v[-1], 2.0, memory)
    return Recording(LiveChannels(model), time, q, v, np.sin(time), report, final)


def batch(model: Any, runs: int = 4, samples: int = 9) -> Recordings:
    """Return a batch of which run 1 ended after 5 samples, and run 2 before the first."""
    singles = [recorded(model, REPORT, seed, samples) for seed in range(runs)]
    filled = np.array([samples, 5, 0, samples][:runs])
    reports = [REPORT if count == samples else FAILED for count in filled]
    return Recordings(
        LiveChannels(model),
        singles[0].time,
        np.array([run.q for run in singles]),
        np.array([run.v for run in singles]),
        np.array([run.work for run in singles]),
        np.array([2.0, 1.2, 0.0, 2.0][:runs]),
        filled,
        np.array([report.status for report in reports]),
        reports,
        [run.final for run in singles],
    )


def swung(damping: float) -> Recording:
    """Return a pendulum integrated in small steps, with the work of its damping."""
    m = lw.Mechanism("pendulum", space="plane")
    bob = m.add(lw.Body.from_points("bob", [1.0], [(0, -1)]))
    m.add(lw.Revolute("pin", m.ground, bob, damping=damping))
    model = m.compile()

    def rates(y: Array) -> Array:
        return np.array([y[1], model.motion(y[:1], y[1:2])[0], -damping * y[1] ** 2])

    h, y = 0.01, np.array([1.0, 0.0, 0.0])
    rows = [y]
    for _ in range(200):
        k1 = rates(y)
        k2 = rates(y + h / 2 * k1)
        k3 = rates(y + h / 2 * k2)
        k4 = rates(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        rows.append(y)
    q, v, work = np.array(rows).T
    final = lw.State(q[-1:], v[-1:], 2.0)
    times = h * np.arange(201)
    return Recording(LiveChannels(model), times, q[:, None], v[:, None], work, REPORT, final)


@pytest.fixture(scope="module")
def model() -> lw.Model:
    return zoo()


@pytest.fixture
def run(model: lw.Model) -> Recording:
    return recorded(model)


# arrays by name


def test_joints_have_one_number_or_several(model: lw.Model, run: Recording) -> None:
    q, v = model.slices["pin"]
    assert np.array_equal(run["pin"].position, run.q[:, q.start])
    assert np.array_equal(run["pin"].velocity, run.v[:, v.start])
    assert np.array_equal(run["pin"].acceleration, run.a[:, v.start])
    assert run["air"].position.shape == (9, 7)
    assert run["air"].velocity.shape == run["air"].acceleration.shape == (9, 6)
    assert len(run) == 9


def test_the_force_of_a_joint_is_that_of_its_damper_or_its_motor(run: Recording) -> None:
    assert np.allclose(run["pin"].force, -0.3 * run["pin"].velocity)
    assert np.allclose(run["rail"].force, run["drive"].force)
    assert np.allclose(run["drive"].force, np.sin(run.time) - 2.0 * run["rail"].velocity)


def test_everything_is_what_the_model_says_sample_by_sample(model: lw.Model, run: Recording) -> None:
    for k, (t, q, v) in enumerate(zip(run.time, run.q, run.v, strict=True)):
        a = model.motion(q, v, t)
        tau, external = model.loads(q, v, t)
        assert np.array_equal(run.a[k], a)
        assert np.array_equal(run["bar.one"].position[k], model.poses(q)["bar.one"].position)
        assert np.array_equal(run["bar.one"].pose.rotation[k], model.poses(q)["bar.one"].rotation)
        assert np.array_equal(run["kite"].velocity[k], model.velocities(q, v)["kite"].linear)
        assert np.array_equal(run["kite"].angular_velocity[k], model.velocities(q, v)["kite"].angular)
        accelerated = model.body_accelerations(q, v, a)["bar.one"]
        assert np.array_equal(run["bar.one"].acceleration[k], accelerated.linear)
        assert np.array_equal(run["bar.one"].angular_acceleration[k], accelerated.angular)
        reaction = model.reactions_at(q, v, a, external)["pin"]
        assert np.array_equal(run["pin"].reaction.force[k], reaction.force)
        assert np.array_equal(run["pin"].reaction.torque[k], reaction.torque)
        assert np.array_equal(run["air"].force[k], tau[model.slices["air"][1]])
        assert run.energy[k] == model.energy(q, v)


def test_in_the_plane_bodies_have_an_angle() -> None:
    run = recorded(zoo("plane"))
    assert np.allclose(run["arm"].angle, np.arctan2(np.sin(run.q[:, 0]), np.cos(run.q[:, 0])))
    assert np.array_equal(run["arm"].angle, run["arm"].pose.angle)
    assert run["arm"].angular_velocity.shape == (9,)
    assert run["arm"].rotation.shape == (9, 2, 2)
    assert run["pin"].reaction.torque.shape == (9,)


def test_in_space_the_angle_is_refused(run: Recording) -> None:
    with pytest.raises(AttributeError, match="use `rotation`"):
        _ = run["arm"].angle


@pytest.mark.parametrize(("name", "close"), [("pim", "'pin'"), ("kit", "'kite'"), ("chord", "'cord'")])
def test_an_unknown_name_lists_the_close_ones(run: Recording, name: str, close: str) -> None:
    with pytest.raises(KeyError, match=close):
        run[name]


def test_what_is_derived_is_computed_once_and_only_when_asked_for(model: lw.Model) -> None:
    counted = Counted(model)
    run = recorded(counted)
    assert not set(counted.calls) & {"motion", "loads", "poses", "kinetic_energy"}
    for _ in range(3):
        _ = (
            run["pin"].reaction,
            run["pin"].force,
            run["pin"].acceleration,
            run["arm"].acceleration,
            run.energy,
        )
    once = (
        "motion",
        "loads",
        "reactions_in_motion",
        "body_accelerations",
        "kinetic_energy",
        "potential_energy",
    )
    assert {name: counted.calls[name] for name in once} == dict.fromkeys(once, 1)


# energy and summary


def test_a_pendulum_without_damping_keeps_its_energy() -> None:
    run = swung(damping=0.0)
    assert np.ptp(run.potential_energy) > 1.0
    assert run.energy_error < 1e-8


def test_what_damping_takes_is_its_work() -> None:
    run = swung(damping=0.2)
    assert np.ptp(run.energy) > 0.5
    assert run.energy_error < 1e-8
    assert np.abs(run.energy_balance).max() < 1e-7


def test_wrong_work_is_an_energy_error() -> None:
    run = swung(damping=0.2)
    wrong = Recording(run._channels, run.time, run.q, run.v, 0.99 * run.work, REPORT, run.final)
    assert 1e-4 < wrong.energy_error < 1e-1


def test_a_run_stays_what_it_is(run: Recording) -> None:
    angle, place = run["pin"].position, run[run.layout.bodies[0]].position
    for array in (angle, place, run.time, run.q, run.v, run.a, run.work, run["pin"].force, run.q[0]):
        with pytest.raises(ValueError, match="read-only"):
            array *= 57.0
    assert np.array_equal(57.0 * angle, 57.0 * run["pin"].position)


def with_positions(run: Recording, q: np.ndarray) -> Recording:
    return Recording(run._channels, run.time, q, run.v, run.work, run.report, run.final)


def test_where_nothing_happens_there_is_no_error() -> None:
    run = swung(damping=0.0)
    still = Recording(
        run._channels, run.time[:2], 0 * run.q[:2], 0 * run.v[:2], 0 * run.work[:2], REPORT, run.final
    )
    assert still.energy_error == 0.0


def test_the_summary_tells_how_it_went(run: Recording) -> None:
    text = run.summary()
    for words in (
        "zoo: done",
        "0 to 2 s, 9 samples",
        "50 accepted, 3 rejected, 200 evaluations",
        "0.25 s (8 times real time), after 3 s of compiling, which is kept",
        "rk4, accuracy 1e-08",
        "error estimate 2e-09",
        "energy error",
        "wind (slower)",
        "it is late",
        "bell at 0.5 s",
    ):
        assert words in text
    assert repr(run) == "<Recording 'zoo': done, 0 to 2 s, 9 samples>"
    assert (run.status, run.message) == ("DONE", "")


def test_the_summary_of_a_failed_run_says_why(model: lw.Model) -> None:
    run = recorded(model, FAILED)
    assert run.summary().splitlines()[:3] == [
        "zoo: not finite",
        "  failed       'wind' gave nan",
        "  failed       mend 'wind'",
    ]


# tables and pictures


def test_a_dataframe_has_a_column_per_number(run: Recording) -> None:
    frame = run.to_dataframe()
    assert frame.index.name == "time"
    assert np.array_equal(frame.index, run.time)
    assert np.array_equal(frame["pin.position"], run["pin"].position)
    assert np.array_equal(frame["air.position[4]"], run["air"].position[:, 4])
    assert np.array_equal(frame["cord.force"], run["cord"].force)
    assert np.array_equal(frame["energy"], run.energy)
    assert list(run.to_dataframe("pin", "bar.one.velocity")) == [
        "pin.position",
        *(f"bar.one.velocity[{k}]" for k in range(3)),
    ]


def test_a_dataset_has_units(run: Recording) -> None:
    names = (
        "pin",
        "rail.force",
        "air",
        "air.velocity",
        "pin.reaction",
        "arm.rotation",
        "arm.angular_velocity",
    )
    data = run.to_xarray(*names, "energy")
    units = {name: array.attrs["units"] for name, array in data.items()}
    assert units["pin.position"] == "rad"
    assert units["rail.force"] == "N"
    assert [units[f"air.position[{k}]"] for k in range(7)] == ["m"] * 3 + ["1"] * 4
    assert [units[f"air.velocity[{k}]"] for k in range(6)] == ["rad/s"] * 3 + ["m/s"] * 3
    assert (units["pin.reaction.torque[0]"], units["pin.reaction.force[2]"]) == ("N m", "N")
    assert (units["arm.rotation[0, 1]"], units["arm.angular_velocity[0]"]) == ("1", "rad/s")
    assert units["energy"] == "J"
    assert np.array_equal(data["time"], run.time)


def test_positions_of_a_free_body_in_the_plane_have_their_own_units() -> None:
    layout = recorded(zoo("plane")).layout
    assert layout.units("air", "position") == ("m", "m", "rad")
    assert layout.units("air", "velocity") == ("rad/s", "m/s", "m/s")


def test_a_plot_has_a_panel_per_unit_with_units_on_its_axis(run: Recording) -> None:
    figure = run.plot("pin", "rail", "arm.velocity", "energy")
    words = [axis.get_ylabel() for axis in figure.axes]
    assert words == ["pin: position [rad]", "rail: position [m]", "velocity [m/s]", "energy [J]"]
    assert figure.axes[-1].get_xlabel() == "time [s]"
    assert [text.get_text() for text in figure.axes[2].get_legend().get_texts()] == [
        "arm x",
        "arm y",
        "arm z",
    ]
    assert np.array_equal(figure.axes[0].lines[0].get_ydata(), run["pin"].position)


def test_a_plot_without_names_shows_the_positions_of_the_joints(run: Recording) -> None:
    figure = run.plot()
    assert sum(len(axis.lines) for axis in figure.axes) == 9
    figure.canvas.draw()


def test_a_plot_of_many_joints_shows_some_and_says_so() -> None:
    m = lw.Mechanism("chain")
    below = m.ground
    for k in range(20):
        link = m.add(lw.Body.from_points(f"link{k}", [1.0, 1.0], [(0, 0, 1), (1, 0, 0)]))
        m.add(lw.Revolute(f"_hinge${k}$", below, link, axis=(0, 1, 0)))
        below = link
    figure = recorded(m.compile()).plot()
    assert len(figure.axes[0].lines) == 12
    assert "12 of 20" in figure.axes[0].get_title(loc="left")
    assert len(figure.axes[0].get_legend().get_texts()) == 12
    figure.canvas.draw()


@pytest.mark.parametrize(
    "name",
    ["pin.spin", "nobody", "pin.reaction.spin", "energy.total", "arm.angle", "arm.torque", "cord.reaction"],
)
def test_what_cannot_be_plotted_is_named(run: Recording, name: str) -> None:
    with pytest.raises(KeyError, match="unknown"):
        run.plot(name)


@pytest.mark.parametrize(
    ("package", "call", "extra"),
    [
        ("matplotlib", "plot", "plot"),
        ("pandas", "to_dataframe", "export"),
        ("xarray", "to_xarray", "export"),
    ],
)
def test_a_missing_package_is_named(
    run: Recording, monkeypatch: pytest.MonkeyPatch, package: str, call: str, extra: str
) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(LinkworkError, match=rf"{package}; pip install linkwork\[{extra}\]"):
        getattr(run, call)()


def test_the_notebook_shows_a_table_and_a_picture_and_trusts_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    evil = "<img src=x onerror=alert(1)>"
    m = lw.Mechanism(evil)
    body = m.add(lw.Body.from_points(f"{evil} body", [1.0], [(1, 0, 0)]))
    m.add(lw.Revolute(evil, m.ground, body, axis=(0, 1, 0)))
    report = dataclasses.replace(FAILED, mechanism=evil, message=evil, warnings=(evil,))
    html = recorded(m.compile(), report)._repr_html_()
    assert "<img" not in html
    assert "not finite" in html
    root = ElementTree.fromstring(html)
    assert len(root.findall(".//{http://www.w3.org/2000/svg}path")) == 2


def test_the_small_picture_survives_numbers_that_are_not_finite_or_huge(run: Recording) -> None:
    q = run.q.copy()
    q[2:4, 0] = np.nan
    q[5, 1:3] = 1e308, -1e308
    q[:, 3] = np.inf
    html = with_positions(run, q)._repr_html_()
    assert not re.search(r'd="[^"]*(nan|inf)', html)
    assert html.count("M", html.index("<svg")) > 9


def test_the_small_picture_of_a_long_run_is_small_and_keeps_its_peaks(model: lw.Model) -> None:
    run = recorded(model, samples=50_000)
    q = np.tile(model.q_drawn, (50_000, 1))
    q[31_234, 0] = 7.0
    q[31_235:31_300, 1] = np.nan
    html = with_positions(run, q)._repr_html_()
    assert len(html) < 300_000
    assert ">7<" in html
    assert re.search(r'd="[^"]*L\d+\.\d 22\.0L', html)  # the top of the first panel


# files


def same(a: Samples, b: Samples) -> None:
    for name in ("time", "q", "v", "work"):
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes()
    for name in derivable(a.layout):
        assert a.derived(name).tobytes() == b.derived(name).tobytes()
    assert a.layout == b.layout


def same_state(a: lw.State, b: lw.State) -> None:
    assert (a.q.tobytes(), a.v.tobytes(), a.t) == (b.q.tobytes(), b.v.tobytes(), b.t)
    assert a.memory is not None
    assert b.memory is not None
    assert list(a.memory) == list(b.memory)
    for name, array in a.memory.items():
        assert b.memory[name].dtype == array.dtype
        assert b.memory[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("space", ["space", "plane"])
def test_a_saved_run_is_loaded_bit_for_bit(tmp_path: Path, space: str) -> None:
    run = recorded(zoo(space), FAILED)
    run.save(tmp_path / "run.lwr")
    again = load_recording(tmp_path / "run.lwr")
    assert isinstance(again, Recording)
    same(run, again)
    same_state(run.final, again.final)
    assert again.summary() == run.summary()
    assert np.array_equal(again["kite"].pose.position, run["kite"].pose.position)
    assert again.report.events == run.report.events
    assert again.report.provenance["options"] == {"h_max": "inf", "order": [4, 5]}
    assert again._repr_html_() == run._repr_html_()
    again.save(tmp_path / "again.lwr")
    assert (tmp_path / "run.lwr").read_bytes() == (tmp_path / "again.lwr").read_bytes()


def test_a_final_state_without_memory_has_none_after_loading(tmp_path: Path) -> None:
    swung(0.0).save(tmp_path / "run.lwr")
    loaded = load_recording(tmp_path / "run.lwr")
    assert isinstance(loaded, Recording)
    assert loaded.final.memory is None


def test_what_cannot_be_derived_does_not_prevent_saving(tmp_path: Path, model: lw.Model) -> None:
    class Broken(Counted):
        def motion(self, *_: object, **__: object) -> Array:
            raise ZeroDivisionError("in the law of 'wind'")

    run = recorded(Broken(model), FAILED)
    run.save(tmp_path / "run.lwr")
    loaded = load_recording(tmp_path / "run.lwr")
    assert np.array_equal(loaded.q, run.q)
    assert np.array_equal(loaded.energy, run.energy)
    with pytest.raises(SimulationError, match=r"accelerations.*ZeroDivisionError: in the law of 'wind'"):
        _ = loaded.a


def test_files_that_hold_something_else_are_refused(tmp_path: Path, run: Recording) -> None:
    path = tmp_path / "run.lwr"
    run.save(path)
    header, arrays = array_file.read(path)
    array_file.write(path, header, arrays)
    assert (load_recording(path).q == run.q).all()  # unchanged it is accepted
    wrong: list[tuple[dict[str, Any], dict[str, Array]]] = [
        (header | {"kind": "scene"}, arrays),
        ({key: value for key, value in header.items() if key != "layout"}, arrays),
        (header | {"layout": header["layout"] | {"space": "hyperspace"}}, arrays),
        (header | {"layout": header["layout"] | {"joints": [["pin", 0, 99, 0, 1]]}}, arrays),
        (header | {"layout": 5}, arrays),
        (header | {"report": header["report"] | {"warnings": 5}}, arrays),
        (header | {"report": header["report"] | {"status": None}}, arrays),
        (header | {"memory": ["absent"]}, arrays),
        (header, {name: array for name, array in arrays.items() if name != "poses"}),
        (header, arrays | {"q": arrays["q"][:, 1:]}),
        (header, arrays | {"v": arrays["v"][1:]}),
        (header, arrays | {"time": arrays["time"][:, None]}),
        (header, arrays | {"load/cord": arrays["load/cord"][1:]}),
    ]
    for changed in wrong:
        array_file.write(path, *changed)
        with pytest.raises(FormatError, match=r"run\.lwr: "):
            load_recording(path)


# batches


def test_a_batch_has_all_runs_in_one_array_and_each_by_itself(model: lw.Model) -> None:
    runs = batch(model)
    assert len(runs) == 4
    assert runs["pin"].position.shape == (4, 9)
    assert runs["air"].velocity.shape == (4, 9, 6)
    assert runs["arm"].position.shape == (4, 9, 3)
    for k, run in enumerate(runs):
        assert len(run) == runs.filled[k]
        assert np.array_equal(run["pin"].acceleration, runs["pin"].acceleration[k, : len(run)])
        assert np.array_equal(run["arm"].pose.position, runs["arm"].position[k, : len(run)])
    assert len(runs[-1]) == 9
    with pytest.raises(IndexError):
        runs[4]


def test_after_the_end_of_a_run_everything_is_nan(model: lw.Model) -> None:
    runs = batch(model)
    for array in (runs.q, runs.v, runs.a, runs.work, runs.energy, runs["arm"].position, runs["cord"].force):
        assert np.isfinite(array[[0, 3]]).all()
        assert np.isfinite(array[1, :5]).all()
        assert np.isnan(array[1, 5:]).all()
        assert np.isnan(array[2]).all()


def test_a_run_without_samples_has_a_summary_and_a_picture_all_the_same(model: lw.Model) -> None:
    run = batch(model)[2]
    assert "0 samples" in run.summary()
    assert "<table" in run._repr_html_()
    assert len(run.to_dataframe("pin", "arm")) == 0


def test_a_batch_tells_which_runs_failed(model: lw.Model) -> None:
    runs = batch(model)
    assert runs.status.tolist() == ["DONE", "NOT_FINITE", "NOT_FINITE", "DONE"]
    assert runs.failed.tolist() == [1, 2]
    assert "run 1 failed at 1.2 s: 'wind' gave nan" in runs.summary()
    assert repr(runs) == "<Recordings 'zoo': 4 runs, 2 done, 2 not finite>"


def test_a_saved_batch_is_loaded_bit_for_bit(tmp_path: Path, model: lw.Model) -> None:
    runs = batch(model)
    runs.save(tmp_path / "runs.lwr")
    again = load_recording(tmp_path / "runs.lwr")
    assert isinstance(again, Recordings)
    same(runs, again)
    assert again.summary() == runs.summary()
    assert again.ends.tolist() == runs.ends.tolist()
    for a, b in zip(runs, again, strict=True):
        same(a, b)
        same_state(a.final, b.final)
        assert a.report.status == b.report.status


def test_a_batch_with_too_few_ends_is_refused(tmp_path: Path, model: lw.Model) -> None:
    batch(model).save(tmp_path / "runs.lwr")
    header, arrays = array_file.read(tmp_path / "runs.lwr")
    for changed in ({"ends": arrays["ends"][1:]}, {"filled": arrays["filled"] + 1}):
        array_file.write(tmp_path / "runs.lwr", header, arrays | changed)
        with pytest.raises(FormatError, match=r"runs\.lwr: "):
            load_recording(tmp_path / "runs.lwr")


def test_a_batch_becomes_a_dataset_over_runs_and_time(model: lw.Model) -> None:
    data = batch(model).to_xarray("pin", "energy")
    assert dict(data.sizes) == {"run": 4, "time": 9}


def test_a_report_counts_what_may_be_thousands():
    report = Report(
        "DONE", mechanism="wall", events=tuple((0.1 * k, "floor hits brick") for k in range(1000))
    )
    assert repr(report) == "Report(status='DONE', mechanism='wall', <1000 events>)"
    assert repr(Report("DONE", events=((0.5, "lands"),))) == "Report(status='DONE', events=((0.5, 'lands'),))"
