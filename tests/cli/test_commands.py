"""The command line: what is printed and written, and the exit codes."""

import csv
import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from robots import ARM

import linkwork as lw
from linkwork import demonstration
from linkwork.cli import main
from linkwork.cli.parser import COMMANDS
from linkwork.simulation.progress import Progress

RUN = [sys.executable, "-m", "linkwork"]


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


@pytest.fixture
def cart(tmp_path):
    path = tmp_path / "cart.json"
    lw.examples.cart_pole().save(path)
    return path


# demo


def test_the_demonstration_reports_the_energy_and_writes_a_page(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--for", "2"]) == 0
    out = capsys.readouterr().out
    assert "steam engine: 8 bodies, 11 joints" in out
    (error,) = re.findall(r"energy error ([^,\s]+)", out)
    assert float(error) < 1e-6
    assert "wrote demo.html" in out
    assert "<title>steam engine · Linkwork</title>" in (tmp_path / "demo.html").read_text()


@pytest.mark.parametrize("name", demonstration.GALLERY)
def test_every_piece_of_the_gallery_moves(name, capsys):
    assert main(["demo", name, "--for", "0.1", "--html", ""]) == 0
    out = capsys.readouterr().out
    assert "done" in out
    assert out.count("\n") > 15


def test_the_gallery_is_listed(capsys):
    assert main(["demo", "--list"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()] == list(demonstration.GALLERY)


def test_every_example_is_in_the_gallery():
    built = {piece.build().name for piece in demonstration.GALLERY.values()}
    sizes = {"chain": (20,), "four_bars": (40,)}
    assert built == {getattr(lw.examples, name)(*sizes.get(name, ())).name for name in lw.examples.__all__}


def test_an_unknown_demo_is_bad_input(capsys):
    assert main(["demo", "four-bat"]) == 2
    assert "unknown demo 'four-bat'; did you mean 'four-bar'" in capsys.readouterr().err


def test_a_demo_leaves_files_to_go_on_with(tmp_path, capsys):
    out, saved = tmp_path / "box.lwr", tmp_path / "box.json"
    files = ["--out", str(out), "--save", str(saved), "--html", str(tmp_path / "box.html")]
    assert main(["demo", "flipping-box", "--for", "1", *files]) == 0
    assert lw.load(out)["flight"].velocity.shape == (61, 6)
    assert lw.load(saved).name == "flipping box"


# run


def test_a_run_is_what_python_gives(cart, tmp_path, capsys):
    out = tmp_path / "run.lwr"
    said = ["--for", "2", "--accuracy", "1e-9", "--set", "pin=0.3", "--speed", "rail=0.1", "--out", str(out)]
    assert main(["run", str(cart), *said]) == 0
    assert "cart-pole: done" in capsys.readouterr().out
    model = lw.load(cart).compile()
    expected = lw.simulate(model, 2.0, model.state(pin=0.3, velocities={"rail": 0.1}), accuracy=1e-9)
    run = lw.load(out)
    assert np.array_equal(run.q, expected.q)
    assert np.array_equal(run.time, expected.time)


def test_a_run_for_programs(cart, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (
        main(
            ["run", str(cart), "--for", "1", "--every", "0.1", "--json", "--plot", "pin", "--plot", "energy"]
        )
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert (told["status"], told["end"], told["samples"], told["picture"]) == ("DONE", 1.0, 11, "cart.png")
    assert told["energy_error"] < 1e-6
    assert (tmp_path / "cart.png").read_bytes()[:4] == b"\x89PNG"


def test_a_run_as_a_table(cart, tmp_path, capsys):
    out = tmp_path / "run.csv"
    assert (
        main(["run", str(cart), "--for", "1", "--every", "0.25", "--out", str(out), "--speed", "rail=2"]) == 0
    )
    head, *rows = csv.reader(out.read_text().splitlines())
    assert head[:3] == ["time [s]", "rail.position [m]", "rail.velocity [m/s]"]
    assert {"pole.position[2] [m]", "pole.rotation[0, 2] [1]", "cart.velocity[0] [m/s]"} < {*head}
    numbers = np.array([[float(x) for x in row] for row in rows])
    assert numbers.shape == (5, len(head))
    np.testing.assert_allclose(numbers[:, 1], 2 * numbers[:, 0], rtol=1e-9, atol=1e-12)


def test_a_run_that_fails_is_one_and_keeps_what_there_is(tmp_path, capsys):
    m = lw.examples.cart_pole()
    m.add(lw.Motor("rocket", "rail", lambda t, q, v: lw.exp(20 * t)))
    path, out = tmp_path / "rocket.json", tmp_path / "rocket.lwr"
    m.save(path)
    assert main(["run", str(path), "--for", "100", "--out", str(out)]) == 1
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "warning" not in line]
    assert line.startswith("linkwork: at t = ")
    assert lw.load(out).report.failed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--for", "1", "--set", "pin"], "--set pin: give JOINT=NUMBER"),
        (["--for", "1", "--set", "pim=1"], "unknown joint 'pim'; did you mean 'pin'"),
        (["--for", "-1"], "duration"),
        (["--for", "1", "--accuracy", "-1"], "accuracy"),
        (["--for", "1", "--method", "magic"], "magic"),
        (["--for", "1", "--out", "run.txt"], r"run.txt: give a name that ends in .lwr or .csv"),
        (["--for", "1", "--plot", "pim"], "unknown name 'pim'; did you mean 'pin'"),
    ],
)
def test_what_a_run_cannot_be_told_is_bad_input(cart, capsys, options, words):
    assert main(["run", str(cart), *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.fullmatch(f"linkwork: .*{words}.*", line)


def test_ctrl_c_keeps_what_there_is(tmp_path, capsys, monkeypatch):
    path, out = tmp_path / "engine.json", tmp_path / "run.lwr"
    lw.examples.steam_engine().save(path)
    pressed = []

    def press(progress, fraction):
        if not pressed:
            pressed.append(fraction)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Progress, "update", press)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    code = main(["run", str(path), "--for", "1e5", "--every", "1", "--out", str(out)])
    signal.signal(signal.SIGINT, before)
    assert code == 130
    assert capsys.readouterr().err == "linkwork: interrupted\n"
    assert lw.load(out).status == "INTERRUPTED"


# check


def test_check_says_what_is_in_a_file(robot, capsys):
    assert main(["check", str(robot)]) == 0
    captured = capsys.readouterr()
    assert "shoulder    Revolute, trunk -> upper" in captured.out
    assert "a tree of 3 bodies, nq = 2, nv = 2" in captured.out
    assert captured.err == ""
    assert main(["check", str(robot), "--base", "free"]) == 0
    assert "nq = 9, nv = 8" in capsys.readouterr().out


def test_check_counts_the_freedoms_of_loops(tmp_path, capsys):
    for name, count in (("steam_engine", 1), ("delta_robot", 3), ("stewart_platform", 6), ("bricard", 1)):
        path = tmp_path / f"{name}.json"
        getattr(lw.examples, name)().save(path)
        assert main(["check", str(path), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["ok"], told["degrees_of_freedom"]) == (True, count)
        assert main(["check", str(path)]) == 0
        assert f"\n{count} degree" in capsys.readouterr().out


def test_check_tells_mistakes(tmp_path, capsys):
    m = lw.Mechanism("wreck")
    for name in ("stone", "stick"):
        m.add(lw.Body(name, lw.Sphere(1), mass=1))
    path = tmp_path / "wreck.json"
    m.save(path)
    assert main(["check", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(
        "linkwork: mechanism 'wreck' has 2 mistakes: 1. body 'stone': not connected"
    )
    assert main(["check", str(path), "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False
    assert [mistake[:12] for mistake in told["mistakes"]] == ["body 'stone'", "body 'stick'"]
    path.write_text("{")
    assert main(["check", str(path), "--json"]) == 2
    assert "no JSON" in json.loads(capsys.readouterr().out)["mistakes"][0]


def test_with_json_an_error_is_json_too(cart, tmp_path, capsys):
    missing = tmp_path / "none.json"
    for arguments, code in (
        (["run", str(missing), "--for", "1", "--json"], 2),
        (["run", str(cart), "--for", "nan", "--json"], 2),
        (["run", str(cart), "--for", "1", "--set", "pim=1", "--json"], 2),
        (["check", str(missing), "--json"], 2),
    ):
        assert main(arguments) == code
        told = json.loads(capsys.readouterr().out)
        assert told["ok"] is False
        assert len(told["mistakes"]) == 1
    with pytest.raises(SystemExit):
        main(["run", str(cart), "--fro", "1", "--json"])
    assert json.loads(capsys.readouterr().out)["mistakes"][0].startswith("linkwork run: ")
    assert main(["run", str(cart), "--for", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["energy_error"] is None


def test_check_reads_runs(cart, tmp_path, capsys):
    out = tmp_path / "run.lwr"
    assert main(["run", str(cart), "--for", "1", "--out", str(out)]) == 0
    capsys.readouterr()
    assert main(["check", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "run"
    assert main(["check", str(out)]) == 0
    assert "cart-pole: done" in capsys.readouterr().out


def test_a_warning_is_one_line(robot, capsys):
    robot.write_text(ARM.replace("<dynamics ", '<dynamics K="7" '))
    assert main(["check", str(robot)]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("linkwork: warning: ")
    assert "K= of <dynamics>" in line


# convert


def test_a_robot_becomes_json(robot, tmp_path, capsys):
    target = tmp_path / "arm.json"
    assert main(["convert", str(robot), str(target)]) == 0
    assert lw.load(target).compile().body_names == lw.load(robot).compile().body_names
    assert "Mechanism('arm', 3 bodies, 3 joints)" in capsys.readouterr().out


def test_what_cannot_be_converted_is_refused(robot, tmp_path, capsys):
    assert main(["convert", str(robot), str(tmp_path / "arm.csv")]) == 2
    assert "a mechanism is written as .json" in capsys.readouterr().err


# view


def test_view_hands_over_to_the_viewer(cart, monkeypatch):
    """The page itself is tested in a browser."""
    shown = []
    monkeypatch.setattr("linkwork.view.show", lambda thing, **options: shown.append((thing.name, options)))
    assert main(["view", str(cart), "--port", "8081", "--no-browser"]) == 0
    ((name, options),) = shown
    assert name == "cart-pole"
    assert (options["host"], options["port"], options["open_browser"]) == ("127.0.0.1", 8081, False)


# errors


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("missing.urdf", None, "missing.urdf: No such file or directory"),
        (
            "arm",
            ARM,
            "cannot read a file without suffix; available are .json, .urdf, .mjcf, .sdf, .xml, .lwr, .lws",
        ),
        ("arm.urdf", ARM.replace("<mass ", "<mas "), "arm.urdf:5: .*unknown element 'mas'"),
        ("arm.json", "{}", r"arm.json: \$: is not a mechanism of Linkwork"),
        ("arm.json", None, "arm.json: No such file or directory"),
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
        (KeyboardInterrupt(), 130),
    ],
)
def test_a_failed_run_is_one_and_bad_input_two(monkeypatch, capsys, error, code):
    def run(*_, **__):
        raise error

    monkeypatch.setattr(demonstration, "run", run)
    assert main(["demo"]) == code
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_many_mistakes_are_told_in_one_line(monkeypatch, capsys):
    def run(*_, **__):
        m = lw.Mechanism("wreck")
        for k in range(8):
            m.add(lw.Body(f"b{k}"))
        m.compile()

    monkeypatch.setattr(demonstration, "run", run)
    assert main(["demo"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("linkwork: mechanism 'wreck' has 8 mistakes: 1. body 'b0': not connected")
    assert line.endswith("; and 3 more")


@pytest.mark.parametrize("arguments", [[], ["dance"], ["check"], ["run", "m.json"], ["demo", "--wrong"]])
def test_a_wrong_command_is_two_and_one_line(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("linkwork")
    assert "--help" in line


# help


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_by_examples(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert f"linkwork {command}" in capsys.readouterr().out.partition("examples:")[2]


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from linkwork.cli.parser import parser; parser().format_help();"
        "print([m for m in ('numba', 'scipy', 'matplotlib', 'linkwork.simulation.simulate', 'linkwork.view')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_misspelt_command_is_told_the_right_one(capsys):
    with pytest.raises(SystemExit):
        main(["chekc"])
    assert "unknown command 'chekc'; did you mean 'check'" in capsys.readouterr().err


def test_it_tells_its_version(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"linkwork {lw.__version__}\n"


# drivers


@pytest.fixture
def driven(tmp_path):
    m = lw.examples.four_bar()
    m.add(lw.Driver("motor", "A", lambda t: 2 * np.pi * t))
    path = tmp_path / "driven.json"
    m.save(path)
    return path


def test_what_drivers_move_is_checked_and_run_by_kinematics(driven, capsys, tmp_path):
    assert main(["check", str(driven)]) == 0
    assert "1 degree of freedom, driven" in capsys.readouterr().out
    assert main(["check", str(driven), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["drivers"], found["degrees_of_freedom"]) == ({"motor": "A"}, 1)
    table = tmp_path / "run.csv"
    assert main(["run", str(driven), "--for", "0.5", "--every", "0.1", "--out", str(table)]) == 0
    assert "<KinematicRecording 'four-bar': 0 to 0.5 s, 6 samples>" in capsys.readouterr().out
    names, *rows = table.read_text().splitlines()
    column = names.split(",").index("crank.angle [rad]")
    angles = np.array([float(row.split(",")[column]) for row in rows])
    drawn = lw.kinematics(lw.load(driven), [0.0])["crank"].angle[0]
    np.testing.assert_allclose(angles - drawn, 2 * np.pi * np.linspace(0, 0.5, 6), atol=1e-9)
    kept = tmp_path / "run.lwr"
    assert main(["run", str(driven), "--for", "0.5", "--every", "0.1", "--out", str(kept)]) == 0
    np.testing.assert_array_equal(lw.load(kept)["crank"].angle, angles)


def test_drivers_that_get_stuck_fail_the_run_and_keep_what_was_reached(tmp_path, capsys):
    m = lw.examples.four_bar(crank=0.3, coupler=0.1)  # the input cannot turn round
    m.add(lw.Driver("motor", "A", lambda t: t))
    m.save(tmp_path / "stuck.json")
    assert main(["run", str(tmp_path / "stuck.json"), "--for", "6", "--json"]) == 1
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert found["status"] == "FAILED"
    assert 0 < found["end"] < 6
    assert "cannot assemble at t = " in shown.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "A=3"], "has drivers, which determine its motion: --set is for simulations"),
        (["--plot", "foo"], "unknown name 'foo'"),
        (["--every", "-1"], "--for and --every: give finite numbers"),
    ],
)
def test_what_drivers_cannot_do_is_told(driven, options, words, capsys):
    assert main(["run", str(driven), "--for", "1", *options]) == 2
    assert words in capsys.readouterr().err


def test_drivers_that_fight_are_bad_input(driven, capsys, tmp_path):
    m = lw.load(driven)
    m.add(lw.Driver("second", "D", 0.1))
    path = tmp_path / "fight.json"
    m.save(path)
    for command in (["check", str(path)], ["run", str(path), "--for", "1"]):
        assert main(command) == 2
        assert "'motor', 'second' fight each other" in capsys.readouterr().err


# the module


def test_the_module_runs(robot):
    done = subprocess.run([*RUN, "check", str(robot)], capture_output=True, text=True, check=True)
    assert "a tree of 3 bodies" in done.stdout


def test_a_reader_that_has_seen_enough_is_no_error(robot):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*RUN, "check", str(robot)], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_angles_in_degrees_go_in_and_come_out(cart, tmp_path, capsys):
    asked = ["run", str(cart), "--for", "0.5", "--every", "0.25", "--set", "pin=30", "--set", "rail=2"]
    asked += ["--speed", "pin=-90", "--degrees"]
    table, run = tmp_path / "run.csv", tmp_path / "run.lwr"
    assert main([*asked, "--out", str(table), "--plot", "pin", "--picture", str(tmp_path / "pin.svg")]) == 0
    assert "[°]" in (tmp_path / "pin.svg").read_text()
    assert main([*asked, "--out", str(run)]) == 0
    found = lw.load(run)
    np.testing.assert_allclose(found["pin"].position[0], np.pi / 6)
    np.testing.assert_allclose(found["pin"].velocity[0], -np.pi / 2)
    assert found["rail"].position[0] == 2.0
    again = tmp_path / "again.csv"
    assert main(["convert", str(run), str(again), "--degrees"]) == 0
    assert again.read_text() == table.read_text()
    head, first, *_ = csv.reader(table.read_text().splitlines())
    assert float(first[head.index("pin.position [°]")]) == pytest.approx(30.0)
    assert float(first[head.index("pin.velocity [°/s]")]) == pytest.approx(-90.0)
    assert float(first[head.index("rail.position [m]")]) == 2.0
    assert main(["convert", str(cart), str(tmp_path / "x.json"), "--degrees"]) == 2
    assert "--degrees is for runs" in capsys.readouterr().err


def test_check_names_contacts(capsys, tmp_path):
    m = lw.Mechanism("ball")
    m.add(lw.Body("ball", lw.Sphere(0.1), mass=1, position=(0, 0, 1)))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("all"))
    m.add(lw.Contact("floor", ("ball", m.ground)))
    m.save(tmp_path / "ball.json")
    assert main(["check", str(tmp_path / "ball.json"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["contacts"] == {"all": None, "floor": ["ball", "ground"]}
    assert main(["check", str(tmp_path / "ball.json")]) == 0
    assert "2 contacts" in capsys.readouterr().out


ODD = """<robot name="odd">
  <link name="a"><inertial><mass value="1"/>
    <inertia ixx="100" iyy="100" izz="100" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="nothing.stl"/></geometry></visual></link>
  <link name="A"><inertial><mass value="1e-8"/>
    <inertia ixx="1e-12" iyy="1e-12" izz="1e-12" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="continuous"><parent link="a"/><child link="A"/>
    <origin xyz="0.1 0 0"/><axis xyz="0 0 1"/></joint>
</robot>"""


def test_what_is_hardly_meant_is_found_with_a_remedy(tmp_path, capsys):
    path = tmp_path / "odd.urdf"
    path.write_text(ODD)
    assert main(["check", str(path)]) == 0
    said = capsys.readouterr().out
    for words in (
        "body 'A' has 1e-08 kg, and 'a' 1 kg; masses are in kg",
        "body 'a': its moments of inertia, (100, 100, 100) kg m^2, are those of 1 kg at 12.2 m",
        "'a' and 'A' differ only by case or blanks; rename one of them",
        "body 'a': mesh 'nothing.stl' is not at",
    ):
        assert f"finding: {words}" in said
    assert main(["check", str(path), "--strict", "--json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["ok"]
    assert len(found["findings"]) == 4


def linkage() -> lw.Mechanism:
    """A four-bar linkage in the plane of x and z."""
    m = lw.Mechanism("linkage")
    sizes = {"crank": (0.2, 0.02), "rod": (0.8, 0.02), "rocker": (0.02, 0.5)}
    places = {"crank": (0.1, 0, 0), "rod": (0.6, 0, 0), "rocker": (1.0, 0, 0.25)}
    crank, rod, rocker = (
        m.add(lw.Body(name, lw.Box(x, 0.02, z), density=1000, position=places[name]))
        for name, (x, z) in sizes.items()
    )
    for name, parent, child, at in (
        ("a", m.ground, crank, (0, 0, 0)),
        ("b", crank, rod, (0.2, 0, 0)),
        ("c", m.ground, rocker, (1, 0, 0.5)),
        ("d", rod, rocker, (1, 0, 0)),
    ):
        m.add(lw.Revolute(name, parent, child, at=at, axis=(0, 1, 0)))
    return m


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda m: m.bodies["rod"].__setattr__("inertia", lw.Inertia(1e6, (0, 0, 0), np.eye(3) * 1e5)),
            "steel",
        ),
        (lambda m: m.bodies["rod"].__setattr__("visuals", [lw.Box(800, 20, 20)]), "is 800 m long"),
        (lambda m: m.__setattr__("gravity", (0, 0, -9810)), "gravity of 9.81e+03 m/s^2"),
        (lambda m: m.__setattr__("gravity", (0, 0, 9.81)), "points up"),
        (
            lambda m: m.bodies["rod"].__setattr__("inertia", lw.Inertia(1, (9, 0, 0), np.eye(3))),
            "8.6 m outside of its drawing",
        ),
        (lambda m: m.joints["b"].__setattr__("axis", (0.3, 1, 0)), "its loops leave nothing that can move"),
    ],
)
def test_units_and_places_that_are_hardly_meant_are_found(change, words, tmp_path, capsys):
    path = tmp_path / "linkage.json"
    m = linkage()
    m.save(path)
    assert main(["check", str(path), "--strict"]) == 0
    assert "finding" not in capsys.readouterr().out
    change(m)
    m.save(path)
    assert main(["check", str(path)]) == 0
    assert words in capsys.readouterr().out


def test_loops_that_cannot_close_and_bodies_that_weigh_nothing_are_mistakes(tmp_path, capsys):
    m = linkage()
    rod, rocker = m.bodies["rod"], m.bodies["rocker"]
    m.remove("d")
    m.add(lw.Revolute("d", rod, rocker, on_parent=(-5, 0, 0), on_child=(0, 0, -0.25), axis=(0, 1, 0)))
    m.save(tmp_path / "open.json")
    (tmp_path / "light.urdf").write_text(
        DEGREES.replace('"0.1"', '"0"').replace('mass value="1"', 'mass value="0"')
    )
    for name, words in (("open.json", "cannot be assembled"), ("light.urdf", "joint 'pin' moves no inertia")):
        assert main(["check", str(tmp_path / name)]) == 2
        assert words in capsys.readouterr().err
        assert main(["check", str(tmp_path / name), "--json"]) == 2
        assert words in json.loads(capsys.readouterr().out)["mistakes"][0]


def test_a_scene_is_checked(tmp_path, capsys):
    scene = lw.Scene()
    scene.add(linkage())
    scene.save(tmp_path / "yard.lws")
    assert main(["check", str(tmp_path / "yard.lws"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["mechanisms"], found["bodies"]) == ("scene", ["linkage"], 3)
    assert main(["check", str(tmp_path / "yard.lws")]) == 0


DEGREES = """<robot name="arm"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="pin" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<limit lower="-90" upper="90" effort="1" velocity="1"/></joint></robot>"""


def test_a_warning_counts_where_it_is_strict(tmp_path, capsys):
    path = tmp_path / "arm.urdf"
    path.write_text(DEGREES)
    assert main(["check", str(path)]) == 0
    assert main(["check", str(path), "--strict"]) == 2
    assert capsys.readouterr().err.count("if degrees are meant") == 2
    assert main(["check", str(path), "--strict", "--json"]) == 2
    assert "if degrees are meant" in json.loads(capsys.readouterr().out)["warnings"][0]


def test_a_mesh_is_checked(tmp_path, capsys):
    path = tmp_path / "part.off"
    path.write_text("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
    assert main(["check", str(path)]) == 0
    assert "finding: it is open" in capsys.readouterr().out
    assert main(["check", str(path), "--strict", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["volume"] is None


def test_a_robot_is_converted_to_other_formats(tmp_path, capsys):
    heavy = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    (tmp_path / "arm.urdf").write_text(ARM.replace('"finger"/>', f'"finger">{heavy}</link>', 1))
    for target in ("arm.json", "arm2.urdf", "arm.xml"):
        assert main(["convert", str(tmp_path / "arm.urdf"), str(tmp_path / target)]) == 0
        assert (tmp_path / target).stat().st_size > 100


def test_an_unknown_option_is_answered_with_those_of_its_command(cart, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["run", str(cart), "--for", "1", "--acuracy", "1e-6"])
    assert "linkwork run: unknown option '--acuracy'; did you mean '--accuracy'?" in capsys.readouterr().err
