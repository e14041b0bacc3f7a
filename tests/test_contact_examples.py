"""Examples that move by contact: each does what it is for, in steps of 1/60 s, small parts of 1/240 s.

Those with closed loops do so with an accuracy, too.
"""

import numpy as np
import pytest

import linkwork as lw
from linkwork import examples
from linkwork.contact_dynamics.detection.colliding_bodies import deep_overlaps, meeting
from linkwork.examples.walking import walking_velocities

EXAMPLES = [
    "bouncing_balls",
    "rolling_race",
    "dominoes",
    "newtons_cradle",
    "brick_wall",
    "geneva_drive",
    "ratchet",
    "gripper",
    "humanoid",
    "walking_robot",
    "passive_walker",
]


def run(name: str, duration: float, step: float = 1 / 60, **velocities) -> lw.Recording:
    model = getattr(examples, name)().compile()
    return lw.simulate(model, duration, model.state(velocities=velocities), step=step)


@pytest.mark.parametrize("name", EXAMPLES)
def test_nothing_overlaps_as_drawn(name) -> None:
    mechanism = getattr(examples, name)()
    world = meeting(mechanism.compile().mechanism)
    assert world.contacts().depth.max(initial=0.0) < 1e-9
    assert not deep_overlaps(world)


def test_a_race_is_won_by_the_smallest_moment_of_inertia() -> None:
    moved = run("rolling_race", 1.0)
    fall = 9.81 * np.sin(np.radians(20))
    for name, k in (("ball", 2 / 5), ("cylinder", 1 / 2), ("hollow ball", 2 / 3)):
        way = np.linalg.norm(moved[name].position[-1] - moved[name].position[0])
        assert way == pytest.approx(0.5 * fall / (1 + k), abs=1e-6)


@pytest.mark.filterwarnings("ignore:.*contacts were not solved")
def test_all_dominoes_fall_one_after_the_other() -> None:
    moved = run("dominoes", 2.0)
    upright = np.array([moved[f"domino {k}"].rotation[:, 2, 2] for k in range(1, 21)])
    assert upright[1:, 0].min() == 1.0
    assert upright[:, -1].max() < 0.5
    fell = np.argmax(upright < 0.9, axis=1)
    assert (np.diff(fell) >= 0).all()
    assert fell[-1] > fell[0] + 20  # of 60 steps a second


@pytest.mark.filterwarnings("ignore:.*contacts were not solved")
def test_a_wall_stands_and_is_shot_through() -> None:
    still = run("brick_wall", 1.0)
    bricks = [name for name in examples.brick_wall().bodies if name != "ball"]
    for name in bricks:
        assert np.abs(still[name].position - still[name].position[0]).max() < 1e-5
    shot = run("brick_wall", 0.5, flight=(0, 0, 0, 0, 20, 0))
    moved = [np.abs(shot[name].position[-1] - shot[name].position[0]).max() for name in bricks]
    assert max(moved) > 0.3
    assert sum(x < 0.1 for x in moved) > 3  # the corners stay
    assert shot["ball"].velocity[-1][1] < 10.0


@pytest.mark.filterwarnings("ignore:.*contacts were not solved")
@pytest.mark.parametrize("step", [1 / 240, 1 / 480])
def test_a_geneva_wheel_turns_by_a_slot_a_turn_and_rests(step) -> None:
    moved = run("geneva_drive", 4.0, step)
    turns = moved["axle"].position / (-np.pi / 2)
    at = [round(t / step) for t in (1.0, 2.0, 3.0, 4.0)]  # the pin is opposite to the wheel
    assert np.abs(turns[at] - [1, 2, 3, 4]).max() < 0.06  # what the play allows
    quarter = round(0.25 / step)
    assert np.ptp(turns[at[0] - quarter : at[0] + quarter]) < 0.15


@pytest.mark.filterwarnings("ignore:.*contacts were not solved")
@pytest.mark.parametrize("step", [1 / 240, 1 / 480])
def test_a_ratchet_advances_by_a_tooth_a_turn(step) -> None:
    moved = run("ratchet", 4.0, step)
    teeth = moved["axle"].position / (-np.pi / 8)
    at = [round(t / step) for t in (1.0, 2.0, 3.0, 4.0)]
    assert np.diff(teeth[at]) == pytest.approx(1.0, abs=1e-3)
    turned = moved["crankshaft"].position[at] / (2 * np.pi)
    assert turned == pytest.approx([1, 2, 3, 4], abs=1e-6)


@pytest.mark.filterwarnings("ignore:.*no finite forces", "ignore:.*contacts did not come to an end")
def test_a_geneva_wheel_turns_by_a_slot_a_turn_with_an_accuracy() -> None:
    moved = lw.simulate(examples.geneva_drive(), 1.0, times=[0.3, 1.0])
    assert moved["axle"].position / (-np.pi / 2) == pytest.approx([0.0, 1.0], abs=0.06)


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore:.*no finite forces")
def test_a_ratchet_advances_by_a_tooth_a_turn_with_an_accuracy() -> None:
    moved = lw.simulate(examples.ratchet(), 3.0, times=[1.0, 2.0, 3.0])
    assert np.diff(moved["axle"].position / (-np.pi / 8)) == pytest.approx(1.0, abs=1e-6)
    assert moved["crankshaft"].position / (2 * np.pi) == pytest.approx([1, 2, 3], abs=1e-9)


def test_a_gripper_lifts_a_box_and_holds_it() -> None:
    moved = run("gripper", 10.0)
    box, arm = moved["box"].position, moved["arm"].position
    late = moved.time > 2.5  # it was lifted from 1 s to 2 s
    assert box[late, 2] == pytest.approx(0.1, abs=1e-3)
    assert arm[late] == pytest.approx(0.1, abs=1e-6)
    assert np.ptp(box[late], axis=0).max() < 1e-6  # it does not creep
    held = moved["box"].contact_force[-1]
    assert held == pytest.approx((0, 0, 0.5 * 9.81), abs=1e-3)
    assert moved.contacts.at(10.0).of("left finger").normal_force.sum() == pytest.approx(20.0, abs=0.01)


def test_balls_bounce_as_their_materials_let_them() -> None:
    moved = run("bouncing_balls", 3.0)
    heights = {k: moved[f"ball {k}"].position[:, 2] - 0.05 for k in (1, 2, 3)}
    for k, e in ((1, 0.5), (2, 0.7), (3, 0.9)):
        fall = np.sqrt(2 / 9.81)
        top = fall * (1 + e)  # when it is highest again
        near = round(top * 60)
        exact = e**2 - 0.5 * 9.81 * (moved.time[near] - top) ** 2
        assert heights[k][near] == pytest.approx(exact, abs=1e-6)
        hits = [t for t, name in moved.report.events if name.endswith(f"ball {k}")]
        assert hits[0] == pytest.approx(fall, abs=1e-9)


def test_a_cradle_passes_the_blow_on() -> None:
    model = examples.newtons_cradle().compile()
    moved = lw.simulate(model, 1.0, model.state({"pin 1": 0.5}), step=1 / 60)
    angles = np.array([moved[f"pin {k}"].position for k in range(1, 6)])
    swung = int(np.argmin(angles[4]))
    assert angles[4, swung] == pytest.approx(-0.5, abs=0.01)
    assert np.abs(angles[:4, swung]).max() < 0.02


@pytest.mark.filterwarnings("ignore:.*contacts were not solved")
def test_a_humanoid_from_urdf_stands_without_sinking() -> None:
    stands = run("humanoid", 10.0)
    late = stands.time >= 2.0  # it has bent its knees
    for foot in ("left_foot", "right_foot"):
        place = stands[foot].position[late]
        assert np.abs(place - place[0]).max() < 1e-6
        assert place[:, 2].min() > 0.08 - 1e-6  # of its ankle, which is 8 cm above the sole
    assert stands["pelvis"].position[late, 2] == pytest.approx(0.82, abs=2e-3)


@pytest.mark.filterwarnings("ignore:.*contacts were not solved")
def test_a_robot_from_urdf_walks_on_its_servos() -> None:
    walks = run("walking_robot", 10.0)
    assert walks["pelvis"].rotation[:, 2, 2].min() > 0.99  # upright
    assert walks["pelvis"].position[-1, 0] == pytest.approx(0.92, abs=0.05)  # 1.25 steps of 0.1 m a second
    feet = [walks[f"{side}_foot"].position for side in ("left", "right")]
    corner = np.array([0.15, 0.06, -0.08])  # of the sole
    for foot, place in zip(("left_foot", "right_foot"), feet, strict=True):
        low = [
            (place + walks[foot].rotation @ (corner * signs))[:, 2].min()
            for signs in ((1, 1, 1), (1, -1, 1), (-0.6, 1, 1), (-0.6, -1, 1))
        ]
        assert min(low) > -2e-4  # no deeper than a foot that lands at 1/60 s
        assert np.ptp(place[walks.time > 4.0, 2]) > 0.03  # it is lifted
    apart = np.abs(feet[0][:, 0] - feet[1][:, 0])
    assert apart[walks.time > 4.0].max() > 0.09


def test_a_passive_walker_has_the_gait_that_was_published() -> None:
    """Garcia et al. 1998: legs apart by 0.4006 rad at a step, at 0.009 rad; a step takes 3.8825 sqrt(l/g)."""
    model = examples.passive_walker().compile()
    start = model.state(velocities=walking_velocities())
    walks = lw.simulate(model, 5.2, start, step=1 / 2000)
    a, b = walks["left leg"].angle, walks["right leg"].angle
    leads = np.abs(b) - np.abs(a)  # is zero where both feet are on the slope
    steps = np.flatnonzero((leads[:-1] * leads[1:] <= 0.0) & (np.abs(a[:-1]) > 0.15))
    steps = steps[np.diff(steps, prepend=-1000) > 200]  # the beginning is one
    assert len(steps) == 5
    assert np.diff(walks.time[steps]).mean() == pytest.approx(3.8825 / np.sqrt(9.81), rel=5e-3)
    assert np.abs(a - b)[steps] == pytest.approx(
        0.4006, rel=0.03
    )  # an impact takes a step: feet move a millimetre in it
    assert walks["left leg"].position[-1, 1] == pytest.approx(0.0, abs=1e-5)
