"""Scenes that are run in tests: a double pendulum under all that can push it, a ball, and a few others.

python tests/simulation/scenes.py      prints what each of SCENES gives, as a digest
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import linkwork as lw

Array = np.ndarray

STEP = 1e-3
METHODS: dict[str, dict[str, Any]] = {
    "auto": {},
    "rkf45": {},
    "dop853": {},
    "rodas": {},
    "rk4": {"step": STEP},
    "semi-implicit": {"step": STEP},
    "euler": {"step": STEP},
}
ADAPTIVE = [method for method, needs in METHODS.items() if not needs]
FIXED = [method for method, needs in METHODS.items() if needs]


def how(method: str, **others: Any) -> dict[str, Any]:
    """Return the arguments that choose a method."""
    return {"method": method, **METHODS[method], **others}


def pendulum(
    *loads: lw.Load, masses: tuple[float, float] = (1.0, 1.0), inertia: float = 0.1, **elbow: Any
) -> lw.Model:
    """Return a double pendulum with a shoulder and an elbow; words are for the elbow."""
    m = lw.Mechanism("double pendulum")
    above = m.ground
    for k, (name, joint) in enumerate((("arm", "shoulder"), ("hand", "elbow"))):
        tensor = np.diag([inertia, inertia, 0.1 * inertia])
        body = m.add(lw.Body(name, lw.Inertia(masses[k], (0, 0, -0.5), tensor), position=(0, 0, -k)))
        words = elbow if joint == "elbow" else {}
        m.add(lw.Revolute(joint, above, body, at=(0, 0, -k), axis=(0, 1, 0), **words))
        above = body
    for load in loads:
        m.add(load)
    return m.compile()


def bent(model: lw.Model, **velocities: float) -> lw.State:
    """Return the double pendulum out of its rest."""
    return model.state(shoulder=0.3, elbow=0.5, velocities=velocities)


def driven(law: Callable[..., Any]) -> lw.Model:
    """Return the double pendulum with a motor in its elbow."""
    return pendulum(lw.Motor("motor", "elbow", law))


def ball() -> lw.Model:
    """Return a ball that can fall and bounce."""
    m = lw.Mechanism("ball", gravity=(0, 0, -9.81))
    body = m.add(lw.Body("ball", lw.Sphere(0.1), density=1000))
    m.add(lw.Prismatic("height", m.ground, body, axis=(0, 0, 1)))
    return m.compile()


def bouncing(restitution: float = 0.8, **words: Any) -> lw.Event:
    """Return the impact of the ball on the floor."""
    return lw.Event(
        "impact",
        lambda t, q, v: q["height"],
        direction=-1,
        **{"action": lambda t, q, v: (q, -restitution * v), **words},
    )


def kites() -> lw.Model:
    """Return two bodies in the air, with all kinds of springs between them."""
    m = lw.Mechanism("kites", gravity=(0, 0, -1.0))
    a, b = (
        m.add(lw.Body(name, lw.Box(0.3, 0.2, 0.1), density=100, position=p)) for name, p in PLACES.items()
    )
    m.add(lw.Free("air", m.ground, a))
    m.add(lw.Spherical("ball", a, b, at=(0.5, 0, 0), damping=0.01))
    m.add(lw.Spring("cord", m.ground, b, on_child=(0.1, 0, 0), stiffness=20.0, damping=0.1, rest=0.2))
    m.add(lw.Bushing("rubber", a, b, at=(0.5, 0, 0), torsion_stiffness=3.0, stiffness=0.0))
    m.add(lw.Force("drag", a, lambda body, t: -0.3 * body.velocity))
    return m.compile()


PLACES = {"red": (0, 0, 0), "blue": (1, 0, 0)}


def branching(t: Any, q: Any, v: Any) -> float:
    """Push the way it moves; a law that cannot be traced."""
    return 0.4 if float(v) > 0.0 else -0.4


def sticky(t: Any, q: Any, v: Any) -> Any:
    """Hold on fast for half of the time: stiff then."""
    return -1e5 * v * (1.0 + lw.tanh(20.0 * lw.sin(3.0 * t)))


@dataclass(frozen=True)
class Scene:
    """A model, and how to run it."""

    model: lw.Model
    duration: float
    options: dict[str, Any] = field(default_factory=dict)

    def state(self, seed: int = 0) -> lw.State:
        """Return a start; every seed has its own."""
        rng = np.random.default_rng(seed)
        q = self.model.q_drawn + rng.uniform(-0.3, 0.3, self.model.nq)
        for first in self.model.quaternions:
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
        if "height" in self.model.slices:
            q += 1.0
        return lw.State(q, rng.uniform(-0.5, 0.5, self.model.nv))

    def run(self, seed: int = 0, duration: float | None = None, **others: Any) -> lw.Recording:
        span = self.duration if duration is None else duration
        return lw.simulate(self.model, span, self.state(seed), **self.options, **others)


def scenes() -> dict[str, Scene]:
    """Return scenes with loads, stops, events, laws in Python, stiff ones, by different methods."""
    wave = driven(lambda t, q, v: 3.0 * lw.sin(5.0 * t) - 0.1 * v)
    stopped = pendulum(limits=(-0.4, 0.5), damping=0.1)
    soft = pendulum(limits=(-0.4, 0.5), stop=lw.ExponentialStop(), friction=0.2)
    notes = [
        lw.Event("straight", lambda t, q, v: q["elbow"], action="note"),
        lw.Event("kick", lambda t, q, v: q["shoulder"], direction=-1, action=lambda t, q, v: (q, 0.9 * v)),
    ]
    return {
        "free": Scene(pendulum(), 3.0),
        "free, order 8": Scene(pendulum(), 3.0, how("dop853", accuracy=1e-11)),
        "free, implicit": Scene(pendulum(), 1.0, how("rodas", accuracy=1e-6)),
        "motor": Scene(wave, 3.0),
        "motor, fixed steps": Scene(wave, 2.0, how("rk4")),
        "kites": Scene(kites(), 2.0),
        "kites, fixed steps": Scene(kites(), 1.0, how("semi-implicit")),
        "stop": Scene(stopped, 3.0),
        "soft stop": Scene(soft, 3.0),
        "events": Scene(pendulum(), 3.0, {"events": notes}),
        "bounces": Scene(ball(), 2.0, {"events": [bouncing()]}),
        "law in Python": Scene(driven(branching), 0.4, {"accuracy": 1e-6}),
        "stiff in places": Scene(driven(sticky), 2.0, {"accuracy": 1e-6}),
    }


def digest(run: lw.Recording) -> str:
    """Return a digest of every bit of a motion."""
    state = hashlib.sha256()
    for array in (run.time, run.q, run.v, run.work, run.final.q, run.final.v):
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()


if __name__ == "__main__":
    for name, scene in scenes().items():
        print(digest(scene.run()), name)
