"""Mechanisms to try things on; tests, demonstrations and benchmarks use the same ones.

All are drawn closed: every joint's coordinate is measured from the drawing. `hills` are terrain to put them
on, `breaking_bridge` is a scene.
"""

from linkwork.examples.creatures import crowd, ragdoll
from linkwork.examples.creatures import hills as hills
from linkwork.examples.engines import slider_crank, steam_engine, three_cylinder_engine
from linkwork.examples.falling import (
    bouncing_balls,
    brick_wall,
    dominoes,
    newtons_cradle,
    rolling_race,
)
from linkwork.examples.intermittent import geneva_drive, gripper, ratchet
from linkwork.examples.linkages import four_bar, four_bars, jansen_leg
from linkwork.examples.overconstrained import bennett, bricard
from linkwork.examples.platform_tasks import flight_simulator, picker
from linkwork.examples.platforms import delta_robot, stewart_platform
from linkwork.examples.quadrupeds import pack, quadruped
from linkwork.examples.robots import robot_arm
from linkwork.examples.structures import breaking_bridge as breaking_bridge
from linkwork.examples.structures import bridge, tower
from linkwork.examples.tree_mechanisms import acrobat, cart_pole, chain
from linkwork.examples.tumbling import flipping_box
from linkwork.examples.walking import humanoid, passive_walker, walking_robot

__all__ = [
    "acrobat",
    "bennett",
    "bouncing_balls",
    "bricard",
    "brick_wall",
    "bridge",
    "cart_pole",
    "chain",
    "crowd",
    "delta_robot",
    "dominoes",
    "flight_simulator",
    "flipping_box",
    "four_bar",
    "four_bars",
    "geneva_drive",
    "gripper",
    "humanoid",
    "jansen_leg",
    "newtons_cradle",
    "pack",
    "passive_walker",
    "picker",
    "quadruped",
    "ragdoll",
    "ratchet",
    "robot_arm",
    "rolling_race",
    "slider_crank",
    "steam_engine",
    "stewart_platform",
    "three_cylinder_engine",
    "tower",
    "walking_robot",
]
