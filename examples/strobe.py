"""Draw the swinging acrobat as a stroboscope sees it: python examples/strobe.py acrobat.svg"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw
from linkwork import examples

SHOTS, EVERY = 9, 0.13  # pictures, s between pictures


def skeleton(mechanism: lw.Mechanism) -> dict[str, list[np.ndarray]]:
    """Return, per body, the points of its joints in its frame; a body with one joint gets its far end too."""
    points: dict[str, list[np.ndarray]] = {name: [] for name in mechanism.bodies}
    for joint in mechanism.joints.values():
        on_parent, on_child = joint.frames()
        if joint.parent is not mechanism.ground:
            points[joint.parent.name].append(on_parent.position)
        points[joint.child.name].append(on_child.position)
    for ends in points.values():
        if len(ends) == 1:
            ends.append(-ends[0])
    return points


def start(model: lw.Model) -> lw.State:
    """Return the acrobat swung out by 1.2 rad, with a kick of the legs."""
    tilt = (np.cos(0.6), np.sin(0.6), 0.0, 0.0)
    return model.state(bar=tilt, velocities={"left knee": 2.0, "right hip": (1.0, 0.5, 0.0)})


def main(path: str) -> None:
    mechanism = examples.acrobat()
    model = mechanism.compile()
    state = start(model)
    run = lw.simulate(model, SHOTS * EVERY, state, every=EVERY)
    lines = []
    for shot in range(SHOTS):
        shade = 225 - round(200 * shot / (SHOTS - 1))
        for name, points in skeleton(mechanism).items():
            X = run[name].pose
            places = [X.rotation[shot] @ p + X.position[shot] for p in points]
            middle = sum(places) / len(places)
            for place in places:
                x1, y1, x2, y2 = (round(300 * c, 1) for c in (middle[1], -middle[2], place[1], -place[2]))
                colour = f"rgb({shade},{shade},{min(255, shade + 30)})"
                lines.append(f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{colour}"/>')
    lines.append('<circle cx="0" cy="-180" r="9" fill="#b03020"/>')
    body = "\n".join(lines)
    box = 'x="-640" y="-230" width="1280" height="760"'
    style = 'fill="none" stroke-width="11" stroke-linecap="round"'
    Path(path).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-640 -230 1280 760" {style}>\n'
        f'<rect {box} fill="white"/>\n{body}\n</svg>\n'
    )
    print(f"{path}: {SHOTS} pictures, energy error {run.energy_error:.1e}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "acrobat.svg")
