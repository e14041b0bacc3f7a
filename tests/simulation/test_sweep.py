"""Sweeps: one row per case, the same from any executor, and nothing lost when something dies."""

import functools
import io
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.simulation.progress import Progress
from linkwork.simulation.sweep import Table, sweep

SOURCE = Path(__file__).resolve().parents[2] / "src"


def pendulum(length: float, mass: float) -> lw.Model:
    m = lw.Mechanism("pendulum", space="plane")
    bob = m.add(lw.Body.from_points("bob", [mass], [(0.0, -length)]))
    m.add(lw.Revolute("pin", m.ground, bob))
    return m.compile()


def period(model: lw.Model) -> float:
    """Return the period of small swings, from the stiffness of gravity and the mass matrix."""
    angle = 1e-6
    stiffness = model.gravity_forces(np.array([angle]))[0] / angle
    return 2.0 * math.pi * math.sqrt(model.mass_matrix(np.zeros(1))[0, 0] / stiffness)


SWEPT = {"length": np.linspace(0.5, 2.0, 4), "mass": [1.0, 2.0]}


def pair(a: Any, b: Any) -> tuple[Any, Any]:
    return a, b


def both(built: tuple[float, float]) -> dict[str, Any]:
    a, b = built
    return {"sum": a + b, "powers": [a**k for k in range(3)]}


class Stubborn(Exception):
    """An exception that can neither be sent nor printed."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(first)
        self.law = lambda: second

    def __str__(self) -> str:
        raise RuntimeError("no words")


def fails_at_seven(built: tuple[int, int]) -> float:
    if built[0] == 7:
        raise Stubborn(1, 2)
    return float(built[0]) ** 0.5


def dies_at_seven(a: int) -> int:
    if a == 7:
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGKILL)
    return a


def double(a: int) -> int:
    return 2 * a


def with_a_bar(a: int) -> int:
    with Progress("inner") as progress:
        progress.update(0.5)
    return a


def slowly(a: int) -> float:
    time.sleep(0.01)
    return a + 0.5


def failing(*args: Any, **options: Any) -> Table:
    """Sweep where some cases fail, of which a warning says how many."""
    with pytest.warns(UserWarning, match=r"sweep: \d+ of \d+ cases failed, the first is"):
        return sweep(*args, **options)


# the table


def test_all_combinations_with_the_last_parameter_fastest() -> None:
    table = sweep(pendulum, SWEPT, period)
    assert table.columns == ("length", "mass", "period", "status", "message")
    assert table["length"].tolist() == [0.5, 0.5, 1.0, 1.0, 1.5, 1.5, 2.0, 2.0]
    assert table["mass"].tolist() == [1.0, 2.0] * 4
    assert np.allclose(table["period"], 2.0 * np.pi * np.sqrt(table["length"] / 9.81))
    assert set(table["status"]) == {"done"}
    assert len(table) == 8
    assert table.failed == []


def test_a_list_of_cases_is_taken_as_it_is() -> None:
    table = sweep(pair, [{"a": 1, "b": 5}, {"a": 2, "b": 3}], both)
    assert table["sum"].tolist() == [6.0, 5.0]
    assert table["powers[2]"].tolist() == [1.0, 4.0]
    assert table.rows[1] == {
        "a": 2,
        "b": 3,
        "sum": 5.0,
        "powers[0]": 1.0,
        "powers[1]": 2.0,
        "powers[2]": 4.0,
        "status": "done",
        "message": "",
    }


def test_parameters_may_be_texts_and_vectors() -> None:
    table = sweep(pair, {"a": ["x", "yy"], "b": np.eye(2)}, lambda built: len(built[0]) + built[1][0])
    assert table["value"].tolist() == [2.0, 1.0, 3.0, 2.0]
    assert table.rows[0]["b"] == (1.0, 0.0)


def test_one_bad_case_of_a_thousand_costs_one_row() -> None:
    table = failing(pair, {"a": range(1000), "b": [0]}, fails_at_seven)
    assert len(table) == 1000
    assert [row["a"] for row in table.failed] == [7]
    said = "measure: Stubborn: which cannot say why (test_sweep.py, line"
    assert table.failed[0]["message"].startswith(said)
    assert np.isnan(table["fails_at_seven"][7])
    assert np.isfinite(np.delete(table["fails_at_seven"], 7)).all()


def test_the_stage_that_failed_is_named() -> None:
    def build(a: int) -> int:
        if a == 2:
            sys.exit("enough")
        return 10 // a

    table = failing(build, {"a": [0, 1, 2]}, lambda built: {"x": built})
    first, second, third = (row["message"] for row in table.rows)
    assert re.fullmatch(r"build: ZeroDivisionError: integer .* by zero \(test_sweep.py, line \d+\)", first)
    assert second == ""
    assert re.fullmatch(r"build: SystemExit: enough \(test_sweep.py, line \d+\)", third)


@pytest.mark.parametrize(
    "result", ["text", None, 1j, {"x": "text"}, [[1], [1, 2]], {"a": 1.0}, {"status": 1.0}]
)
def test_a_measure_that_gives_no_numbers_of_its_own_fails(result: Any) -> None:
    table = failing(double, {"a": [1]}, lambda built: result)
    assert table["status"].tolist() == ["failed"]
    assert table["message"][0].startswith("measure: ")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"a": []}, "'a' has no values"),
        ({"a": [1.0, math.nan]}, "'a' has the value nan"),
        ({"a": np.array([np.inf])}, "'a' has the value inf"),
        ({"a": [(1.0, math.nan)]}, "'a' has the value nan"),
        ({"a": 5}, "'a' is 5"),
        ({"a": "text"}, "'a' is 'text'"),
        ({"a": {1, 2}}, "'a' is {1, 2}"),
        ({"a": [object()]}, "give numbers or texts"),
        ({"status": [1]}, "'status'"),
        ({"message": [1]}, "'message'"),
        ({"b": [1]}, "does not take b"),
        ({}, "no parameter"),
        ([], "no parameter"),
        ([{"a": 1}, {"b": 1}], "different parameters"),
    ],
)
def test_what_cannot_be_swept_is_refused_at_once(parameters: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        sweep(double, parameters, period)


def test_a_table_can_be_read_and_exported(tmp_path: Path) -> None:
    table = sweep(pair, {"a": [0.1, 0.2], "b": ['say "x", y']}, lambda built: {"third": built[0] / 3})
    assert repr(table).splitlines() == [
        "Table: 2 cases, 0 failed",
        "  a           b      third  status  message",
        '0.1  say "x", y  0.0333333    done',
        '0.2  say "x", y  0.0666667    done',
    ]
    frame = table.to_dataframe()
    assert tuple(frame.columns) == table.columns
    table.save_csv(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text().splitlines() == [
        "a,b,third,status,message",
        f'0.1,"say ""x"", y",{0.1 / 3!r},done,',
        f'0.2,"say ""x"", y",{0.2 / 3!r},done,',
    ]
    with pytest.raises(KeyError, match="'third'"):
        table["thrid"]
    assert repr(sweep(pair, {"a": range(20), "b": [1]}, both)).endswith("... 8 more")


# executors


@pytest.fixture(scope="module")
def cluster() -> Iterator[Executor]:
    distributed = pytest.importorskip("distributed")
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import the tests
    with (
        distributed.LocalCluster(2, host="127.0.0.1", dashboard_address=None, threads_per_worker=1) as made,
        made.get_client() as client,
        client.get_executor() as executor,
    ):
        yield executor
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def csv_of(table: Table, folder: Path) -> bytes:
    table.save_csv(folder / "compared.csv")
    return (folder / "compared.csv").read_bytes()


def test_threads_and_processes_give_the_same_table(tmp_path: Path) -> None:
    expected = csv_of(sweep(pendulum, SWEPT, period), tmp_path)
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(2) as processes:
        for executor in (threads, processes):
            assert csv_of(sweep(pendulum, SWEPT, period, executor=executor), tmp_path) == expected
            table = failing(pair, {"a": range(10), "b": [0]}, fails_at_seven, executor=executor)
            assert [row["a"] for row in table.failed] == [7]


def test_a_cluster_gives_the_same_table(tmp_path: Path, cluster: Executor) -> None:
    expected = csv_of(sweep(pendulum, SWEPT, period), tmp_path)
    assert (
        csv_of(sweep(pendulum, SWEPT, period, executor=cluster, folder=tmp_path / "kept"), tmp_path)
        == expected
    )
    table = failing(pair, {"a": range(10), "b": [0]}, fails_at_seven, executor=cluster)
    assert csv_of(table, tmp_path) == csv_of(
        failing(pair, {"a": range(10), "b": [0]}, fails_at_seven), tmp_path
    )


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_a_case_that_kills_its_worker_costs_one_row(tmp_path: Path) -> None:
    for _ in range(2):  # the second time all others come from the folder
        with ProcessPoolExecutor(2) as executor:
            table = failing(dies_at_seven, {"a": range(40)}, double, executor=executor, folder=tmp_path)
        assert [row["a"] for row in table.failed] == [7]
        assert "worker died" in table.failed[0]["message"]
        assert np.delete(table["double"], 7).tolist() == [2.0 * a for a in range(40) if a != 7]
        assert len(list(tmp_path.glob("*.case"))) == 39


def test_what_cannot_be_sent_is_a_failure_of_the_executor(tmp_path: Path) -> None:
    with ProcessPoolExecutor(1) as executor:
        table = failing(lambda a: a, {"a": [1, 2]}, double, executor=executor, folder=tmp_path)
    assert table["status"].tolist() == ["failed", "failed"]
    assert table["message"][0].startswith("executor: ")
    assert not list(tmp_path.glob("*.case"))


def test_very_many_cases_are_sent_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linkwork.simulation.sweep._TASKS", 7)
    sent: list[int] = []

    class Counting(ThreadPoolExecutor):
        def submit(self, task: Any, cases: Any) -> Any:  # type: ignore[override]
            sent.append(len(cases))
            return super().submit(task, cases)

    with Counting(2) as executor:
        table = sweep(double, {"a": range(100)}, double, executor=executor)
    assert table["double"].tolist() == [4.0 * a for a in range(100)]
    assert sent == [15] * 6 + [10]


class Screen(io.StringIO):
    """Standard error that is a terminal, or says so."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize(("terminal", "slow"), [(True, True), (True, False), (False, True)])
def test_a_bar_is_shown_on_a_terminal_for_what_takes_long(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, slow: bool
) -> None:
    screen = Screen(terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    if slow:
        monkeypatch.setattr("linkwork.simulation.progress._PATIENCE", 0.0)
    sweep(with_a_bar, {"a": range(20)}, double)
    assert ("sweep" in screen.getvalue()) == (terminal and slow)
    assert "inner" not in screen.getvalue()


# folders


def logged(log: Path, factor: float, built: float) -> float:
    with open(log, "a") as file:
        file.write(f"{built}\n")
    if built == 3:
        raise ArithmeticError("three")
    return factor * built


def computed(log: Path) -> int:
    """Return how many cases were computed, and forget them."""
    count = len(log.read_text().splitlines()) if log.exists() else 0
    log.unlink(missing_ok=True)
    return count


@pytest.fixture
def measure(tmp_path: Path) -> Callable[[Any], float]:
    return functools.partial(logged, tmp_path / "log", 0.1)


def test_a_folder_is_resumed_and_damaged_files_are_computed_again(tmp_path: Path, measure: Any) -> None:
    log, folder = tmp_path / "log", tmp_path / "folder"
    table = sweep(double, {"a": np.arange(10.0)}, measure, folder=folder)
    expected = (folder / "table.csv").read_bytes()
    assert table["logged"][4] == 0.8
    assert computed(log) == 10

    def again(**options: Any) -> int:
        (folder / "table.csv").unlink()
        sweep(double, {"a": np.arange(10.0)}, measure, folder=folder, **options)
        assert (folder / "table.csv").read_bytes() == expected
        return computed(log)

    assert again() == 0
    files = sorted(folder.glob("*.case"))
    files[0].unlink()
    files[1].write_bytes(files[1].read_bytes()[:-1])
    files[2].write_bytes(files[3].read_bytes())  # of another case
    assert again() == 3
    assert again(executor=ThreadPoolExecutor(1)) == 0
    assert again(options={"accuracy": 1e-9}) == 10
    assert again(options={"accuracy": 1e-9}) == 0


def test_failed_cases_are_tried_again_only_when_told(tmp_path: Path, measure: Any) -> None:
    cases = {"a": [1.0, 1.5, 2.0]}
    first = failing(double, cases, measure, folder=tmp_path / "folder")
    assert [row["a"] for row in first.failed] == [1.5]
    computed(tmp_path / "log")
    assert failing(double, cases, measure, folder=tmp_path / "folder").rows[1]["status"] == "failed"
    assert computed(tmp_path / "log") == 0
    failing(double, cases, measure, folder=tmp_path / "folder", retry=True)
    assert computed(tmp_path / "log") == 1


def test_new_values_of_a_parameter_cost_only_themselves(tmp_path: Path, measure: Any) -> None:
    sweep(double, {"a": [1.0, 2.0]}, measure, folder=tmp_path / "folder")
    assert computed(tmp_path / "log") == 2
    sweep(double, {"a": [1.0, 2.0, 4.0]}, measure, folder=tmp_path / "folder")
    assert computed(tmp_path / "log") == 1
    sweep(double, {"a": [1, 2, 4]}, measure, folder=tmp_path / "folder")  # whole numbers are others
    assert computed(tmp_path / "log") == 3


def test_changed_code_is_computed_again(tmp_path: Path) -> None:
    scale = 2.0

    def helper(x: float) -> float:
        return x + scale

    def added(offset: float, built: list[float]) -> float:
        return offset + built[0]

    versions: list[Callable[..., Any]] = [
        lambda built: built,
        lambda built: built[0] + 1,
        lambda built, offset=1: built[0] + offset,
        lambda built, offset=2: built[0] + offset,
        lambda built: helper(built[0]),
        functools.partial(added, 3),
        functools.partial(added, 4),
        len,
        Adder(1).add,
        Adder(2).add,
        Adder(1),
    ]
    for known, version in enumerate(versions):
        sweep(lambda a: [a], {"a": [1.0]}, version, folder=tmp_path)
        assert len(list(tmp_path.glob("*.case"))) == known + 1
    scale = 3.0
    sweep(lambda a: [a], {"a": [1.0]}, versions[4], folder=tmp_path)
    assert len(list(tmp_path.glob("*.case"))) == len(versions) + 1


class Adder:
    """A measure that is an object."""

    def __init__(self, offset: int) -> None:
        self.offset = offset

    def add(self, built: list[float]) -> float:
        return built[0] + self.offset

    __call__ = add


SCRIPT = """
import os, sys, time
from pathlib import Path
from linkwork.simulation.progress import Progress
from linkwork.simulation.sweep import sweep

FOLDER = Path(sys.argv[1])
WORDS = {"one", "two", "three", "four"}

class Spring:
    rest = 0.5
    def length(self, a):
        return a + self.rest if a not in (7.25, 8.25) else 0.0

def build(a):
    with open(FOLDER / "log", "a") as file:
        file.write(f"{a}\\n")
    time.sleep(float(os.environ["SLEEP"]))
    return Spring().length(a) / (len(WORDS) if "two" in {"two", "three", "nine"} else 1)

def measure(built):
    return {"root": built ** 0.5, "inverse": 1.0 / built}

sweep(build, {"a": [0.25 * k for k in range(60)]}, measure, folder=FOLDER / "kept")
"""


def script(folder: Path, sleep: float, seed: int) -> "subprocess.Popen[bytes]":
    """Start a sweep in a process of its own, with its own order of sets."""
    folder.mkdir(exist_ok=True)
    (folder / "sweep.py").write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "PYTHONHASHSEED": str(seed), "SLEEP": str(sleep)}
    command = [sys.executable, str(folder / "sweep.py"), str(folder)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)


def wait_for(folder: Path, count: int) -> None:
    """Wait until so many cases are on file."""
    deadline = time.monotonic() + 60.0
    while len(list((folder / "kept").glob("*.case"))) < count:
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("name", ["SIGKILL", "SIGINT"])
def test_a_sweep_that_was_stopped_goes_on_with_what_is_missing(tmp_path: Path, name: str) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    unbroken = script(whole, 0.0, seed=1)
    stopped = script(broken, 0.01, seed=2)
    wait_for(broken, 10)
    stopped.send_signal(getattr(signal, name))
    _, errors = stopped.communicate()
    assert stopped.returncode == -getattr(signal, name)
    assert (b"KeyboardInterrupt" in errors) == (name == "SIGINT")
    assert unbroken.wait() == 0
    kept = len(list((broken / "kept").glob("*.case")))
    assert 10 <= kept < 60
    assert computed(broken / "log") >= kept
    assert script(broken, 0.0, seed=3).wait() == 0
    assert computed(broken / "log") == 60 - kept
    assert (broken / "kept" / "table.csv").read_bytes() == (whole / "kept" / "table.csv").read_bytes()
    assert script(broken, 0.0, seed=4).wait() == 0
    assert computed(broken / "log") == 0


def test_an_interrupt_cancels_what_waits_in_an_executor_of_others(
    tmp_path: Path, measure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        time.sleep(0.05)  # more cases get done, and are not yet taken
        raise KeyboardInterrupt

    monkeypatch.setattr("linkwork.simulation.progress.Progress.update", interrupted)
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(KeyboardInterrupt):
            sweep(slowly, {"a": range(200)}, measure, executor=executor, folder=tmp_path / "folder")
        assert executor.submit(double, 1).result(timeout=1.0) == 2
    done = computed(tmp_path / "log")
    assert 2 <= done < 50
    assert done - 1 <= len(list((tmp_path / "folder").glob("*.case"))) <= done


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_two_sweeps_in_one_folder_do_no_harm(tmp_path: Path) -> None:
    both = [script(tmp_path / "both", 0.01, seed) for seed in (1, 2)]
    assert script(tmp_path / "one", 0.0, 3).wait() == 0
    assert [process.wait() for process in both] == [0, 0]
    tables = [(tmp_path / name / "kept" / "table.csv").read_bytes() for name in ("both", "one")]
    assert tables[0] == tables[1]
    assert len(list((tmp_path / "both" / "kept").iterdir())) == 61
