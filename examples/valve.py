"""How fast may a cam turn before its follower floats? python examples/valve.py

A spring presses a flat-faced follower onto an eccentric cam. The force between both is that of a constraint,
which would pull as well as push: where it becomes negative, the follower would lift off. With lift
e sin(angle) this is known: at the top, spring and weight must do m e speed^2.
"""

import numpy as np

import linkwork as lw

RADIUS, ECCENTRICITY = 0.02, 0.005  # of the cam [m]
MASS, STIFFNESS, PRELOAD = (
    0.15,
    8000.0,
    60.0,
)  # of the follower [kg]; of the spring [N/m], at the lowest point [N]


def valve() -> lw.Mechanism:
    """Return a cam on a shaft, and a follower that a spring presses onto it."""
    m = lw.Mechanism("valve", space="plane", gravity=(0, -9.81))
    shaft = m.add(lw.Body("shaft", lw.Cylinder(RADIUS, 0.02), density=7800.0))
    rod = m.add(lw.Body("follower", lw.Box(0.04, 0.06, 0.01), mass=MASS, position=(0, RADIUS)))
    m.add(lw.Revolute("camshaft", m.ground, shaft))
    m.add(lw.Prismatic("guide", m.ground, rod, axis=(0, 1), damping=2.0))
    outline = lambda s: (ECCENTRICITY + RADIUS * lw.cos(s), RADIUS * lw.sin(s))  # noqa: E731
    m.add(lw.Cam("cam", shaft, rod, outline, face=(0, -1)))
    top = RADIUS - ECCENTRICITY + 0.1
    rest = 0.1 + PRELOAD / STIFFNESS
    m.add(lw.Spring("spring", m.ground, rod, stiffness=STIFFNESS, rest=rest, on_parent=(0, top)))
    return m


def pressure(speed: float) -> float:
    """Return the least force between cam and follower over one turn at this speed [rad/s]."""
    m = valve()
    m["guide"].damping = 0.0
    m.add(lw.Driver("engine", "camshaft", lambda t: speed * t))
    run = lw.simulate(m, 2 * np.pi / speed, every=2 * np.pi / speed / 400)
    return float(-np.asarray(run["cam"].force)[:, 0].max())  # its first equation grows towards the cam


def limit() -> float:
    """Return the speed from which on the follower floats [rad/s]."""
    slow, fast = 1.0, 2000.0
    while fast - slow > 0.01:
        middle = 0.5 * (slow + fast)
        slow, fast = (middle, fast) if pressure(middle) > 0.0 else (slow, middle)
    return slow


def main() -> None:
    found = limit()
    known = np.sqrt((PRELOAD + 2 * ECCENTRICITY * STIFFNESS + MASS * 9.81) / (MASS * ECCENTRICITY))
    print(f"the follower floats from {found:.1f} rad/s on, {found * 30 / np.pi:.0f} turns a minute", end="; ")
    print(f"known: {known:.1f} rad/s")

    m = valve()
    model = m.compile()
    run = lw.simulate(model, 0.5, model.state(velocities={"camshaft": 80.0}))
    turns = run["camshaft"].position[-1] / (2 * np.pi)
    print(
        f"let go at 80 rad/s, the shaft makes {turns:.2f} turns in 0.5 s, energy error {run.energy_error:.1e}"
    )


if __name__ == "__main__":
    main()
