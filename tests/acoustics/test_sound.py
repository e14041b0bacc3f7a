"""What is heard is in step with what happens: onsets, panning, distance, Doppler's shift, files."""

import wave

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples

SPEED = 343.0


def onsets(samples, rate, least=0.02, quiet=0.03):
    """Return when a sound begins anew: it gets three times as loud as in all of the time `quiet` before."""
    loud = np.abs(samples).max(axis=1)
    block = max(rate // 1000, 1)
    level = loud[: len(loud) // block * block].reshape(-1, block).max(axis=1)
    found, width = [], int(quiet * 1000)
    for k in range(1, len(level)):
        before = level[max(k - width, 0) : k].max()
        if level[k] > least and level[k] > 3.0 * before:
            found.append(k * block / rate)
    return np.array(found)


@pytest.fixture(scope="module")
def balls():
    return lw.simulate(examples.bouncing_balls((0.8,), 0.5), 1.5, step=1 / 60)


def test_sound_begins_when_bodies_hit_each_other(balls):
    heard = onsets(lw.sound(balls, travel=False).samples, 44100)
    hits = np.unique([one.time for one in balls.contacts.impacts])
    apart = hits[np.diff(hits, prepend=-1.0) > 0.1]
    assert len(apart) >= 3
    for time in apart:
        assert np.abs(heard - time).min() < 0.005


def test_sound_takes_its_time(balls):
    far = lw.sound(balls, (0.2, -34.3, 0.0))
    first = balls.contacts.impacts[0].time
    assert onsets(far.samples, far.rate)[0] == pytest.approx(first + 0.1, abs=0.002)


def test_what_comes_down_and_stays_is_heard_though_the_run_has_no_impact():
    m = lw.Mechanism("drop")
    box = m.add(lw.Body("box", lw.Box(0.2, 0.1, 0.05), density=600, position=(0, 0, 0.225)))
    wheel = m.add(lw.Body("wheel", lw.Inertia(1e-7, (0, 0, 0), 1e-12 * np.eye(3)), position=(0, 0, 0.225)))
    m.add(lw.Revolute("axle", box, wheel, axis=(0, 1, 0)))  # steps of trees are not divided at impacts
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact"))
    run = lw.simulate(m, 0.6, step=1 / 60)
    assert not run.report.impacts
    sound = lw.sound(run, travel=False)
    falls = np.sqrt(2 * 0.2 / 9.81)
    assert sound.onsets[0].time == pytest.approx(falls, abs=1e-6)
    assert sound.onsets[0].size == pytest.approx(600 * 0.001 * 9.81 * falls, rel=1e-6)
    assert onsets(sound.samples, sound.rate) == pytest.approx([falls], abs=0.005)


def test_an_ear_hears_more_and_sooner_what_is_on_its_side(balls):
    place = lw.Listener((-2.0, 0.0, 0.0), looks=(0, 1, 0))  # the ball is on the right
    left, right = lw.sound(balls, place).samples.T
    assert np.abs(right).max() > 1.5 * np.abs(left).max()
    peak = [int(np.flatnonzero(np.abs(ear) > 0.3 * np.abs(ear).max())[0]) for ear in (left, right)]
    assert (peak[0] - peak[1]) / 44100 == pytest.approx(0.175 / SPEED, abs=2e-4)


def test_twice_as_far_is_half_as_loud(balls):
    near, far = (lw.sound(balls, (0.2, -y, 0.0)).loudest for y in (10.0, 20.0))
    assert near / far == pytest.approx(2.0, rel=0.02)


def test_what_approaches_is_heard_higher():
    def pitch(velocity):
        m = lw.Mechanism("ride")
        ride = m.add(lw.Body("ride", lw.Box(1.0, 0.1, 0.02), density=7850, position=(0, 0, 1)))
        m.add(lw.Prismatic("rail", m.ground, ride, axis=(1, 0, 0), limits=(-100, 100)))
        hammer = m.add(lw.Body("hammer", lw.Sphere(0.02), density=7850, position=(0.48, 0, 1.3)))
        m.add(lw.Prismatic("fall", ride, hammer, axis=(0, 0, 1), limits=(-0.05, 1), stop="rigid"))
        model = m.compile()
        run = lw.simulate(model, 0.4, model.state(velocities={"rail": velocity}), step=1 / 240)
        sound = lw.sound(run, (100.0, 0.0, 1.0), materials={"ride": "steel"})
        spectrum = np.abs(np.fft.rfft(sound.samples[:, 0], 4 * len(sound.samples)))
        return np.argmax(spectrum) / len(spectrum)

    assert pitch(20.0) / pitch(0.0) == pytest.approx(1.0 / (1.0 - 20.0 / SPEED), rel=2e-3)


def test_a_box_that_slides_is_heard_as_long_as_it_does():
    m = lw.Mechanism("slide")
    m.add(lw.Body("box", lw.Box(0.3, 0.2, 0.1), density=600, position=(0, 0, 0.05)))
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact", material=lw.Material(friction=0.3)))
    model = m.compile()
    (joint,) = model.joint_names
    run = lw.simulate(model, 1.5, model.state(velocities={joint: (0, 0, 0, 2, 0, 0)}), step=1 / 60)
    sound = lw.sound(run, travel=False)
    stops = 2.0 / (0.3 * 9.81)
    loud = np.abs(sound.samples).max(axis=1)
    assert not sound.onsets
    assert loud[(sound.time > 0.05) & (sound.time < 0.6 * stops)].max() > 0.1
    assert loud[sound.time > stops + 0.2].max() < 1e-3


def test_stops_click_and_teeth_tick():
    m = lw.Mechanism("gears")
    for name, x, r in (("small", 0.0, 0.02), ("large", 0.06, 0.04)):
        body = m.add(lw.Body(name, lw.Cylinder(r, 0.01), density=7850, position=(x, 0, 0)))
        m.add(lw.Revolute(f"{name} axle", m.ground, body))
    m.add(lw.Gear("mesh", "small axle", "large axle", teeth=(10, 20)))
    model = m.compile()
    run = lw.simulate(model, 1.0, model.state(velocities={"small axle": 2 * np.pi}), every=0.01)
    times = [one.time for one in lw.sound(run).onsets]
    assert len(times) == pytest.approx(10, abs=1)
    assert np.diff(times) == pytest.approx(0.1, abs=1e-6)


def test_the_steam_engine_puffs_twice_a_turn():
    run = lw.simulate(examples.steam_engine(), 3.0, every=1 / 240)
    puffs = [one.time for one in lw.sound(run).onsets if one.kind == "puff"]
    turns = (run["bearing"].position[-1] - run["bearing"].position[0]) / (2 * np.pi)
    assert len(puffs) == pytest.approx(2 * turns, abs=1)


def test_the_same_run_sounds_the_same_and_is_a_file(balls, tmp_path):
    one, two = lw.sound(balls), lw.sound(balls)
    assert one.samples.tobytes() == two.samples.tobytes()
    balls.save_sound(tmp_path / "run.wav")
    with wave.open(str(tmp_path / "run.wav")) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, 44100)
        numbers = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2)
    assert np.abs(numbers / 32767 - one.samples).max() < 1e-4
    assert np.abs(one.samples).max() == pytest.approx(0.9)
    assert "audio" in one._repr_html_()


def test_level_keeps_runs_comparable(balls):
    sound = lw.sound(balls, level=120.0)
    assert np.abs(sound.samples).max() == pytest.approx(sound.loudest / 20.0, rel=1e-12)


def test_a_body_may_listen(balls):
    close = lw.sound(balls, "ball 1", level=130.0)
    assert close.listener.body == "ball 1"
    assert close.loudest > lw.sound(balls).loudest


def test_mistakes_are_answered(balls, tmp_path):
    for wrong, said in (
        (lambda: lw.sound(balls, "bal 1"), "did you mean 'ball 1'"),
        (lambda: lw.sound(balls, materials={"ball 1": "stel"}), "did you mean 'steel'"),
        (lambda: lw.sound(balls, materials={"bal": "steel"}), "did you mean"),
        (lambda: lw.sound(balls, (1.0, 2.0)), "give 3 numbers"),
        (lambda: lw.sound(balls, rate=100), "rate 100; give"),
        (lambda: lw.sound(balls, level=np.nan), "level nan; give"),
        (lambda: balls.save_sound(tmp_path / "x.mp3"), "give a name in .wav"),
        (lambda: lw.Listener(looks=(0, 0, 1)), "give two directions"),
        (lambda: lw.Listener((1, 2)), "give 3 numbers"),
    ):
        with pytest.raises((lw.LinkworkError, ValueError), match=said):
            wrong()


def test_a_run_from_a_file_needs_its_model(balls, tmp_path):
    balls.save(tmp_path / "run.lwr")
    loaded = lw.load(tmp_path / "run.lwr")
    with pytest.raises(lw.LinkworkError, match="give model="):
        lw.sound(loaded)
    assert lw.sound(loaded, model=balls.model).onsets == lw.sound(balls).onsets
