"""Coordinates and velocities of bodies from those of the joints of a model."""

import numpy as np

from linkwork.kinematics.equation_system import System
from linkwork.model.model import Model

Array = np.ndarray


def of_bodies(system: System, model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """Return coordinates and velocities of bodies from those of the joints of a model."""
    poses, speeds = model.poses(q), model.velocities(q, v)
    found, rates = system.drawn(), np.zeros(system.n)
    for k, body in enumerate(system.bodies):
        X, V = poses[body.name], speeds[body.name]
        pose = system.algebra.pose_coordinates(X)
        found[system.coordinates * k : system.coordinates * (k + 1)] = [float(x) for x in pose]
        turn = X.axes.local(V).scalars()[: system.algebra.angular]
        at = system.free * k
        rates[at : at + system.free] = [*map(float, V.v), *map(float, turn)]
    for name, joint in system.mechanism.joints.items():  # unknowns of joints that cannot be located
        if not joint.can_locate:
            at_q, at_v = model.slices[name]
            first = system.own[name]
            at = system.coordinates * len(system.bodies) + first
            found[at : at + joint.nq] = q[at_q]
            at = system.free * len(system.bodies) + first
            rates[at : at + joint.nq] = joint.rates(q[at_q].tolist(), v[at_v].tolist())
    unknowns = [loop for loop in model.link_tree.loops if loop.drawn]
    own_rates = model.position_rates(q, v) if unknowns else v
    for loop in unknowns:
        first, part = system.own[loop.name], slice(loop.u, loop.u + len(loop.drawn))
        at = system.coordinates * len(system.bodies) + first
        found[at : at + len(loop.drawn)] = q[part]
        at = system.free * len(system.bodies) + first
        rates[at : at + len(loop.drawn)] = own_rates[part]
    return found, rates
