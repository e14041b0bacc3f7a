"""What steps cost a limp robot that falls, with its collision meshes as they are, and with their hulls.

The robot is the G1 humanoid of example-robot-data, whose 29 meshes have up to 19,000 triangles each. It falls
by 0.3 m; steps of 1/60 s, CPU time of a step in each quarter of a second.
"""

import sys
import time
import warnings
from pathlib import Path

import linkwork as lw

ROBOT = "cmeel.prefix/share/example-robot-data/robots/g1_description/urdf/g1_29dof_rev_1_0.urdf"
STEP, TURNS = 1 / 60, 4


def robot(hulls: bool) -> tuple[lw.Model, lw.State]:
    """Return the robot above the ground."""
    path = next((p for entry in sys.path if (p := Path(entry) / ROBOT).exists()), None)
    if path is None:
        sys.exit("example-robot-data is not installed: `make peers`")
    m = lw.load(path, base="free", hulls=hulls)
    m.ground.add(lw.Plane())
    m.add(lw.Contact("contact"))
    model = m.compile()
    lowest = min(pose.position[2] for pose in model.poses(model.state()).values())
    return model, model.state(base=[0, 0, 0.3 - lowest, 1, 0, 0, 0])


def main() -> None:
    for hulls in (False, True):
        print("hulls" if hulls else "meshes as they are", "[ms a step]")
        sim = lw.Simulation(*robot(hulls), step=STEP)
        sim.step()  # what is made once
        for turn in range(TURNS):
            begun = time.process_time()
            sim.step(n=15)
            print(f"  {0.25 * turn:4.2f} s {1e3 * (time.process_time() - begun) / 15:8.1f}")
        print("  ", *sim.recording.report.warnings)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
