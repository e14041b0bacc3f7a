"""Mechanisms with contact that go on together by fixed steps: what `SideBySide` is for others.

The mesh of steps is t0 + k h. Where a piece ends between two points of it, a shorter step leads there from
the last one, and leaves no trace. Inputs that were changed begin a new mesh.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from linkwork.contact_dynamics.contact_solver import Factor
from linkwork.contact_dynamics.memory_by_body import MemoryByBody
from linkwork.contact_dynamics.stepper import TOLERANCE, ContactState, Stepper
from linkwork.model.carried_contacts import SAVED
from linkwork.model.state import State
from linkwork.recording.status import MESSAGES, Status
from linkwork.simulation.controllers import Controllers
from linkwork.simulation.failure import Failure
from linkwork.simulation.integration import MEMO
from linkwork.simulation.law_watch import LawWatch
from linkwork.simulation.loop.records import ON_MESH
from linkwork.simulation.run_settings import RunSettings

Array = np.ndarray

_FEW = 4  # mechanisms for a thread
_HINT = "give a smaller step=, or look at what the laws of loads are given"


@dataclass(eq=False)
class _One:
    """A mechanism: where it is on its mesh, and at the end of the last piece."""

    base: ContactState
    end: ContactState
    origin: float  # of the mesh [s]
    index: float = 0.0  # of the base in it
    held: Array | None = None  # inputs of the last piece


class ContactSides:
    """N mechanisms from states y (N, n) at time t, with inputs (N, nu)."""

    def __init__(
        self,
        setting: RunSettings,
        y: Array,
        t: float,
        inputs: Array,
        watch: LawWatch,
        threads: int,
    ) -> None:
        self._setting, self.watch, self._h = setting, watch, setting.chosen.step
        model, count = setting.system.model, len(y)
        workers = max(1, min(threads, count // _FEW))
        self._edges = list(pairwise(np.linspace(0, count, workers + 1).astype(int).tolist()))
        if model.link_tree.inputs:
            name = next(loop.name for loop in model.link_tree.loops if loop.inputs)
            raise ValueError(
                f"driver {name!r} reads inputs, and there is contact; give it a law of time alone"
            )
        self._steppers = [Stepper(model) for _ in self._edges]
        self._names = MemoryByBody(model, self._steppers[0].system.detection)
        self.inputs = inputs.copy()  # (N, nu), to be written to
        self._memo = np.zeros(count, MEMO)
        self._memo["margin"] = np.inf
        self.failures: list[Failure | None] = [None] * count
        self.happened: list[list[tuple[float, str]]] = [[] for _ in range(count)]
        self._ones: list[_One] = [None] * count  # type: ignore[list-item]
        self.begin(np.arange(count), y, t, inputs)

    def begin(self, which: Array, y: Array, t: float, inputs: Array) -> None:
        """Begin anew with some mechanisms, by number."""
        nq = self._setting.system.model.nq
        for k, row, values in zip(which.tolist(), y, inputs, strict=True):
            state = ContactState(row[:nq].copy(), row[nq:-1].copy(), t, float(row[-1]))
            self._ones[k] = _One(state, state.copy(), t)
            self.inputs[k], self.failures[k] = values, None
            self.happened[k].clear()
            self._memo[k]["t"] = self._memo[k]["t_final"] = t
            self._memo[k]["status"] = Status.DONE

    def hand_over(self) -> dict[int, Failure]:
        """Let inputs that were written hold in the pieces that follow: they are compared when these begin."""
        return {}

    def take_back(self) -> None:
        """There is nothing to take back: no input is refused."""

    def march(self, t_end: float) -> bool:
        """Go on to a time; return whether nothing has happened to any mechanism on the way.

        Ctrl-C leaves them where they were.
        """
        kept = [(one.base.copy(), one.end.copy(), one.origin, one.index) for one in self._ones]
        memo, failures = self._memo.copy(), list(self.failures)
        try:
            if len(self._edges) == 1:
                self._march_part(0, t_end)
            else:
                with ThreadPoolExecutor(len(self._edges)) as pool:
                    list(pool.map(lambda k: self._march_part(k, t_end), range(len(self._edges))))
        except KeyboardInterrupt:
            for one, (base, end, origin, index) in zip(self._ones, kept, strict=True):
                one.base, one.end, one.origin, one.index = base, end, origin, index
            self._memo[:], self.failures = memo, failures
            raise
        return bool((self._memo["status"] == Status.DONE).all())

    def _march_part(self, part: int, t_end: float) -> None:
        for k in range(*self._edges[part]):
            if self._memo["status"][k] == Status.DONE:
                self._advance(self._steppers[part], k, t_end)

    def _advance(self, stepper: Stepper, k: int, t_end: float) -> None:
        """Bring one mechanism to a time."""
        one, h, inputs, memo = self._ones[k], self._h, self.inputs[k].copy(), self._memo[k]
        if one.held is not None and not np.array_equal(one.held, inputs) and one.end.t != one.base.t:
            one.base, one.origin, one.index = one.end.copy(), one.end.t, 0.0
        one.held = inputs
        while (t := one.origin + (one.index + 1.0) * h) <= t_end + ON_MESH * h:
            before = one.base.copy()
            stepper.step(one.base, h, inputs)
            one.base.t = t
            if not self._good(k, one.base, before):
                one.base = one.end = before
                return
            one.index += 1.0
            self.happened[k] += [(hit.time, " hits ".join(hit.bodies)) for hit in stepper.hits]
            memo["accepted"] += 1.0
            memo["evaluations"] += 1.0
            if stepper.failed:
                self._note(memo, stepper.residual, t)
        one.end = one.base
        if t_end - one.base.t > ON_MESH * h:
            one.end = one.base.copy()
            stepper.step(one.end, t_end - one.base.t, inputs)
            if not self._good(k, one.end, one.base):
                one.end = one.base
                return
            one.end = replace(one.base, q=one.end.q, v=one.end.v, t=t_end, work=one.end.work)
        memo["t"], memo["t_final"] = one.base.t, t_end

    def _note(self, memo: Any, residual: float, t: float) -> None:
        """Remember a step in which the laws of contact do not hold to the tolerance."""
        memo["rejected"] += 1.0
        if residual > memo["largest"]:
            memo["largest"], memo["check_t"] = residual, t

    def notes(self, k: int) -> list[str]:
        """Say in words how far contacts were solved."""
        memo = self._memo[k]
        if not memo["rejected"]:
            return []
        return [
            f"contacts were solved to less than {TOLERANCE:g} m/s in {int(memo['rejected'])} of "
            f"{int(memo['accepted'])} steps, at worst to {memo['largest']:.2g} m/s at {memo['check_t']:.6g} s"
        ]

    def _good(self, k: int, state: ContactState, before: ContactState) -> bool:
        """Return whether a step has led to numbers; else the mechanism stays where it was."""
        if np.isfinite(state.q).all() and np.isfinite(state.v).all():
            return True
        message = f"at t = {before.t:.9g} s: {MESSAGES[Status.NOT_FINITE]}"
        self.fail({k: Failure(Status.NOT_FINITE, message, before.t, "", _HINT)})
        self._memo[k]["t_final"] = before.t
        return False

    def control(self, controllers: Controllers) -> None:
        """Let controllers write inputs of the mechanisms that go on."""
        y, nq = self.y, self._setting.system.model.nq
        going = self._memo["status"] == Status.DONE
        self.fail(controllers.call(y[:, :nq], y[:, nq:-1], self.inputs, going))

    def fail(self, failures: Mapping[int, Failure]) -> None:
        """Let mechanisms stay where they are, by number."""
        for k, failure in failures.items():
            self.failures[k], self._memo[k]["status"] = failure, failure.status

    def take_failures(self, other: "ContactSides") -> None:
        """Have failed as others did."""
        self.failures[:] = other.failures

    def go_on(self) -> None:
        """Let a mechanism that an event has stopped go on: none has."""

    # what they are

    @property
    def y(self) -> Array:
        """The states (N, n)."""
        return np.array([[*one.end.q, *one.end.v, one.end.work] for one in self._ones])

    def memo(self, name: str) -> Array:
        """Return a number that all mechanisms remember, (N,)."""
        return self._memo[name]

    @property
    def remembered(self) -> Array:
        """All numbers that the mechanisms remember, (N, columns of MEMO)."""
        return self._memo.view(float).reshape(len(self._memo), -1).copy()

    def gathered(self, name: str) -> Array:
        """Return the states of the mechanisms: those in which loops hold least are not looked for."""
        del name
        return self.y

    @property
    def status(self) -> Array:
        """How they stand, (N,): a `Status` each."""
        return self._memo["status"].astype(int)

    # in a state, a file, or a copy

    def memory(self, k: int) -> dict[str, Array]:
        """Return what mechanism k remembers, to go on bit for bit."""
        one = self._ones[k]
        found = self._names.contents(one.base.memory) | {SAVED: np.array([one.base.saved])}
        found |= {f"factor/{name}": array for name, array in one.base.factor._asdict().items()}
        base = np.concatenate([one.base.q, one.base.v, [one.base.work]])
        mesh = np.array([one.base.t, one.origin, one.index, one.base.quick])
        return found | {"base": base, "mesh": mesh, "key": self._setting.key}

    def become(self, k: int, memory: Mapping[str, Array]) -> None:
        """Let mechanism k be where a memory says, on its mesh."""
        nq, one = self._setting.system.model.nq, self._ones[k]
        base, (t, origin, index, quick) = memory["base"], memory["mesh"].tolist()
        factor = Factor(*(memory[f"factor/{name}"] for name in Factor._fields))
        place = base[:nq].copy(), base[nq:-1].copy(), t, float(base[-1])
        kept = self._names.memory(memory), factor, float(memory[SAVED][0])
        one.base = ContactState(*place, *kept, quick=bool(quick))
        one.end, one.origin, one.index = one.base, origin, index

    def follow(self, start: State) -> None:
        """Let the only mechanism, which is at a start, go on bit for bit as the run that led there.

        Where that cannot be, since it was edited or options are others, contacts still remember impulses.
        """
        memory = start.memory or {}
        if not self._names.knows(memory):
            return
        here = self._ones[0].base
        here.memory, here.saved = self._names.memory(memory), float(memory[SAVED][0])
        here = _One(here, here, start.t)
        if np.array_equal(memory.get("key", ()), self._setting.key):
            self.become(0, memory)
            self._advance(self._steppers[0], 0, start.t)
            arrived = self._ones[0].end
            if arrived.q.tobytes() + arrived.v.tobytes() == start.q.tobytes() + start.v.tobytes():
                return
        self._ones[0] = here

    def arrays(self) -> dict[str, Array]:
        """Return all that is needed to go on bit for bit."""
        found = {"inputs": self.inputs.copy(), "memo": self.remembered, "y": self.y}
        for k in range(len(self._ones)):
            found |= {f"{k}/{name}": array for name, array in self.memory(k).items()}
        return found

    def recall(self, arrays: Mapping[str, Array], events: Sequence[Sequence[Any]]) -> None:
        """Become what `arrays` gave; `events` are those that have happened so far."""
        self.inputs[:] = arrays["inputs"]
        self._memo.view(float).reshape(len(self._memo), -1)[:] = arrays["memo"]
        nq = self._setting.system.model.nq
        for k, one in enumerate(self._ones):
            self.become(k, {name: arrays[f"{k}/{name}"] for name in self.memory(k)})
            y, t = arrays["y"][k], float(self._memo[k]["t_final"])
            one.end = replace(one.base, q=y[:nq].copy(), v=y[nq:-1].copy(), t=t, work=float(y[-1]))
            one.held = self.inputs[k].copy()
            self.happened[k][:] = [(float(t), str(name)) for t, name in events[k]]
