"""The problem that the loop solves: a system with its options; and what tells it from others."""

import hashlib

import numpy as np

from linkwork.model.applied import source_of
from linkwork.simulation.march import MEMO, Problem
from linkwork.simulation.options import Options
from linkwork.simulation.system import System
from linkwork.trace import native

Array = np.ndarray


def bound_problem(system: System, chosen: Options, lanes: int) -> tuple[Problem, object]:
    """Return the problem for one thread, and what its programs' memory belongs to."""
    model = system.model
    implicit = lanes == 1 and (chosen.switch or chosen.method == "rodas")
    bound = system.bind(lanes, implicit)
    problem = Problem(
        nq=model.nq,
        nv=model.nv,
        motion=bound.motion,
        rates=bound.rates,
        events=bound.events,
        tangent=bound.tangent,
        close_positions=bound.close_positions,
        close_velocities=bound.close_velocities,
        row_weights=() if system.restoring else model.row_weights,
        weak=() if system.restoring else model.weak_pivots,
        lanes=lanes,
        tangent_lanes=native.lanes(),
        directions=[event.direction for event in chosen.events],
        quaternions=model.quaternions.tolist(),
        scale=system.scale(),
        accuracy=chosen.accuracy,
        method=chosen.method,
        step=chosen.step,
        h_max=chosen.max_step,
        max_steps=chosen.max_steps,
        switch=chosen.switch,
    )
    return problem, bound


def key(system: System, chosen: Options) -> Array:
    """Return a digest, as integers, of what shapes the steps; with the same one a run can go on."""
    watched = [
        (one.formula.signature, one.formula.parameters) if one.formula else source_of(one.load)
        for one in system.event_tree.loads
    ]
    about = (system.model.digest, chosen.key(), watched, MEMO.names)
    return np.frombuffer(hashlib.sha256(repr(about).encode()).digest(), np.dtype("<i8"))
