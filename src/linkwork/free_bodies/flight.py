"""What `integrate` returns: a recording of bodies that have Free joints, or positions alone.

A rigid body is one whose frame is in its centre of mass. Its momenta become velocities of a Free joint,

    v = (I_body^-1 R^T L, R^T P / m),   dv/dt = (I_body^-1 (R^T N - w x I_body w), R^T F / m - w x u),

w and u the angular and the linear one in the axes of the body. Forces F and N are those of the laws and of
gravity; the work of gravity is taken as potential energy, as in all recordings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from linkwork.algebra import rotation
from linkwork.algebra.vector import Matrix as Rows
from linkwork.errors import SimulationError
from linkwork.free_bodies.particle import Particle
from linkwork.free_bodies.rigid_body import RigidBody
from linkwork.geometry.skin import Visual
from linkwork.geometry.solid import Solid
from linkwork.mechanism.body import Body
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.placement import Array
from linkwork.model.model import Model
from linkwork.recording.channels import Between, Channels, LiveChannels
from linkwork.recording.samples import Samples

Thing: TypeAlias = RigidBody | Particle

_NAMED = 3  # bodies in the name of a recording


def model_of(things: Sequence[Thing], gravity: Array | None) -> Model:
    """Return bodies as a mechanism, each with a Free joint, compiled."""
    names = [thing.name for thing in things[:_NAMED]]
    more = len(things) - len(names)
    title = ", ".join(names) + (f" and {more} more" if more else "")
    size = things[0].x.size
    pull = np.zeros(size) if gravity is None else gravity
    m = Mechanism(title, gravity=pull, space="space" if size == 3 else "plane")
    for thing in things:
        m.add(_body(thing))
    return m.compile(floating=True)


def _body(thing: Thing) -> Body:
    size = thing.x.size
    center, tensor = np.zeros(size), np.zeros((3, 3)) if size == 3 else 0.0
    visuals: list[Visual] = []
    if isinstance(thing, RigidBody):
        tensor = thing.I_body
        com = np.zeros(3)
        com[:size] = thing.shapes_center
        for shape in thing.shapes:
            if isinstance(shape, Solid):
                visuals.append(Visual(shape=replace(shape, position=np.asarray(shape.position) - com)))
    turn = thing.R if isinstance(thing, RigidBody) else None
    return Body(
        thing.name, Inertia(thing.mass, center, tensor), position=thing.x, rotation=turn, visuals=visuals
    )


def coordinates(things: Sequence[Thing], before: Array | None = None) -> tuple[Array, Array]:
    """Return q and v of the joints of bodies where they are; quaternions are those next to `before`."""
    q, v, first = [], [], 0
    for thing in things:
        n, R, w = thing.x.size, _axes(thing), _turning(thing)
        if n == 3:
            turn = np.array(rotation.to_quaternion(Rows.of(R.tolist())))
            if before is not None and turn @ before[first + 3 : first + 7] < 0.0:
                turn = -turn
            first += 7
        else:
            turn = np.array([thing.angle if isinstance(thing, RigidBody) else 0.0])
        q += [thing.x, turn]
        v += [R.T @ w if n == 3 else w, R.T @ thing.v]
    return np.concatenate(q), np.concatenate(v)


def put(things: Sequence[Thing], q: Array, v: Array) -> None:
    """Move bodies to coordinates of their joints."""
    n = things[0].x.size
    sizes = (7, 6) if n == 3 else (3, 3)
    for k, thing in enumerate(things):
        own_q, own_v = q[sizes[0] * k : sizes[0] * (k + 1)], v[sizes[1] * k : sizes[1] * (k + 1)]
        R = _matrix(own_q[n:])
        thing.x, thing.P = own_q[:n].copy(), thing.mass * (R @ own_v[-n:])
        if isinstance(thing, RigidBody):
            if n == 3:
                thing.R = R
                thing.L = R @ thing.I_body @ own_v[:3]
            else:
                thing.angle = float(own_q[2])
                thing.L = np.array(thing.I_body * own_v[0])


def _matrix(turn: Array) -> Array:
    if len(turn) == 4:
        return np.array(rotation.from_quaternion(turn.tolist()))
    c, s = np.cos(turn[0]), np.sin(turn[0])
    return np.array([(c, -s), (s, c)])


def _axes(thing: Thing) -> Array:
    return thing.R if isinstance(thing, RigidBody) else np.eye(thing.x.size)


def _turning(thing: Thing) -> Array:
    """Return the angular velocity in axes of the world, (3,) or (1,)."""
    if isinstance(thing, RigidBody):
        return np.atleast_1d(thing.omega)
    return np.zeros(3 if thing.x.size == 3 else 1)


def under_laws(things: Sequence[Thing], t: float, gravity: Array | None) -> tuple[Array, Array]:
    """Return accelerations (nv,) of the joints and external forces (bodies, f), where the bodies are."""
    a, external = [], []
    for thing in things:
        n, R, w = thing.x.size, _axes(thing), _turning(thing)
        rates, _ = thing.momentum_rates(t, None)
        F, N = rates[:n], rates[n:]
        pull = np.zeros(n) if gravity is None else gravity
        linear = R.T @ (F / thing.mass + pull)
        u = R.T @ thing.v
        if n == 3:
            w = R.T @ w
            N = R.T @ N if N.size else np.zeros(3)
            angular, linear = np.zeros(3), linear - np.cross(w, u)
            if isinstance(thing, RigidBody):
                angular = thing.I_body_inverse @ (N - np.cross(w, thing.I_body @ w))
        else:
            N = N if N.size else np.zeros(1)
            angular = N * thing.I_body_inverse if isinstance(thing, RigidBody) else np.zeros(1)
            linear = linear - w[0] * np.array([-u[1], u[0]])
        a += [angular, linear]
        external.append(np.concatenate([N, R.T @ F]))
    return np.concatenate(a), np.array(external)


class FlightChannels(LiveChannels):
    """Derived quantities of free bodies: by their model, under the forces of their laws.

    The laws are asked, with the bodies moved to where they were for as long as that takes; a recording that
    comes from another process has none.
    """

    def __init__(
        self, model: Model, things: Sequence[Thing], gravity: Array | None, between: Between
    ) -> None:
        super().__init__(model, between=between)
        self._things, self._gravity = things, gravity

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_things": None, "between": None}

    def part(self, index: Any) -> Channels:
        return self

    def derive(self, quantity: str, samples: Samples) -> Mapping[str, Array]:
        if "external" in samples.kept:
            return super().derive(quantity, samples)
        samples.kept.update(self._by_laws(samples))
        return {} if quantity in samples.kept else super().derive(quantity, samples)

    def _by_laws(self, samples: Samples) -> dict[str, Array]:
        things, there = self._things, samples.recorded
        if things is None:
            raise SimulationError("the laws of the forces are in another process; ask there, or at samples")
        states = [thing.state for thing in things]
        found = []
        try:
            for t, q, v in zip(
                np.broadcast_to(samples.time, there.shape).ravel(),
                samples.q.reshape(-1, self.model.nq),
                samples.v.reshape(-1, self.model.nv),
                strict=True,
            ):
                put(things, q, v)
                found.append(under_laws(things, float(t), self._gravity))
        finally:
            for thing, state in zip(things, states, strict=True):
                thing.state = state
        return {
            word: values.reshape(*there.shape, *values.shape[1:]) for word, values in given(found).items()
        }


def given(found: Sequence[tuple[Array, Array]]) -> dict[str, Array]:
    """Return what laws have determined at samples, as a recording keeps it."""
    a, external = (np.array(each, float) for each in zip(*found, strict=True))
    return {"accelerations": a, "external": external, "forces": np.zeros_like(a)}
