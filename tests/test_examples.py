"""Every example runs, the code of the pages and the scripts, and one number of each is right."""

import inspect
import json
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Run everything in an empty folder: examples write files."""
    monkeypatch.chdir(tmp_path)


def run(page: str, **given: Any) -> dict[str, Any]:
    """Run the Python blocks of a page in order, in one namespace, and return it.

    Pages that leave out what an earlier page said are given the names that they use.
    """
    text = (ROOT / page).read_text()
    names: dict[str, Any] = {"__name__": page, **given}
    for block in BLOCK.finditer(text):
        lines = text.count("\n", 0, block.start(1))  # so that a traceback points into the page
        exec(compile("\n" * lines + block[1], str(ROOT / page), "exec"), names)
    return names


def cart_pole_accelerations(angle: float) -> np.ndarray:
    """Return those of the cart-pole of the pages while its pole does not turn: two equations by hand."""
    cart, pole = 800 * 0.4 * 0.2 * 0.1, 2700 * np.pi * 0.01**2 * 1.0
    moment = pole * (0.01**2 / 4 + 1.0**2 / 12) + pole * 0.5**2
    coupling = pole * 0.5 * np.cos(angle)
    return np.linalg.solve(
        [[cart + pole, coupling], [coupling, moment]], [0.0, pole * 9.81 * 0.5 * np.sin(angle)]
    )


def test_the_readme_runs(capsys):
    names = run("README.md")
    np.testing.assert_allclose(names["a"], cart_pole_accelerations(0.3), rtol=1e-12)
    assert "(1000, 2)" in capsys.readouterr().out
    assert names["Knee"].coordinates == 1


def test_getting_started_runs():
    names = run("docs/getting-started.md")
    np.testing.assert_allclose(names["a"], cart_pole_accelerations(0.3), rtol=1e-12)
    fast = names["fast"].forward_dynamics(names["q"], names["v"], np.zeros(2))
    np.testing.assert_allclose(fast, names["a"], rtol=1e-12)


def test_editing_runs():
    names = run("docs/editing.md")
    assert names["pin"].damping == 0.3
    assert names["model"].joint_names == ("shoulder", "elbow")
    assert names["state"].t == 1.1


def test_scenes_run(capsys):
    names = run("docs/scenes.md")
    assert [part.name for part in names["pieces"]] == ["half 0", "half 1"]
    assert names["again"].hash() == names["world"].hash()
    assert capsys.readouterr().out == f"{4 / 60}\n"


def test_extending_runs():
    names = run("docs/extending.md")
    knee = names["Knee"]("knee", names["m"].ground, names["shin"]).motion([0.5])
    np.testing.assert_allclose(knee.position, (0, 0, -0.02 * (1 - np.cos(0.5))), rtol=1e-15)
    # Its centre of mass is 0 from the pin and sinks by 0.02 (1 - cos q): m x'^2 / 2 with x' = -0.02 sin q q'.
    mass, moment = names["shin"].inertia.mass, names["shin"].inertia.tensor[1, 1]
    sink = 0.02 * np.sin(0.5)
    rolling = names["Rolling"]("wheel", names["m"].ground, names["shin"], radius=0.1)
    np.testing.assert_allclose(rolling.motion([2.0]).position, (0.2, 0, 0))
    rolling.radius = -1
    assert rolling.mistakes() == ["radius -1; give a length > 0"]
    np.testing.assert_allclose(names["a"], [mass * 9.81 * sink / (moment + mass * sink**2)], rtol=1e-12)
    np.testing.assert_allclose(names["egg"].inertia.mass, 1000 * 4 / 3 * np.pi * 0.2**2 * 0.3, rtol=1e-12)
    np.testing.assert_allclose(names["gap"], 0.2, rtol=1e-12)
    assert names["rough"].status == "DONE"
    assert Path("bodies.names").read_text() == "crank\nlever"


def test_files_run(tmp_path):
    names = run("docs/files.md")
    assert np.array_equal(names["run"].q, names["lw"].simulate(names["again"], 5.0).q)
    knee = names["lw"].load("swing.json").joints["knee"]
    assert knee.motion([0.5]).scalars() == names["knee"].motion([0.5]).scalars()
    # the file of the page is the file that is written
    page = (ROOT / "docs/files.md").read_text()
    typed = page.partition("```json\n")[2].partition("```")[0]
    names["m"].remove("knee")
    names["m"].remove("shin")
    names["m"].save("swing.json")
    assert json.loads((tmp_path / "swing.json").read_text()) == json.loads(typed)


def test_the_strobe_draws_and_keeps_the_energy(tmp_path, capsys):
    script = runpy.run_path(str(ROOT / "examples" / "strobe.py"))
    script["main"](str(tmp_path / "acrobat.svg"))
    (error,) = re.findall(r"energy error (\S+)", capsys.readouterr().out)
    assert float(error) < 1e-6
    assert (tmp_path / "acrobat.svg").read_text().count("<path") == 9 * 29


def test_the_brick_is_that_of_the_lecture(capsys):
    script = runpy.run_path(str(ROOT / "examples" / "brick.py"))
    brick = script["main"]()
    out = capsys.readouterr().out
    assert "mass 8.0 at [3.  1.5 0. ]" in out
    assert "[[10.  0.  0.]\n [ 0. 40.  0.]\n [ 0.  0. 34.]]" in out
    np.testing.assert_allclose(brick.x, (3 + 4, 1.5, 5 * 4 - 9.81 / 2 * 16), rtol=1e-12)
    (error,) = re.findall(r"energy error (\S+)", out)
    assert float(error) < 1e-8


def test_geometry_runs():
    names = run("docs/geometry.md")
    assert names["inertia"].mass == names["body"].inertia.mass
    np.testing.assert_allclose(names["flight"]["brick"].position[-1, 2], 5 * 4 - 9.81 / 2 * 16)


def test_the_page_on_conventions_runs():
    names = run("docs/conventions.md", lw=lw, np=np)
    np.testing.assert_allclose(names["X"].euler("ZYX"), np.deg2rad([30, 10, -5]))


def test_the_catalogue_of_joints_is_that_of_the_code():
    """Change a joint, and `python docs/joint_catalogue.py` makes tables and pictures anew."""
    made = runpy.run_path(str(ROOT / "docs/joint_catalogue.py"))
    assert (ROOT / "docs/joints.md").read_text(encoding="utf-8") == made["page"]()
    for kind in made["CATALOGUE"]:
        path = ROOT / "docs/pictures" / f"{kind.__name__.lower()}.svg"
        assert path.read_text(encoding="utf-8") == made["picture"](kind), path.name
    page = (ROOT / "docs/joints.md").read_text(encoding="utf-8")
    assert page.count("| `Revolute` | ![](pictures/revolute.svg)") == 2  # in space, and in the plane
    bases = run("docs/joints.md", lw=lw)["bases"]
    assert bases.motion.T @ bases.drive == pytest.approx(1.0)


def test_the_words_of_others_lead_to_names_that_are_there():
    page = (ROOT / "docs/glossary.md").read_text(encoding="utf-8").partition("## Words of others")[2]
    names = set(re.findall(r"`lw\.([A-Za-z_]+)", page))
    assert len(names) > 20
    assert all(hasattr(lw, name) for name in names)
    methods = set(re.findall(r"`model\.([a-z_]+)", page))
    assert all(hasattr(lw.Model, name) or name in lw.Model.__dataclass_fields__ for name in methods)


def test_one_line_of_everything_runs():
    names = run("docs/names.md")
    assert names["heard"] == ["touch"]


def test_every_public_name_is_documented_and_shown():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    code = "\n".join(block for page in pages for block in BLOCK.findall(page.read_text(encoding="utf-8")))
    for name in lw.__all__:
        text = inspect.getdoc(getattr(lw, name)) or ""
        assert text, f"{name} has no documentation"
        shown = re.search(rf"\blw\.{name}\b", code) or ">>>" in text
        assert shown, f"{name} has no example that runs; give it a line in docs/names.md"


def test_the_page_on_results_runs(capsys):
    names = run("docs/results.md", lw=lw, np=np)
    assert names["now"].time == 1.2345
    assert [axis.get_ylabel() for axis in names["figure"].axes] == [
        "pin: position [°]",
        "pole z: position [m]",
    ]
    shown = re.findall(r"# (State\(.*\))", (ROOT / "docs/results.md").read_text())
    assert shown == [str(names["state"])]


def test_the_leg_walks_as_jansen_found_it(tmp_path):
    script = runpy.run_path(str(ROOT / "examples" / "jansen.py"))
    path = script["main"](str(tmp_path / "leg.gif"), frames=13)
    np.testing.assert_allclose(
        [path.min(axis=0), path.max(axis=0)], [[-71.52, -91.83], [-3.61, -69.38]], atol=0.01
    )
    assert (tmp_path / "leg.gif").stat().st_size > 10000


def test_a_four_bar_is_fitted_to_a_path():
    script = runpy.run_path(str(ROOT / "examples" / "fit_four_bar.py"))
    np.testing.assert_allclose(script["main"](), [0.1, 0.3, 0.22, 0.2, 0.15, 0.1], atol=1e-9)


def test_the_page_on_kinematics_runs():
    names = run("docs/kinematics.md")
    assert len(names["modes"]) == 2
    assert abs(names["motion"]["lever"].angle[0]) < 1e-12


def test_the_page_on_loops_runs(capsys):
    names = run("docs/loops.md", lw=lw)
    assert "Bricard: 1 degree of freedom" in capsys.readouterr().out
    a, b = (names["run"][name].position[-1] for name in "AB")
    np.testing.assert_allclose(b, -2.0 * a, rtol=1e-9)
    pressed, cam = names["pressed"], names["cam"]
    assert (cam.nq, cam.nv) == (3, 2)
    normal = np.linalg.norm(pressed["cam"].reaction.force, axis=-1)
    np.testing.assert_allclose(np.abs(np.asarray(pressed["cam"].force)[:, 0]), normal, atol=1e-6)


def test_the_page_on_simulation_runs():
    mechanism = lw.examples.cart_pole()
    model = mechanism.compile()
    ball = lw.Mechanism("ball")
    ball.add(
        lw.Prismatic("fall", ball.ground, ball.add(lw.Body("ball", lw.Sphere(0.1), mass=1.0)), axis=(0, 0, 1))
    )
    ball = ball.compile()
    given = {"lw": lw, "np": np, "m": mechanism, "model": model, "pole": mechanism.bodies["pole"]}
    given |= {"state": model.state(pin=0.3), "q0s": np.full((8, 2), 0.1), "v0s": np.zeros((8, 2))}
    names = run("docs/simulation.md", **given, ball=ball)
    whole = lw.simulate(model, 10.0, given["state"])
    assert names["second"].final.q.tobytes() == whole.final.q.tobytes()
    period = 2 * np.pi * np.sqrt((0.5**2 + 0.4 * 0.05**2) / (9.81 * 0.5)) * (1 + 0.1**2 / 16)
    np.testing.assert_allclose(names["table"]["period"][0], period, rtol=1e-6)


def test_step_by_step_runs():
    names = run("docs/stepping.md")
    assert names["sim"].t == pytest.approx(0.2)
    assert abs(names["run"]["pin"].position[-1]) < 0.01
    assert abs(names["run"]["motor"].force).max() <= 20.0
    np.testing.assert_array_equal(names["again"].q, names["sim"].q)
    assert names["batch"].q.shape == (1000, 2)
    regulated = names["regulated"]
    whole = lw.simulate(regulated, 2.0, regulated.state(pin=0.1)).final
    np.testing.assert_array_equal(names["second"].final.q, whole.q)
    assert abs(whole.q[1]) < 0.01


def test_the_vector_environment_is_one_for_gymnasium(capsys):
    pytest.importorskip("gymnasium")
    script = runpy.run_path(str(ROOT / "examples" / "cart_pole_vector_env.py"))
    script["main"]()
    assert capsys.readouterr().out == "0 of 1000 poles fell in 10 s\n"
    environments = script["CartPoles"](7)
    first, _ = environments.reset(seed=3)
    again, _ = environments.reset(seed=3)
    np.testing.assert_array_equal(first, again)
    assert environments.observation_space.contains(first)
    push, begun = np.ones((7, 1), np.float32), np.zeros(7, bool)
    for _ in range(60):
        observed, rewards, terminated, truncated, _ = environments.step(push)
        assert environments.observation_space.contains(observed)
        np.testing.assert_array_equal(rewards, np.where(begun, 0.0, 1.0))
        assert (np.abs(observed[begun]) <= 0.05).all()  # it begins anew in the step after its end
        assert not truncated.any()
        begun = terminated
    assert environments.sim.t == pytest.approx(60 * 0.02)


def test_the_page_on_collision_runs():
    a, b = lw.Sphere(0.5), lw.Box(1, 1, 1, position=(2, 0, 0))
    model = lw.examples.cart_pole().compile()
    given = {"lw": lw, "a": a, "b": b, "mesh": a.mesh(), "points": np.zeros((2, 3)), "x": 0.0, "y": 0.0}
    given |= {
        "origin": (0, 0, 5),
        "direction": (0, 0, -1),
        "origins": [(0, 0, 5)],
        "directions": [(0, 0, -1)],
    }
    names = run("docs/collision.md", **given, model=model, q=model.q_drawn)
    np.testing.assert_allclose(names["contacts"].depth.max(), 0.01, rtol=1e-9)


def test_a_follower_floats_where_it_is_known_to(capsys):
    script = runpy.run_path(str(ROOT / "examples" / "valve.py"))
    script["main"]()
    said = capsys.readouterr().out
    assert "floats from 434.3 rad/s on, 4147 turns a minute; known: 434.3 rad/s" in said


def test_every_script_is_run_here():
    scripts = [path.name for path in sorted((ROOT / "examples").glob("*.py"))]
    names = "brick.py cart_pole_vector_env.py fit_four_bar.py jansen.py strobe.py valve.py"
    assert scripts == names.split()


def test_contact_runs():
    names = run("docs/contact.md")
    assert names["run"].report.status == "DONE"


def test_sound_runs(tmp_path):
    names = run("docs/sound.md")
    assert names["heard"].onsets[0].time == names["run"].contacts.impacts[0].time
    assert {path.name for path in tmp_path.iterdir()} >= {"balls.wav", "balls.html", "balls.mp4"}


def test_mechanic_runs():
    names = run("docs/mechanic.md")
    assert names["editor"].advice().summary.startswith("1 degree of freedom")
    assert names["run"].report.status == "DONE"


def test_every_page_with_code_is_run_here():
    pages = {path.name for path in (ROOT / "docs").glob("*.md") if BLOCK.search(path.read_text())}
    tested = set(re.findall(r'run\("docs/(\S+)"', Path(__file__).read_text()))
    assert pages - tested == {"viewer.md"}  # it opens browsers: tests/view has the same calls
