"""A brick of eight point masses, the way it is taught: python examples/brick.py

The masses sit at the corners of a brick of 4 x 1 x 2 m, the first one at (1, 1, 1). From them come the centre
of mass, the inertia tensor, the body frame and the state x, R, P, L; then it is thrown, and turns over.
"""

import numpy as np

import linkwork as lw

LENGTH, HEIGHT, DEPTH = 4.0, 1.0, 2.0  # [m]


def corners() -> np.ndarray:
    """Return A, B, C, D, the front, and E, F, G, H, the back: (8, 3)."""
    front = np.array([(0, 0, 0), (LENGTH, 0, 0), (LENGTH, HEIGHT, 0), (0, HEIGHT, 0)], dtype=float)
    return np.vstack([front, front - (0, 0, DEPTH)]) + (1, 1, 1)


def main() -> lw.RigidBody:
    masses, r = np.ones(8), corners()

    inertia = lw.Inertia.from_points(masses, r)
    print("mass", inertia.mass, "at", inertia.com)
    print("inertia tensor about it\n", inertia.tensor)

    turn = np.array(lw.rotation_y(np.pi / 4).rotation)
    turned = lw.Inertia.from_points(masses, (r - inertia.com) @ turn.T + inertia.com)
    moments, axes = turned.principal()
    print("turned by 45 degrees about y\n", np.round(turned.tensor, 9))
    print("principal moments", np.round(moments, 9), "about the columns of\n", np.round(axes, 9))

    # The body frame: origin in the centre of mass, axes along the principal ones, where I_body is diagonal.
    throw, spin = (1, 0, 5), (0.01, 0.02, 2)
    brick = lw.RigidBody.from_points("brick", masses, r, velocity=throw, angular_velocity=spin)
    print("state x, R, P, L\n", brick.state)
    print("its rates\n", brick.derivative(gravity=(0, 0, -9.81)))

    # A particle thrown along stays beside the centre of mass, which moves as if it were one.
    pebble = lw.Particle("pebble", 0.1, brick.x, velocity=throw)
    flight = lw.integrate([brick, pebble], 4.0, gravity=(0, 0, -9.81), every=0.5, accuracy=1e-10)
    print("    t   height   angular velocity, in axes of the body")
    for t, x, R, omega in zip(
        flight.time, flight["brick"].position, flight["brick"].rotation, flight["brick"].angular_velocity
    ):
        print(f"{t:5.1f} {x[2]:8.3f}  ", np.round(R.T @ omega, 6))
    print(f"energy error {flight.energy_error:.1e}")
    return brick


if __name__ == "__main__":
    main()
