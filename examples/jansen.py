"""A leg of Theo Jansen's walking beasts, driven by its crank: python examples/jansen.py leg.gif

The outline of a kinematic simulation: make the bodies, the joints and the mechanism; then, in a loop, set the
drivers, solve, and draw.
"""

import sys

import numpy as np

import linkwork as lw

POINTS = {  # where the pins are drawn, roughly; the lengths below are exact
    "crank": (0, 0), "pin": (0, 15), "hip": (-38, -7.8), "top": (-34, 33), "back": (-77, -1),
    "ankle": (-30, -46), "heel": (-67, -40), "toe": (-22, -93),
}  # fmt: skip
BARS = {  # by the pins at their ends; three make a triangle
    "crank": ("crank", "pin"), "j": ("pin", "top"), "k": ("pin", "ankle"), "c": ("hip", "ankle"),
    "f": ("back", "heel"), "shoulder": ("hip", "top", "back"), "foot": ("toe", "heel", "ankle"),
}  # fmt: skip
LENGTHS = {
    "crank pin": 15, "pin top": 50, "pin ankle": 61.9, "hip ankle": 39.3, "back heel": 39.4, "hip top": 41.5,
    "top back": 55.8, "hip back": 40.1, "toe heel": 65.7, "heel ankle": 36.7, "toe ankle": 49,
}  # fmt: skip


def corners(pins: tuple[str, ...]) -> list[tuple[float, float]]:
    """Return where the pins of a bar are in its own axes: the first at the origin, the second on x."""
    first = LENGTHS[f"{pins[0]} {pins[1]}"]
    if len(pins) == 2:
        return [(0, 0), (first, 0)]
    a, b = LENGTHS[f"{pins[0]} {pins[2]}"], LENGTHS[f"{pins[1]} {pins[2]}"]
    x = (first**2 + a**2 - b**2) / (2 * first)
    return [(0, 0), (first, 0), (x, -np.sqrt(a**2 - x**2) if pins[0] == "toe" else np.sqrt(a**2 - x**2))]


def build() -> lw.Mechanism:
    """Return the leg, its pins named by the bars they join."""
    m = lw.Mechanism("Jansen's leg", space="plane")
    places: dict[str, list[tuple[lw.Body, tuple[float, float]]]] = {
        "crank": [(m.ground, POINTS["crank"])],
        "hip": [(m.ground, POINTS["hip"])],
    }
    for name, pins in BARS.items():
        start, end = np.array(POINTS[pins[0]]), np.array(POINTS[pins[1]])
        angle = float(np.arctan2(*(end - start)[::-1]))
        body = m.add(lw.Body(name, position=start, rotation=angle, visuals=[[*corners(pins), (0, 0)]]))
        for pin, corner in zip(pins, corners(pins), strict=True):
            places.setdefault(pin, []).append((body, corner))
    for ends in places.values():
        first, on_first = ends[0]
        for other, on_other in ends[1:]:
            m.add(
                lw.Revolute(f"{first.name}-{other.name}", first, other, on_parent=on_first, on_child=on_other)
            )
    m.add(lw.Driver("motor", "ground-crank"))
    return m


def main(file: str | None = None, frames: int = 61) -> np.ndarray:
    """Turn the crank once; return the path of the toe."""
    leg = lw.Positions(build())
    path = []
    for angle in np.linspace(np.pi / 2, np.pi / 2 + 2 * np.pi, 181):
        leg([angle])  # set the driver, solve
        path.append(leg.body("foot")[:2])
    if file:
        m = build()
        m.drivers["motor"].law = lambda t: np.pi / 2 + 2 * np.pi * t
        motion = lw.kinematics(m, np.linspace(0, 1, frames))
        motion.animate({"foot": (0, 0)}).save(file, writer="pillow", fps=25)
    low, high = np.min(path, axis=0), np.max(path, axis=0)
    print(f"the toe goes from x = {low[0]:.3f} to {high[0]:.3f}, y = {low[1]:.3f} to {high[1]:.3f}")
    return np.array(path)


if __name__ == "__main__":
    main(*sys.argv[1:2])
