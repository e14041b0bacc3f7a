"""Start-up with all built-in joints: import, first use on a machine, first use in a later process."""

import os
import subprocess
import sys
import tempfile

USE = """
import time
began = time.perf_counter()
import linkwork as lw
imported = time.perf_counter()
m = lw.Mechanism("all joints")
joints = [lw.Free, lw.Revolute, lw.Prismatic, lw.Cylindrical, lw.Universal, lw.Spherical, lw.Planar, lw.Fixed]
above = m.ground
for k, joint in enumerate(joints):
    body = m.add(lw.Body(f"b{k}", lw.Box(0.1, 0.2, 0.3), density=1000, position=(0, 0, -0.5 * k)))
    m.add(joint(f"j{k}", above, body, at=None if joint is lw.Free else (0, 0, -0.5 * k)))
    above = body
body = m.add(lw.Body("last", lw.Sphere(0.1), density=1000, position=(0, 0, -5)))
m.add(lw.Helical("screw", above, body, at=(0, 0, -5), pitch=0.01))
model = m.compile()
state = model.state()
model.forward_dynamics(state.q, state.v, state.v)
print(imported - began, time.perf_counter() - imported)
"""


def measure(cache: str) -> tuple[float, float]:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {
        "LINKWORK_CACHE": cache
    }
    line = subprocess.run(
        [sys.executable, "-c", USE], env=environment, check=True, capture_output=True, text=True
    )
    imported, used = map(float, line.stdout.split())
    return imported, used


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        measure(folder)  # writes bytecode
    first, later, imports = [], [], []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as folder:
            first.append(measure(folder)[1])
            imported, used = measure(folder)
            imports.append(imported)
            later.append(used)
    print(f"import linkwork                        {min(imports) * 1e3:6.0f} ms   (goal 350)")
    print(f"first use on a machine, all joints     {min(first) * 1e3:6.0f} ms   (goal 1500)")
    print(f"first use in a later process           {min(later) * 1e3:6.0f} ms   (goal 50)")


if __name__ == "__main__":
    main()
