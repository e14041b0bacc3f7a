"""The command line: what is printed, and the exit codes."""

import os
import re
import subprocess
import sys

import pytest
from robots import ARM

import linkwork as lw
from linkwork import demo
from linkwork.cli import main

RUN = [sys.executable, "-m", "linkwork"]


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def test_the_demonstration_reports_the_energy_and_writes_a_page(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "_DURATION", 2.0)
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "steam engine: 8 bodies, 11 joints" in out
    (error,) = re.findall(r"energy error ([^,\s]+)", out)
    assert float(error) < 1e-6
    assert "wrote demo.html" in out
    assert "<title>steam engine</title>" in (tmp_path / "demo.html").read_text()


def test_check_says_what_is_in_a_file(robot, capsys):
    assert main(["check", str(robot)]) == 0
    captured = capsys.readouterr()
    assert "shoulder    Revolute, trunk -> upper" in captured.out
    assert "a tree of 3 bodies, nq = 2, nv = 2" in captured.out
    assert captured.err == ""
    assert main(["check", str(robot), "--base", "free"]) == 0
    assert "nq = 9, nv = 8" in capsys.readouterr().out


def test_a_warning_is_one_line(robot, capsys):
    robot.write_text(ARM.replace("<dynamics ", '<dynamics K="7" '))
    assert main(["check", str(robot)]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("linkwork: warning: ")
    assert "K= of <dynamics>" in line


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("missing.urdf", None, "missing.urdf: No such file or directory"),
        ("arm", ARM, "arm: cannot read a file without suffix; known are .urdf and .lwr"),
        ("arm.urdf", ARM.replace("<mass ", "<mas "), "arm.urdf:5: .*unknown element 'mas'"),
    ],
)
def test_bad_input_is_two_and_one_line(tmp_path, capsys, name, text, words):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    assert main(["check", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.fullmatch(f"linkwork: .*{words}.*", line)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (lw.NumericalError("no"), 1),
        (lw.SimulationError("no"), 1),
        (lw.AssemblyError("no"), 1),
        (lw.ModelError("no"), 2),
        (ValueError("no"), 2),
        (KeyboardInterrupt(), 1),
    ],
)
def test_a_failed_run_is_one_and_bad_input_two(monkeypatch, capsys, error, code):
    def run(out):
        raise error

    monkeypatch.setattr(demo, "run", run)
    assert main(["demo"]) == code
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_many_mistakes_are_told_in_one_line(monkeypatch, capsys):
    def run(out):
        m = lw.Mechanism("wreck")
        for k in range(8):
            m.add(lw.Body(f"b{k}"))
        m.compile()

    monkeypatch.setattr(demo, "run", run)
    assert main(["demo"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("linkwork: mechanism 'wreck' has 8 mistakes: 1. body 'b0': not connected")
    assert line.endswith("; and 3 more")


@pytest.mark.parametrize("arguments", [[], ["dance"], ["check"]])
def test_a_wrong_command_is_two(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2


def test_it_tells_its_version(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"linkwork {lw.__version__}\n"


def test_the_module_runs(robot):
    done = subprocess.run([*RUN, "check", str(robot)], capture_output=True, text=True, check=True)
    assert "a tree of 3 bodies" in done.stdout


def test_a_reader_that_has_seen_enough_is_no_error(robot):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*RUN, "check", str(robot)], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
