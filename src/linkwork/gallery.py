"""The gallery: mechanisms of `linkwork.examples`, and a scene, as they begin, each with what to look at."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from linkwork import examples
from linkwork.acoustics.sound import Sound, sound
from linkwork.examples.walking import walking_velocities
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.model import Model
from linkwork.recording.recording import Recording
from linkwork.scene.scene import Scene
from linkwork.simulation.simulate import simulate


@dataclass(frozen=True)
class Demo:
    """A mechanism, how it begins, and which curves show what it does."""

    about: str
    build: Callable[[], Mechanism]
    watch: tuple[str, ...]  # curves of the table; the first one is drawn
    duration: float = 10.0  # s
    positions: Mapping[str, Any] = field(default_factory=dict)
    velocities: Mapping[str, Any] = field(default_factory=dict)
    step: float | None = None  # of fixed steps [s]
    scene: Callable[[], Scene] | None = None  # in place of the mechanism alone
    sound: bool = False  # whether its page is heard
    materials: Mapping[str, str] = field(default_factory=dict)  # that bodies sound like

    def play(self, model: Model, span: float, every: float | None) -> Recording:
        """Return what it does in this time."""
        if self.scene is None:
            state = model.state(self.positions, velocities=self.velocities)
            return simulate(model, span, state, every=every, step=self.step)
        world = self.scene()
        for _ in range(round(span / world.step_size)):
            world.step(world.step_size)
        return world.recording

    def heard(self, motion: Recording) -> Sound:
        """Return what a listener hears of it."""
        return sound(motion, materials=self.materials)


GALLERY: dict[str, Demo] = {
    "steam-engine": Demo(
        "a steam engine with three loops starts by itself",
        examples.steam_engine,
        ("bearing.velocity", "piston rod.position[0]"),
        sound=True,
    ),
    "three-cylinders": Demo(
        "an engine of three cylinders, 9 equations too many, coasts",
        examples.three_cylinder_engine,
        ("bearing.velocity", "piston 1.position[2]"),
        velocities={"bearing": 30.0},
    ),
    "four-bar": Demo(
        "a crank-rocker, turned by a push",
        examples.four_bar,
        ("A.velocity", "rocker.angle"),
        5.0,
        velocities={"A": 15.0},
    ),
    "slider-crank": Demo(
        "a crank, a rod and a piston",
        examples.slider_crank,
        ("bearing.velocity", "piston.position[0]"),
        5.0,
        velocities={"bearing": 20.0},
    ),
    "jansen": Demo(
        "a leg of Theo Jansen's beasts, three loops, swings",
        examples.jansen_leg,
        ("crank.angle",),
        5.0,
    ),
    "bricard": Demo(
        "six hinges in a ring that should be rigid, and is not",
        examples.bricard,
        ("P0.position", "P1.position"),
        5.0,
    ),
    "bennett": Demo(
        "four skew hinges in a ring: the only such loop that moves",
        examples.bennett,
        ("A.position", "B.position"),
        5.0,
    ),
    "flipping-box": Demo(
        "a box spun about its middle axis turns over, and over",
        examples.flipping_box,
        ("flight.velocity[1]", "flight.velocity[0]"),
        20.0,
        velocities={"flight": (0.01, 5.0, 0.0, 0.0, 0.0, 0.0)},
    ),
    "cart-pole": Demo(
        "a pole on a cart falls over and swings",
        examples.cart_pole,
        ("pin.position", "rail.position"),
        positions={"pin": 0.1},
    ),
    "chain": Demo(
        "a chain of 20 links swings",
        lambda: examples.chain(20),
        ("link19.position[1]",),
        5.0,
        positions={"pin0": 1.0},
    ),
    "acrobat": Demo(
        "a figure of 26 freedoms swings on a bar by one hand",
        examples.acrobat,
        ("head.position[1]", "left foot.position[2]"),
        3.0,
        velocities={"bar": (2.0, 0.0, 0.0)},
    ),
    "robot-arm": Demo(
        "six hinges, six motors: an arm follows its orders",
        examples.robot_arm,
        ("shoulder.position", "tool.position[0]"),
        5.0,
    ),
    "delta-robot": Demo(
        "three arms fetch, carry and set down, and hold the platform level: five loops",
        examples.picker,
        ("platform.position[0]", "platform.position[2]"),
        6.0,
    ),
    "stewart-platform": Demo(
        "a flight simulator on six legs: six freedoms, five loops",
        examples.flight_simulator,
        ("platform.position[2]", "leg 1.position"),
        6.0,
    ),
    "four-bars": Demo(
        "forty four-bars in a row, forty loops",
        lambda: examples.four_bars(40),
        ("ground pin 0.position", "ground pin 0.velocity"),
        1.0,
        velocities={"ground pin 0": -1.0},
    ),
    "bouncing-balls": Demo(
        "three balls bounce, each as high as its material lets it",
        examples.bouncing_balls,
        ("ball 3.position[2]", "ball 1.position[2]"),
        3.0,
        step=1 / 60,
    ),
    "rolling-race": Demo(
        "a ball, a cylinder and a hollow ball roll down a slope",
        examples.rolling_race,
        ("ball.position[0]", "hollow ball.position[0]"),
        2.0,
        step=1 / 60,
    ),
    "dominoes": Demo(
        "twenty dominoes, one after the other",
        examples.dominoes,
        ("domino 20.position[2]", "domino 2.position[2]"),
        2.0,
        step=1 / 60,
    ),
    "newtons-cradle": Demo(
        "five balls in a row pass on a blow",
        examples.newtons_cradle,
        ("pin 5.position", "pin 1.position"),
        3.0,
        positions={"pin 1": 0.5},
        step=1 / 60,
    ),
    "brick-wall": Demo(
        "a wall of thirty-six bricks is shot at",
        examples.brick_wall,
        ("ball.position[1]", "brick 4.3.position[1]"),
        2.0,
        velocities={"flight": (0.0, 0.0, 0.0, 0.0, 20.0, 0.0)},
        step=1 / 60,
    ),
    "geneva-drive": Demo(
        "a crank that turns turns a wheel by a quarter, and rests",
        examples.geneva_drive,
        ("axle.position", "crankshaft.position"),
        4.0,
        step=1 / 240,
    ),
    "ratchet": Demo(
        "a crank-rocker pushes a wheel on, tooth by tooth",
        examples.ratchet,
        ("axle.position", "pawl pin.position"),
        4.0,
        step=1 / 240,
    ),
    "gripper": Demo(
        "two fingers hold a box by friction, and lift it",
        examples.gripper,
        ("box.position[2]", "left.position"),
        3.0,
        step=1 / 60,
    ),
    "humanoid": Demo(
        "a robot of 27 freedoms, read from URDF, stands on its servos",
        examples.humanoid,
        ("pelvis.position[2]", "left_knee.position"),
        5.0,
        step=1 / 60,
    ),
    "walking-robot": Demo(
        "the same robot walks",
        examples.walking_robot,
        ("pelvis.position[0]", "pelvis.position[1]"),
        step=1 / 60,
    ),
    "passive-walker": Demo(
        "two legs walk down a slope by gravity alone",
        examples.passive_walker,
        ("left leg.position[0]", "hip.position"),
        4.9,
        velocities=walking_velocities(),
        step=1 / 1000,
    ),
    "quadruped": Demo(
        "a creature on four legs trots, steered by a controller",
        examples.quadruped,
        ("trunk.position[0]", "left fore knee.position"),
        step=1 / 60,
        sound=True,
    ),
    "pack": Demo(
        "five creatures trot over hills",
        examples.pack,
        ("3 trunk.position[0]", "3 trunk.position[2]"),
        step=1 / 60,
        sound=True,
    ),
    "ragdoll": Demo(
        "a human without any strength falls down",
        lambda: examples.ragdoll(position=(0.0, 0.0, 0.3)),
        ("head.position[2]", "left knee.position"),
        3.0,
        velocities={"base": (1.0, 0.7, 0.3, 1.0, 0.0, 0.0)},
        step=1 / 60,
        sound=True,
    ),
    "ragdolls": Demo(
        "four ragdolls fall down on hills",
        lambda: examples.crowd(4, ground=examples.hills(10.0, 0.4)),
        ("4 head.position[2]", "1 head.position[2]"),
        3.0,
        step=1 / 60,
        sound=True,
    ),
    "tower": Demo(
        "a tower of sixteen blocks is shot at and falls down",
        examples.tower,
        ("ball.position[0]", "block 8.2.position[2]"),
        3.0,
        velocities={"flight": (0.0, 0.0, 0.0, 5.0, 0.0, 2.0)},
        step=1 / 60,
        sound=True,
    ),
    "bridge": Demo(
        "a ball falls on a bridge whose welds break",
        examples.bridge,
        ("ball/ball.position[2]", "bridge/plank 5.position[2]"),
        3.0,
        step=1 / 60,
        scene=examples.breaking_bridge,
        sound=True,
    ),
}
