"""The setting of runs: a model and options, and all that does not depend on where a run starts."""

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from linkwork.dynamics.load_code import answers
from linkwork.lazy import LOCK, lazy
from linkwork.model.model import Model
from linkwork.native import store
from linkwork.recording.channels import Between, LiveChannels
from linkwork.recording.layout import Layout, layout_of
from linkwork.simulation.controllers import sampled
from linkwork.simulation.integration import MEMO, Work
from linkwork.simulation.integrators.methods import METHODS
from linkwork.simulation.options import MOREAU_JEAN, GivenOptions, Options
from linkwork.simulation.problem import Problem
from linkwork.simulation.run_programs import LARGEST_IMPLICIT, RunPrograms
from linkwork.simulation.statistics import Statistics
from linkwork.tree.load_formula import source_of
from linkwork.tree.tree import Tree

Array = np.ndarray

_KEPT = 16  # settings of a model
_FEW, _MANY = 200, 20_000  # attempts of short runs at least; numbers of a state in all of them
_NATIVE, _CALLED = 100_000, 5_000  # attempts that take some seconds, the latter where laws are called
_ROOM = 2**14  # numbers that the loop can write as samples before it must be emptied


class RunSettings:
    """What all runs of a model with the same options have in common; it does not keep the model alive."""

    with_contact = False  # rigid contact, stops or friction of joints, to an accuracy
    _about: tuple[object, ...] = ()  # what else shapes the steps

    def __init__(self, model: Model, words: GivenOptions):
        chosen, self.words = words.checked(), words
        if chosen.method == MOREAU_JEAN and not model.contact_names:
            raise ValueError(f"method {MOREAU_JEAN!r} is for contact, and nothing touches; add a Contact")
        self.system = RunPrograms(model, chosen.events, chosen.restoring, self._tree(model))
        self.chosen = _completed(chosen, self.system)
        self.account = Statistics(self.system, self.chosen)
        self._problems: dict[tuple[int, bool], Problem] = {}
        self._spare: list[Work] = []

    def _tree(self, model: Model) -> Tree:
        """Return the tree whose forces act in a run."""
        return model.touching_tree

    def channels(self, inputs: Mapping[str, Any], between: Between) -> LiveChannels:
        """Return where derived quantities come from: the model, which a recording keeps alive.

        With it some answers of laws that this thread has just called.
        """
        kept = tuple(answers.kept or ()) if self.system.python_laws else ()
        return LiveChannels(self.system.model, self.layout, inputs, between, kept[:: 1 + len(kept) // 8])

    def problem(self, lanes: int, own: bool = False) -> Problem:
        """Return the problem that the loop solves; mechanisms have their `own` constants, or all the same."""
        key = lanes, own
        if key not in self._problems:
            self._problems.setdefault(key, self._problem(*key))
        return self._problems[key]

    @lazy
    def layout(self) -> Layout:
        """Where the names of the mechanism are in recordings."""
        return layout_of(self.system.model)

    @lazy
    def inputs(self) -> dict[str, float]:
        """The inputs of laws and events, with their default values."""
        return self.system.inputs

    @lazy
    def controlled(self) -> bool:
        """Whether sampled controllers write inputs."""
        return bool(sampled(self.system.model))

    @lazy
    def at_once(self) -> int:
        """How many attempts may be made before anybody looks: none, if they take long or Python is called."""
        attempts = _MANY // self.problem(1).n
        return 0 if attempts < _FEW or self.system.python_laws or self.system.events else attempts

    def work(self, start: Array, t: float, times: Array, inputs: Array) -> Work:
        """Return the memory of a run of one mechanism: that of a run before it, if one was given back."""
        try:
            work = self._spare.pop()
        except IndexError:
            problem = self.problem(1)
            return Work(problem, start, t, times, 1 + _ROOM // problem.n, inputs)
        work.begin(start, t, times, inputs)
        return work

    def give_back(self, work: Work) -> None:
        """Take back memory that is no longer used, for the next run if that can be a short one."""
        if self.at_once and not self._spare:
            work.end()
            self._spare.append(work)

    def _problem(self, lanes: int, own: bool) -> Problem:
        system, chosen, model = self.system, self.chosen, self.system.model
        weights, weak = system.row_sizes()
        implicit = lanes == 1 and (chosen.switch or METHODS[chosen.method].implicit)
        return Problem(
            nq=model.nq,
            nv=model.nv,
            programs=system.programs(lanes, implicit, own),
            row_weights=weights,
            weak=weak,
            lanes=lanes,
            tangent_lanes=store.lanes(),
            directions=[event.direction for event in chosen.events],
            quaternions=model.quaternions.tolist(),
            inputs=len(system.inputs),
            constants=len(system.own_constants()) if own else 0,
            scale=system.scale(),
            patience=_CALLED if system.python_laws else _NATIVE,
            **chosen.controls(),
        )

    @lazy
    def key(self) -> Array:
        """A digest, as integers, of what shapes the steps; with the same one a run can go on."""
        watched = [
            (one.formula.signature, one.formula.parameters) if one.formula else source_of(one.load)
            for one in self.system.event_tree.loads
        ]
        rates = [(one.name, one.every, one.offset) for one in sampled(self.system.model)]
        about = (self.system.model.digest, self.chosen.key(), watched, MEMO.names, *rates, *self._about)
        return np.frombuffer(hashlib.sha256(repr(about).encode()).digest(), np.dtype("<i8"))


def _completed(chosen: Options, system: RunPrograms) -> Options:
    """Return the options with what follows from the system."""
    chosen = replace(
        chosen.settled(system.smooth),
        max_step=system.longest_step if chosen.max_step is None else chosen.h_max,
    )
    rigid = system.model.is_rigid
    # Near the end of a slip friction turns fast, which looks stiff; the event that ends it is close, though.
    if system.model.nq + system.model.nv > LARGEST_IMPLICIT or rigid:
        chosen = replace(chosen, switch=False)
    return chosen


_kept: WeakKeyDictionary[Model, dict[Hashable, RunSettings]] = WeakKeyDictionary()


def setting(model: Model, words: GivenOptions) -> RunSettings:
    """Return the setting of a model's runs with these options, or say what is wrong with them.

    It is kept as long as the model lives (and does not keep it alive), by the words and their types. That of
    rigid contact to an accuracy belongs to one run.
    """
    if model.is_rigid and words.step is None:
        from linkwork.simulation.contact_settings import ContactSettings

        return ContactSettings(model, words)
    key = words.key()
    if key is None:
        return RunSettings(model, words)
    with LOCK:
        kept = _kept.setdefault(model, {})
        found = kept.get(key)
        if found is None:
            found = RunSettings(model, words)
            if len(kept) >= _KEPT:
                kept.clear()
            kept[key] = found
    return found
