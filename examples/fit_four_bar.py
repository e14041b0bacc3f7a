"""Fit a four-bar so that a point of its coupler follows a given path: python examples/fit_four_bar.py"""

import numpy as np
from scipy.optimize import least_squares

import linkwork as lw

TIMES = np.linspace(0, 1, 24, endpoint=False)
START = np.array([0.11, 0.32, 0.24, 0.22, 0.13, 0.12])  # crank, rod, rocker, ground, point of the rod


def motion(sizes: np.ndarray) -> lw.KinematicRecording:
    """Return one turn of the crank."""
    crank, rod, rocker, ground, *_ = sizes.tolist()
    m = lw.Mechanism("four-bar", space="plane")
    bodies = [m.add(lw.Body(name)) for name in ("crank", "rod", "rocker")]
    m.add(lw.Revolute("A", m.ground, bodies[0], on_parent=(0, 0), on_child=(0, 0)))
    m.add(lw.Revolute("B", bodies[0], bodies[1], on_parent=(crank, 0), on_child=(0, 0)))
    m.add(lw.Revolute("C", bodies[1], bodies[2], on_parent=(rod, 0), on_child=(rocker, 0)))
    m.add(lw.Revolute("D", m.ground, bodies[2], on_parent=(ground, 0), on_child=(0, 0)))
    m.add(lw.Driver("motor", "A", lambda t: 2 * np.pi * t + 1.0))
    m.assemble(branch={"rocker": 1.0})
    return lw.kinematics(m, TIMES)


def path(sizes: np.ndarray) -> np.ndarray:
    """Return where the point is at all times, x and y in turn."""
    return motion(sizes)["rod"].trace(sizes[4:]).ravel()


def slopes(sizes: np.ndarray) -> np.ndarray:
    """Return the derivatives of the path by all sizes."""
    turn = motion(sizes)
    lengths = (("B", "on_parent", 0), ("C", "on_parent", 0), ("C", "on_child", 0), ("D", "on_parent", 0))
    columns = [lw.sensitivity(turn, length).trace("rod", sizes[4:]).ravel() for length in lengths]
    axes = np.stack([np.cos(turn["rod"].angle), np.sin(turn["rod"].angle)], axis=-1)
    columns += [axes.ravel(), (axes @ [[0, 1], [-1, 0]]).ravel()]  # by the place of the point on the rod
    return np.stack(columns, axis=-1)


def main() -> np.ndarray:
    """Find the four-bar that drew a path, from another one."""
    wanted = np.array([0.1, 0.3, 0.22, 0.2, 0.15, 0.1])
    goal = path(wanted)
    found = least_squares(lambda p: path(p) - goal, START, slopes, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    print(f"sizes {found.x.round(6)} after {found.nfev} steps, worst error {np.abs(found.fun).max():.1e} m")
    return found.x


if __name__ == "__main__":
    main()
