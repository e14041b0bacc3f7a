"""One set of words for all results: runs, batches, kinematics, free bodies, forests; and their files."""

import pickle
import re

import numpy as np
import pandas
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import linkwork as lw


def words(text):
    return text.split()


WHOLE = words("summary plot to_dataframe to_xarray save show save_html save_video snapshot at")
BODY = words("pose position rotation velocity angular_velocity acceleration angular_acceleration")
BODY += words("momentum angular_momentum angle")
JOINT = words("position velocity acceleration force reaction")
ARRAYS = words("time q v a work energy kinetic_energy potential_energy momentum center_of_mass energy_error")


def four_bar():
    m = lw.examples.four_bar()
    m.add(lw.Driver("motor", next(iter(m.joints)), lambda t: 0.5 * t))
    return m


def plate():
    return lw.RigidBody("rod", lw.Inertia(1.0, (0.2, 0), 0.1), velocity=(1, 2), angular_velocity=9.0)


def brick():
    return lw.RigidBody("rod", lw.Box(0.3, 0.2, 0.1), mass=1.0, angular_velocity=(0.1, 9.0, 0.1))


def batch(make):
    model = make().compile()
    return lw.simulate(model, 0.5, q=np.tile(model.q_drawn, (3, 1)), every=0.1)


RESULTS = {
    "run": lambda: lw.simulate(lw.examples.cart_pole(), 0.5, every=0.1),
    "run in the plane": lambda: lw.simulate(lw.examples.four_bar(), 0.5, every=0.1),
    "batch": lambda: batch(lw.examples.cart_pole),
    "batch in the plane": lambda: batch(lw.examples.four_bar),
    "kinematics": lambda: lw.kinematics(four_bar(), np.linspace(0.0, 0.5, 6)),
    "free bodies": lambda: lw.integrate(brick(), 0.5, every=0.1),
    "free bodies in the plane": lambda: lw.integrate(plate(), 0.5, gravity=(0, -9.81), every=0.1),
    "a run of a batch": lambda: batch(lw.examples.cart_pole)[1],
    "a run of a forest": lambda: lw.Forest({"a": lw.examples.cart_pole()}).simulate(0.5, every=0.1)["a"],
}
MADE: dict = {}


@pytest.fixture(params=[*RESULTS, *(f"{name}, from a file" for name in RESULTS)])
def result(request, tmp_path_factory):
    name, _, _stored = request.param.partition(", ")
    if name not in MADE:
        MADE[name] = RESULTS[name]()
        path = tmp_path_factory.mktemp("runs") / "run.lwr"
        MADE[name].save(path)
        MADE[f"{name}, from a file"] = lw.load(path)
    return MADE[request.param]


def batched(result) -> bool:
    return isinstance(result, lw.Recordings)


def lead(result) -> tuple:
    return result.recorded.shape


def names(result):
    layout = result.layout
    return layout.bodies[0], next(name for name, (_, v) in layout.joints.items() if v.stop > v.start)


def test_every_word_is_there_and_is_documented(result):
    for word in WHOLE:
        assert getattr(type(result), word).__doc__, word


def test_arrays_of_the_whole(result):
    for word in ARRAYS:
        value = np.asarray(getattr(result, word))
        inner = (
            lead(result)[-1:]
            if word == "time"
            else lead(result)[:-1]
            if word == "energy_error"
            else lead(result)
        )
        assert value.shape[: len(inner)] == inner, word
    assert all(gap.shape == lead(result) for gap in result.loop_gaps.values())


def test_bodies_have_the_same_words(result):
    body = result[names(result)[0]]
    d = result.layout.algebra.dimension
    for word in BODY:
        if word == "angle" and result.layout.space == "space":
            with pytest.raises(AttributeError, match="`angle` is for the plane; in space use `rotation`"):
                body.angle  # noqa: B018
            continue
        value = body.pose.position if word == "pose" else getattr(body, word)
        assert np.shape(value)[: len(lead(result))] == lead(result), word
    assert body.trace([0.1] * d).shape == (*lead(result), d)
    np.testing.assert_allclose(body.trace([0.0] * d), body.position)


def test_joints_have_the_same_words(result):
    joint = result[names(result)[1]]
    for word in JOINT:
        value = joint.reaction.force if word == "reaction" else getattr(joint, word)
        assert np.shape(value)[: len(lead(result))] == lead(result), word


def test_angles_count_turns_everywhere(result):
    if result.layout.space == "space":
        return
    for name in result.layout.bodies:
        rotation = result[name].rotation
        within = np.arctan2(rotation[..., 1, 0], rotation[..., 0, 0])
        turned = result[name].angle - result[name].angle[..., :1]
        np.testing.assert_allclose(np.exp(1j * (result[name].angle - within)), 1.0, atol=1e-9)
        np.testing.assert_allclose(turned, np.unwrap(within) - within[..., :1], atol=1e-9)


def test_it_is_told_in_words_and_drawn_as_a_figure(result):
    body, joint = names(result)
    assert len(result.summary().splitlines()) >= 3
    for figure in (
        result.plot(),
        result.plot(joint, f"{body}.velocity", "energy", degrees=True),
        result.plot(f"{body}.position[0]", against=f"{body}.position[1]"),
        lw.plot([result, result], joint),
        lw.plot({"one": result, "two": result}, joint),
    ):
        assert isinstance(figure, Figure)
        pyplot.close(figure)


def test_tables_have_joints_and_bodies(result):
    body, joint = names(result)
    frame, dataset = result.to_dataframe(), result.to_xarray()
    for table in (frame.columns, dataset.data_vars):
        labels = [str(label) for label in table]
        assert any(label.startswith(f"{joint}.position") for label in labels)
        assert {f"{body}.position[0]", f"{body}.velocity[1]"} <= {*labels}
        assert any(label.startswith((f"{body}.rotation[", f"{body}.angle")) for label in labels)
    assert len(frame) == result.recorded.sum()
    assert frame.index.names == (["run", "time"] if batched(result) else ["time"])


def test_it_is_known_at_a_time(result):
    body, joint = names(result)
    t = float(result.time[3])
    there = result.at(t)
    for found, known in (
        (there[body].position, result[body].position),
        (there[joint].position, result[joint].position),
    ):
        expected = known[:, 3] if batched(result) else known[3]
        assert np.array_equal(found, expected)
    assert np.array_equal(result.at([t, t])[body].position[..., 0, :], there[body].position)
    if result.model is None:
        with pytest.raises(lw.SimulationError, match=r"between the samples of a file.*run it again"):
            result.at(0.123)
    else:
        between = result.at([0.123, 0.4567])
        assert np.isfinite(between[body].acceleration).all()
        assert between[joint].position.shape[: len(lead(result))] == (*lead(result)[:-1], 2)
        assert between[body].trace([0.0] * result.layout.algebra.dimension).shape[-2] == 2
    with pytest.raises(ValueError, match=re.escape("outside the recording, 0 to 0.5 s")):
        result.at(0.6)


def test_it_is_seen(result, tmp_path):
    if batched(result):
        calls = (
            result.show,
            result.snapshot,
            lambda: result.save_html("x"),
            lambda: result.save_video("x.gif"),
        )
        for call in calls:
            with pytest.raises(lw.LinkworkError, match=r"3 runs of one mechanism.*runs\[0\]\."):
                call()
        return
    result.snapshot(0.2).save(tmp_path / "picture.svg")
    result.save_html(tmp_path / "page.html")
    result.save_video(tmp_path / "film.gif", size=(64, 48), rate=4)
    for name in ("picture.svg", "page.html", "film.gif"):
        assert (tmp_path / name).stat().st_size > 250
    with result.show(open_browser=False, block=False) as viewer:
        assert viewer.url.startswith("http://")


def test_what_is_saved_is_the_same(result, tmp_path):
    body, joint = names(result)
    result.save(tmp_path / "run.lwr")
    again = lw.load(tmp_path / "run.lwr")
    for thing in (body, joint):
        for word in ("position", "velocity", "acceleration"):
            assert getattr(again[thing], word).tobytes() == getattr(result[thing], word).tobytes()
    assert again[body].momentum.tobytes() == result[body].momentum.tobytes()


def test_curves_are_written_as_a_table(result, tmp_path):
    body = names(result)[0]
    result.save(tmp_path / "run.csv")
    frame = pandas.read_csv(tmp_path / "run.csv")
    assert len(frame) == result.recorded.sum()
    column = frame[f"{body}.position[0] [m]"].to_numpy()
    assert np.array_equal(column, result[body].position[..., 0][result.recorded])
    if batched(result):
        assert frame["run"].tolist() == [k for k, row in enumerate(result.recorded) for _ in range(row.sum())]


def test_numbers_over_time_are_not_printed_one_by_one(result):
    body, joint = names(result)
    for printed in (repr(result[body].pose), repr(result[joint].reaction), repr(result.at(0.1))):
        assert len(printed) < 200


def test_a_result_cannot_be_changed(result):
    body, joint = names(result)
    for thing, word, meant in (
        (result, "tme", "did you mean 'time'"),
        (result, "qpos", r"\.q"),
        (result, "time", "computed"),
        (result, "energy", "computed"),
        (result[joint], "velocty", "did you mean 'velocity'"),
        (result[joint], "position", "computed"),
        (result[body], "positon", "did you mean 'position'"),
        (result[body], "rotation", "computed"),
        (result.at(result.time[1]), "q", "computed"),
    ):
        with pytest.raises(AttributeError, match=f"{word} .*cannot be set to 1") as refused:
            setattr(thing, word, 1)
        assert re.search(meant, str(refused.value))


def test_a_result_that_was_pickled_cannot_be_changed_either():
    again = pickle.loads(pickle.dumps(lw.simulate(lw.examples.cart_pole(), 0.1)))
    with pytest.raises(AttributeError, match="q was computed and cannot be set"):
        again.q = 1


def test_a_forest_answers_to_the_same_words(tmp_path):
    forest = lw.Forest({"left": lw.examples.cart_pole(), "right": lw.examples.cart_pole()})
    run = forest.simulate(0.5, forest.state({"left": {"pin": 0.3}}), every=0.1)
    for word in WHOLE:
        assert getattr(type(run), word).__doc__, word
    assert isinstance(run.plot(), Figure)
    (axis,) = run.plot("left/pin", "right/pin", degrees=True).axes
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["left/pin", "right/pin"]
    np.testing.assert_allclose(axis.lines[0].get_ydata(), np.rad2deg(run["left/pin"].position))
    pyplot.close("all")
    frame = run.to_dataframe("left/pin", "right/pole.position")
    assert list(frame.columns)[:2] == ["left/pin.position", "right/pole.position[0]"]
    assert run.to_xarray("left/pin")["left/pin.position"].units == "rad"
    assert run.at(0.123)["left/pole"].position.shape == (3,)
    assert run.at(0.123)["left"]["pin"].position == run["left"].at(0.123)["pin"].position
    for call in (
        lambda: run.save(tmp_path / "x.lwr"),
        run.show,
        run.snapshot,
        lambda: run.save_html("x.html"),
        lambda: run.save_video("x.gif"),
    ):
        with pytest.raises(lw.LinkworkError, match=r"take one of them, run\['left'\]\."):
            call()
    with pytest.raises(KeyError, match="did you mean 'left'"):
        run.at(0.1)["lift/pin"]
    with pytest.raises(AttributeError, match=r"use run\['member'\]\.status, or .* run\.failed"):
        run.status  # noqa: B018


def test_turns_are_counted_where_a_joint_turns_at_an_uneven_rate():
    class Uneven(lw.Joint):
        def motion(self, q):
            return lw.rotation(q[0] + 0.5 * lw.sin(q[0]))

    m = lw.Mechanism("wheel", space="plane", gravity=(0, 0))
    wheel = m.add(lw.Body("wheel", lw.Inertia(1.0, (0, 0), 0.1)))
    m.add(Uneven("axle", m.ground, wheel))
    model = m.compile()
    run = lw.simulate(model, 3.0, model.state(velocities={"axle": 20.0}), every=0.5)
    q = run["axle"].position
    assert q[-1] > 30.0
    np.testing.assert_allclose(run["wheel"].angle, q + 0.5 * np.sin(q), atol=1e-9)
