"""The setting of runs: a model and options, and all that does not depend on where a run starts."""

import hashlib
from dataclasses import replace

import numpy as np

from linkwork.compile import Model
from linkwork.model.applied import source_of
from linkwork.simulation.account import Account
from linkwork.simulation.channels import LiveChannels
from linkwork.simulation.march import MEMO, Problem
from linkwork.simulation.options import Options
from linkwork.simulation.system import LARGEST_IMPLICIT, STEP_UNDER_TIME, System
from linkwork.trace import native
from linkwork.trace.once import once

Array = np.ndarray

_KEPT = 16  # settings of a model


class Setting:
    """What all runs of a model with the same options have in common."""

    def __init__(self, model: Model, chosen: Options):
        self.system = System(model, chosen.events, chosen.restoring)
        self.chosen = _completed(chosen, self.system)
        self.account = Account(self.system, self.chosen)
        self.channels = LiveChannels(model)
        self._problems: dict[int, Problem] = {}

    def problem(self, lanes: int) -> Problem:
        """Return the problem that the loop solves."""
        if lanes not in self._problems:
            self._problems.setdefault(lanes, self._problem(lanes))
        return self._problems[lanes]

    def _problem(self, lanes: int) -> Problem:
        system, chosen, model = self.system, self.chosen, self.system.model
        return Problem(
            nq=model.nq,
            nv=model.nv,
            **system.programs(lanes, lanes == 1 and (chosen.switch or chosen.method == "rodas")),
            row_weights=() if system.restoring else model.row_weights,
            weak=() if system.restoring else model.weak_pivots,
            lanes=lanes,
            tangent_lanes=native.lanes(),
            directions=[event.direction for event in chosen.events],
            quaternions=model.quaternions.tolist(),
            scale=system.scale(),
            **chosen.controls(),
        )

    @once
    def key(self) -> Array:
        """A digest, as integers, of what shapes the steps; with the same one a run can go on."""
        watched = [
            (one.formula.signature, one.formula.parameters) if one.formula else source_of(one.load)
            for one in self.system.event_tree.loads
        ]
        about = (self.system.model.digest, self.chosen.key(), watched, MEMO.names)
        return np.frombuffer(hashlib.sha256(repr(about).encode()).digest(), np.dtype("<i8"))


def _completed(chosen: Options, system: System) -> Options:
    """Return the options with what follows from the system."""
    chosen = replace(
        chosen, max_step=STEP_UNDER_TIME if chosen.max_step is None and system.timed else chosen.h_max
    )
    if system.model.nq + system.model.nv > LARGEST_IMPLICIT:
        chosen = replace(chosen, switch=False)
    return chosen


def setting(model: Model, chosen: Options) -> Setting:
    """Return the setting of a model's runs; it is kept, unless there are events: those can be changed."""
    if chosen.events:
        return Setting(model, chosen)
    kept, key = model._settings, (*chosen.key(), chosen.max_steps)
    found = kept.get(key)
    if found is None:
        if len(kept) >= _KEPT:
            kept.clear()
        found = kept[key] = Setting(model, chosen)
    return found
