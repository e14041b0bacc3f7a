"""Mechanisms that tests share: random trees of every joint, chains, printed examples, changed copies."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.algebra import planar, spatial
from linkwork.mechanism.joints import CATALOGUE

Array = np.ndarray
JointClass = type[lw.Joint]
SPACES = ("space", "plane")
ALGEBRA = {"space": spatial, "plane": planar}


def kinds(space: str) -> list[JointClass]:
    """Return the joints of the catalogue that exist in a space."""
    return [kind for kind in CATALOGUE if space in kind.spaces]


class Knee(lw.Joint):
    """The user's joint of the manual: a roll of the thigh on the shin."""

    coordinates = 1

    def motion(self, q: Any) -> Any:
        return lw.translation(0, 0, -0.02 * (1 - lw.cos(q[0]))) @ lw.rotation_y(q[0])


# random trees


def random_tree(
    seed: int, space: str = "space", joints: Sequence[JointClass] | None = None, n: int | None = None
) -> lw.Mechanism:
    """Return a tree of up to 8 bodies (or n) on joints of all kinds (or of these), in every way to say it.

    Bodies are drawn anywhere, joints placed by `at=` or on one or both bodies, by points or frames, either
    way round, some with armature; some welded bodies have no mass.
    """
    rng = np.random.default_rng([seed, SPACES.index(space)])
    choice = list(joints or kinds(space))
    m = lw.Mechanism(f"tree {seed}", space=space, gravity=rng.normal(size=_size(space)) * 6)
    bodies = [m.ground]
    n = n or int(rng.integers(1, 9))
    for k in range(n):
        kind = choice[rng.integers(len(choice))]
        if k == n - 1 and all(isinstance(joint, lw.Fixed) for joint in m.joints.values()):
            kind = next(moving for moving in choice if moving is not lw.Fixed)
        massless = kind is lw.Fixed and rng.random() < 0.3
        inertia = lw.Inertia.zero(space) if massless else random_inertia(rng, space)
        place = random_frame(rng, space)
        body = m.add(lw.Body(f"body {k}", inertia, position=place.position, rotation=place.rotation))
        inner = bodies[max(rng.integers(len(bodies)), rng.integers(len(bodies)))]
        parent, child = (inner, body) if rng.random() < 0.5 else (body, inner)
        m.add(random_joint(kind, f"joint {k}", parent, child, rng, space))
        bodies.append(body)
    return m


def random_joint(
    kind: JointClass, name: str, parent: lw.Body, child: lw.Body, rng: np.random.Generator, space: str
) -> lw.Joint:
    """Return a joint somewhere."""

    def place() -> Any:
        frame = random_frame(rng, space)
        return frame if rng.random() < 0.5 else tuple(frame.position)

    options: dict[str, Any] = {}
    for side in ((), ("at",), ("on_parent",), ("on_child",), ("on_parent", "on_child"))[rng.integers(5)]:
        options[side] = place()
    axis = random_axis(rng, space)
    if kind is lw.Universal:
        options |= {"axis": axis, "axis2": np.cross(axis, rng.normal(size=3))}
    elif kind.directed and (space == "space" or kind is lw.Prismatic):
        options["axis"] = axis
    if kind is lw.Helical:
        options["pitch"] = rng.normal()
    joint = kind(name, parent, child, **options)
    vars(joint)["space"] = space  # which adding it to a mechanism sets
    if joint.nv and rng.random() < 0.3:
        joint.armature = (rng.uniform(0.0, 0.5, joint.nv) * (rng.random(joint.nv) < 0.7)).tolist()
    return joint


def random_axis(rng: np.random.Generator, space: str) -> Array:
    """Return an axis of any length: some way, or along one of the frame's, forwards or backwards."""
    if rng.random() < 0.6:
        return rng.normal(size=_size(space))
    return np.eye(_size(space))[rng.integers(_size(space))] * rng.choice([-1.0, 1.0])


def random_inertia(rng: np.random.Generator, space: str) -> lw.Inertia:
    """Return the inertia of five point masses."""
    return lw.Inertia.from_points(rng.uniform(0.1, 1.0, 5), rng.normal(size=(5, _size(space))) * 0.5)


def random_frame(rng: np.random.Generator, space: str) -> Any:
    turn = _unit(rng.normal(size=4)) if space == "space" else rng.uniform(-np.pi, np.pi)
    return ALGEBRA[space].Frame(position=(rng.normal(size=_size(space)) * 0.5).tolist(), rotation=turn)


def random_state(
    model: lw.Model, rng: np.random.Generator, n: int | None = None
) -> tuple[Array, Array, Array]:
    """Return positions, velocities, and as many numbers to be forces or accelerations; n of each if said."""
    batch = () if n is None else (n,)
    q = rng.normal(size=(*batch, model.nq))
    for own, _ in model.slices.values():
        if own.stop - own.start in (4, 7):  # ends in a quaternion
            q[..., own.stop - 4 : own.stop] = _unit(q[..., own.stop - 4 : own.stop])
    return q, rng.normal(size=(*batch, model.nv)), rng.normal(size=(*batch, model.nv))


def random_forces(mechanism: lw.Mechanism, rng: np.random.Generator) -> dict[str, Array]:
    """Return forces on about half of the bodies."""
    size = 6 if mechanism.space == "space" else 3
    return {name: rng.normal(size=size) for name in mechanism.bodies if rng.random() < 0.5}


def rates(mechanism: lw.Mechanism, model: lw.Model, q: Array, v: Array) -> Array:
    """Return dq/dt."""
    dq = np.zeros(model.nq)
    for name, (own_q, own_v) in model.slices.items():
        dq[own_q] = mechanism.joints[name].rates(q[own_q].tolist(), v[own_v].tolist())
    return dq


def rate(f: Callable[[float], Any], step: float = 1e-4) -> Any:
    """Return df/dt at 0 by differences of sixth order."""
    weights = {1: 45, 2: -9, 3: 1}
    return sum(w * (np.asarray(f(k * step)) - np.asarray(f(-k * step))) for k, w in weights.items()) / (
        60 * step
    )


def _size(space: str) -> int:
    return 3 if space == "space" else 2


def _unit(x: Array) -> Array:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


# known mechanisms


def chain(n: int, space: str = "space") -> lw.Mechanism:
    """Return n equal rods of 0.1 m hinged one on the other, hanging from ground at one end."""
    m = lw.Mechanism(f"chain of {n}", space=space)
    rod = lw.Inertia(0.1, (0.05, 0, 0), np.diag([1e-5, 1e-4, 1e-4]))
    rod = rod if space == "space" else rod.planar()
    end, start = (0.1, 0, 0)[: _size(space)], (0, 0, 0)[: _size(space)]
    last = m.ground
    for k in range(n):
        body = m.add(lw.Body(f"rod {k}", rod))
        axis = None if space == "plane" else ((0, 1, 0), (0, 0, 1))[k % 2]
        m.add(
            lw.Revolute(f"pin {k}", last, body, on_parent=start if k == 0 else end, on_child=start, axis=axis)
        )
        last = body
    return m


def printed_tree(*links: tuple[str | None, Sequence[float], str, Sequence[float]]) -> lw.Mechanism:
    """Return a tree of RBDL's: per link (parent, place on it, axis, centre); unit masses, unit inertias."""
    m = lw.Mechanism("printed", gravity=(0, -9.81, 0))
    axes = dict(zip("xyz", np.eye(3).tolist(), strict=True))
    for k, (parent, place, axis, centre) in enumerate(links, 1):
        body = m.add(lw.Body(str(k), lw.Inertia(1.0, centre, np.eye(3))))
        on = m.ground if parent is None else m.bodies[parent]
        m.add(lw.Revolute(f"hinge {k}", on, body, on_parent=place, on_child=(0, 0, 0), axis=axes[axis]))
    return m


def pendulum() -> lw.Mechanism:
    return printed_tree((None, (0, 0, 0), "z", (1, 0, 0)))


def double_pendulum() -> lw.Mechanism:
    return printed_tree((None, (0, 0, 0), "z", (1, 0, 0)), ("1", (1, 0, 0), "z", (1, 0, 0)))


def triple_pendulum() -> lw.Mechanism:
    return printed_tree(
        (None, (0, 0, 0), "z", (1, 0, 0)), ("1", (1, 0, 0), "z", (1, 0, 0)), ("2", (1, 0, 0), "z", (1, 0, 0))
    )


def branched_tree() -> lw.Mechanism:
    return printed_tree(
        (None, (0, 0, 0), "z", (1, 0, 0)),
        ("1", (1, 0, 0), "y", (0, 1, 0)),
        ("2", (0, 1, 0), "x", (0, 0, 1)),
        ("1", (-0.5, 0, 0), "y", (0, 1, 0)),
        ("4", (0, -0.5, 0), "x", (0, 0, 1)),
    )


# copies


def pour(
    source: lw.Mechanism, into: lw.Mechanism, ground: lw.Body | None = None, order: Any = None
) -> lw.Mechanism:
    """Add copies of the bodies and joints of one mechanism to another; `ground` stands for its ground."""
    copies = {body.name: copy.copy(body) for body in source.bodies.values()}
    copies["ground"] = ground or into.ground
    elements = list(source.elements)
    for element in elements if order is None else [elements[k] for k in order]:
        if isinstance(element, lw.Body):
            into.add(copies[element.name])
        elif isinstance(element, lw.Joint):
            into.add(copied(element, copies[element.parent.name], copies[element.child.name]))
    return into


def copied(joint: lw.Joint, parent: lw.Body, child: lw.Body) -> lw.Joint:
    twin = copy.copy(joint)
    twin.parent, twin.child = parent, child
    return twin


def carried(
    source: lw.Mechanism,
    hold: JointClass,
    gravity: Any = None,
    inertia: lw.Inertia | None = None,
    **place: Any,
) -> lw.Mechanism:
    """Return a copy whose ground is a body `carrier`, itself on the joint `hold`."""
    m = lw.Mechanism(
        f"{source.name}, carried", space=source.space, gravity=source.gravity if gravity is None else gravity
    )
    carrier = m.add(lw.Body("carrier", inertia or lw.Inertia.zero(source.space)))
    m.add(hold("hold", m.ground, carrier, **place))
    return pour(source, m, carrier)


def floating(source: lw.Mechanism, gravity: Any = None) -> lw.Mechanism:
    """Return a copy that floats: its ground is a free body; there is no gravity unless said."""
    inertia = random_inertia(np.random.default_rng(0), source.space)
    gravity = np.zeros_like(source.gravity) if gravity is None else gravity
    return carried(source, lw.Free, gravity, inertia)


def renumbered(x: Array, source: lw.Model, target: lw.Model, side: int) -> Array:
    """Return positions (side 0) or velocities (side 1) in the numbering of another model of these joints."""
    y = np.zeros((*x.shape[:-1], (target.nq, target.nv)[side]))
    for name in source.slices.keys() & target.slices.keys():
        y[..., target.slices[name][side]] = x[..., source.slices[name][side]]
    return y
