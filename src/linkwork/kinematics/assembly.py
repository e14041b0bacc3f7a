"""Ways in which a mechanism can be assembled: the nearest to the drawing, a chosen one, or all."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from linkwork.errors import AssemblyError, unknown
from linkwork.kinematics.equation_system import System, system_of, undriven_model
from linkwork.kinematics.joint_coordinates import of_bodies
from linkwork.mechanism.joint import Joint
from linkwork.mechanism.mechanism import Mechanism
from linkwork.model.model import Model
from linkwork.real_numbers import is_finite
from linkwork.spelling import checked_keywords, require

Array = np.ndarray

_SAME = 1e-6  # distance of postures that are one [rad, sizes of the mechanism]
_SEEN = 3  # times each posture was found before the search is over
_FEW = 60  # starts that are made in any case


class Posture(Mapping[str, Any]):
    """Where all bodies are, by name: posture["rod"].position; `start=posture` begins a motion there."""

    def __init__(self, system: System, q: Array) -> None:
        self.q = q  # coordinates of all bodies
        self._frames = dict(system.named(q))

    def __getitem__(self, name: str) -> Any:
        if name not in self._frames:
            raise KeyError(unknown("body", name, self._frames))
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.array(self.q, dtype=dtype)


def assemble(mechanism: Mechanism, branch: int | Mapping[str, Any] | None = None, t: float = 0.0) -> Posture:
    """Draw a mechanism as it fits, its drivers where their laws are at time t, and return its posture.

    The nearest to the drawing; or `branch`: a number of `assembly_modes`, or values by names of joints, or of
    bodies in the plane (their angle): of all modes the one that is nearest to these.
    """
    system = system_of(mechanism)
    if not isinstance(branch, int | np.integer | Mapping | None) or isinstance(branch, bool):
        raise ValueError(f"branch {branch!r}; give a number of lw.assembly_modes, or values by names")
    if branch is None:
        posture = Posture(system, reached(system, system.assemble(), _values(system, t)))
    else:
        modes = assembly_modes(mechanism, t=t)
        if isinstance(branch, Mapping):
            posture = min(modes, key=lambda mode: _distance(system, mode, branch))
        elif 0 <= branch < len(modes):
            posture = modes[branch]
        else:
            raise ValueError(
                f"mechanism {mechanism.name!r} has {len(modes)} modes of assembly; branch {branch} is none"
            )
    for body in system.bodies:
        frame = posture[body.name]
        body.position, body.rotation = frame.position, frame.rotation
    return posture


def reached(system: System, q: Array, goal: Array) -> Array:
    """Return the posture in which the drivers have the values `goal`, continuously from q if it can be."""
    if not system.drivers:
        return q
    system.place(q)
    start = system.turned_near(system.driven_values(q), goal)
    if system.advance(start, goal) >= 0:
        return system.w.q.copy()
    system.w.u[::3] = goal
    return system.assemble(q, with_drivers=True, where=system.driven_text(goal))


def posture_like(before: System, system: System) -> Array:
    """Return coordinates in which bodies are where those of the same names are in another system.

    New ones are where they are drawn, seen from one that they are joined to.
    """
    q, rows = system.drawn(), {body.name: k for k, body in enumerate(system.bodies)}
    drawn, was = dict(system.named(q)), dict(before.named(before.w.q))
    moved = {name: was[name] @ drawn[name].inverse for name in rows if name in was}  # from the drawing
    ends = [[body.name for body in joint.bodies] for joint in system.mechanism.joints.values()]
    pairs = [pair for a, b in ends for pair in ((a, b), (b, a))]
    while new := {b: moved[a] for a, b in pairs if a in moved and b in rows.keys() - moved.keys()}:
        moved |= new
    for name, X in moved.items():
        first = system.coordinates * rows[name]
        q[first : first + system.coordinates] = system.algebra.pose_coordinates(X @ drawn[name])
    system.guess(q)
    return q


@checked_keywords
def assembly_modes(
    mechanism: Mechanism, *, t: float = 0.0, starts: int = 20000, seed: int = 0
) -> list[Posture]:
    """Return all ways to assemble a mechanism, its drivers at time t, those near the drawing first.

    Found by Newton's method from many random starts: it ends when each way was found a few times, or after
    `starts` of them. A mechanism that can still move has no end of them: AssemblyError.
    """
    require("assembly_modes: mechanism", mechanism, Mechanism, "a Mechanism")
    if not is_finite(t):
        raise ValueError(f"assembly_modes: t {t!r:.80}; give seconds")
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise ValueError(f"assembly_modes: seed {seed!r}; give a whole number, 0 or more")
    if not isinstance(starts, int | np.integer) or isinstance(starts, bool) or starts < 1:
        raise ValueError(f"assembly_modes: starts {starts!r}; give a whole number, 1 or more")
    system = system_of(mechanism.copy())
    system.w.u[::3] = _values(system, t)
    origin, active = system.drawn(), np.ones(system.m)
    generator = np.random.default_rng(seed)
    model = undriven_model(mechanism)
    found: list[Array] = []
    shapes = np.zeros((0, 0))
    seen: list[int] = []
    for attempt in range(starts):
        if attempt == 0:
            q = origin
        elif attempt % 2 and model is not None:
            q = _anyhow(system, model, generator)
        else:
            q = _anywhere(system, origin, generator)
        system.place(q)
        if system.close(q, active, most=100) > 1e-6 or system.polish() < 0.0 or not _holds(system):
            pass
        else:
            shape = _shape(system, system.w.q)
            if found and (gaps := np.abs(shapes - shape).max(axis=1)).min() < _SAME:
                seen[int(gaps.argmin())] += 1
            else:
                if np.linalg.matrix_rank(system.scaled_matrix(), tol=1e-9) < system.n:
                    raise AssemblyError(
                        f"mechanism {mechanism.name!r} can still move when assembled, so it has "
                        "infinitely many postures; add drivers"
                    )
                found.append(system.w.q.copy())
                shapes = np.array([_shape(system, each) for each in found])
                seen.append(1)
        if attempt >= _FEW * max(1, len(found)) and min(seen, default=_SEEN) >= _SEEN:
            break
    if not found:
        raise AssemblyError(system.open_text(system.w.q.copy()))
    here = _shape(system, origin)
    order = np.argsort([np.linalg.norm(shape - here) for shape in shapes], kind="stable")
    return [Posture(system, found[k]) for k in order]


def _values(system: System, t: float) -> Array:
    """Return the values of the drivers' laws."""
    return np.array([law.at(t)[0, 0] for law in system.laws])


def _holds(system: System) -> bool:
    """Return whether joints are closed the right way round: some equations hold half a turn off too."""
    for joint in system.mechanism.joints.values():
        if not joint.can_locate:
            continue
        X = joint.pose_between(*system.poses(joint, system.w.q))
        E = joint.motion([float(x) for x in joint.locate(X)]).local(X)
        if max(abs(float(x)) for x in system.algebra.turning(E)) > 1e-6:
            return False
    return True


def _anywhere(system: System, origin: Array, generator: np.random.Generator) -> Array:
    """Return a random posture: places about the drawing, any rotations."""
    q = origin.copy()
    size, each = system.algebra.dimension, system.coordinates
    bodies = q[: each * len(system.bodies)].reshape(-1, each)
    centre = bodies[:, :size].mean(axis=0)
    bodies[:, :size] = centre + system.size * generator.uniform(-1.5, 1.5, (len(bodies), size))
    if size == 2:
        bodies[:, 2] = generator.uniform(-np.pi, np.pi, len(bodies))
    else:
        turns = generator.normal(size=(len(bodies), 4))
        bodies[:, 3:] = turns / np.linalg.norm(turns, axis=1, keepdims=True)
    system.guess(q)
    return q


def _anyhow(system: System, model: Model, generator: np.random.Generator) -> Array:
    """Return a posture with random coordinates of the joints of the spanning tree, driven ones as driven."""
    values, joints = np.array(model.q_drawn, float), system.mechanism.joints
    for name, (at, _) in model.slices.items():
        joint, part = joints[name], values[at]
        turns = np.array(joint.periodic, bool)
        part += system.size * generator.uniform(-1.0, 1.0, len(part))
        part[turns] = generator.uniform(-np.pi, np.pi, turns.sum())
        if joint.quaternion is not None:
            turn = generator.normal(size=4)
            part[joint.quaternion : joint.quaternion + 4] = turn / np.linalg.norm(turn)
    for k, driver in enumerate(system.drivers):
        side = driver.sides()[0]
        if isinstance(side, Joint) and side.name in model.slices:
            values[model.slices[side.name][0].start + int(driver.component)] = system.w.u[3 * k]
    q, _ = of_bodies(system, model, values, np.zeros(model.nv))
    return q


def _shape(system: System, q: Array) -> Array:
    """Return the frames of all bodies as numbers, places in units of the mechanism's size."""
    numbers = []
    for frame in system.named(q).values():
        numbers += [float(x) for x in np.asarray(frame.rotation).ravel()]
        numbers += [float(x) / system.size for x in frame.p]
    return np.array(numbers)


def _distance(system: System, posture: Posture, branch: Mapping[str, Any]) -> float:
    """Return how far the named coordinates of a posture are from given values."""
    m, total = system.mechanism, 0.0
    for name, value in branch.items():
        if name in m.joints:
            joint = m.joints[name]
            parent, child = system.poses(joint, posture.q)
            there = np.array(joint.side_between(parent, child).q, float)
            turns = np.array(joint.periodic)
        elif name in m.bodies and m.space == "plane":
            there, turns = np.array([float(posture[name].angle)]), np.array([True])
        else:
            raise ValueError(f"branch: {unknown('joint or body', name, (*m.joints, *m.bodies))}")
        wanted = np.atleast_1d(np.asarray(value, float))
        if wanted.shape != there.shape or not np.isfinite(wanted).all():
            raise ValueError(f"branch: {name!r} = {value!r}; give {len(there)} finite numbers")
        gap = there - wanted
        gap = np.where(turns, (gap + np.pi) % (2 * np.pi) - np.pi, gap / system.size)
        total += float(gap @ gap)
    return total
