"""What joints bear in a step: their reactions, averaged over it, impacts among it.

In a step of h the velocities change from v0 to v1, and contacts give bodies the impulses p. So forces that
are constant over the step, a = (v1 - v0) / h and f = p / h, do the same; the reactions are what joints
exert under these (`reactions`, inverse dynamics).
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.dynamics.external_forces import external_forces
from linkwork.model.carried_contacts import BODIES, IMPULSE, PLACE
from linkwork.model.reaction_forces import reactions_at
from linkwork.recording.report import impacts_of
from linkwork.scene.encounter import placed_bodies

if TYPE_CHECKING:
    from linkwork.scene.encounter import Encounter
    from linkwork.scene.handles import JointHandle

Array = np.ndarray


def joint_load(joint: "JointHandle") -> Array:
    """Return torque about a joint and force on its child, (6,) in world axes [N m, N], over the last step."""
    unit = joint.actor.unit
    encounter = unit.encounter
    if encounter is None or not encounter.span:
        return np.zeros(6)
    name = encounter.prefix(unit) + joint.name
    found = reactions_of(encounter)[name]
    load = np.array([*found.torque, *found.force], float)
    if unit.placed and len(encounter.units) == 1:
        R = unit.place[:, :3]
        load = np.concatenate([R @ load[:3], R @ load[3:]])
    return load


def reactions_of(encounter: "Encounter") -> Any:
    """Return the reactions of all joints of an encounter, by their names in its model."""
    known = encounter.reactions
    if known is None:
        known = encounter.reactions = _reactions(encounter)
    return known


def _reactions(encounter: "Encounter") -> Any:
    model, h = encounter.model, encounter.span
    if model.link_tree.loops:
        return _instant(encounter)
    v = 0.5 * (encounter.before + encounter.v)
    a = (encounter.v - encounter.before) / h
    inputs = dict(encounter.simulation.inputs)
    t = encounter.simulation.t
    _, external = model.loads(encounter.q, v, t, inputs={k: inputs[k] for k in model.inputs})
    external = external + external_forces(model.body_tree, _wrenches(encounter))
    return reactions_at(model, encounter.q, v, a, external)


def _instant(encounter: "Encounter") -> Any:
    """Return reactions at the end of the step: with closed loops, what they bear is known there."""
    return _Reactions(encounter)


class _Reactions:
    """Reactions at the end of a step, by joint."""

    def __init__(self, encounter: "Encounter") -> None:
        self._simulation = encounter.simulation

    def __getitem__(self, name: str) -> Any:
        return self._simulation[name].reaction


def _wrenches(encounter: "Encounter") -> dict[str, Array]:
    """Return what contacts and impacts did to bodies, by name: torque and force in their frames, averaged."""
    model, h = encounter.model, encounter.span
    X, _ = placed_bodies(model, encounter.q, encounter.v)
    total: dict[int, Array] = {}

    def add(row: int, point: Array, force: Array) -> None:
        if row >= 0:
            R, p = X[row, :, :3], X[row, :, 3]
            local = np.concatenate([R.T @ np.cross(point - p, force), R.T @ force])
            total[row] = total.get(row, 0.0) + local

    memory = encounter.state.memory or {}
    if BODIES in memory:
        for (a, _, b, _), point, impulse in zip(
            memory[BODIES].tolist(), memory[PLACE], memory[IMPULSE], strict=True
        ):
            force = impulse / encounter.last_step
            add(a, point, force)
            add(b, point, -force)
    for one in impacts_of(encounter.events):
        if len(one.point) == 3:
            rows = [model.body_rows.get(name, -1) for name in one.bodies]
            force = np.array(one.impulse) / h
            add(rows[0], np.array(one.point), -force)
            add(rows[1], np.array(one.point), force)
    return {model.body_names[row]: wrench for row, wrench in total.items()}
