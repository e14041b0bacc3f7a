"""The account of a run: what the loop has counted, and all that shaped it."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import Any, NamedTuple

import llvmlite
import numpy as np

from linkwork.lazy import kept
from linkwork.model import nonfinite
from linkwork.model.dimensionless import weak_joints
from linkwork.recording.report import Report, impacts_of
from linkwork.recording.status import Status
from linkwork.simulation.failure import Failure
from linkwork.simulation.integrators.methods import FOR_STIFF, METHODS
from linkwork.simulation.loop.records import MEMO
from linkwork.simulation.options import MOREAU_JEAN, Options
from linkwork.simulation.run_programs import RunPrograms
from linkwork.version import __version__

Array = np.ndarray

_NONSENSE = 0.1  # of the energy at play: steps that lose or make as much are worth a warning
_FAR = 1e4  # times the accuracy, in some ten seconds: the same of steps that are as small as accuracy needs
_ORDINARY = 10.0  # [s]
_ROUNDING = 1e-12  # of the potential energy
_REJECTED, _PART, _MANY = 10, 0.25, 10_000  # steps of a run that is worth a look: see `is_laborious`
_LOOKED_AT = 50  # samples of a run, for that
_NAMED = 6  # joints in a warning


class HeldLoops(NamedTuple):
    """How the closed loops of a run held."""

    gap: float | None  # the worst in the samples [m, rad]; None: there are no loops
    warnings: Sequence[str] = ()


NO_LOOPS = HeldLoops(None)


@dataclass(frozen=True)
class Statistics:
    """What the reports of all runs of a system with the same options have in common."""

    system: RunPrograms
    chosen: Options

    def report(
        self,
        remembered: Array,
        held: HeldLoops,
        failure: Failure | None,
        times: tuple[float, float],
        events: Sequence[tuple[float, str]],
        notes: Sequence[str] = (),
    ) -> Report:
        """Return the report of one run, of which the loop has `remembered` this; `times` are those of
        compiling and of running.
        """
        chosen, memo = self.chosen, remembered.view(MEMO)[0]
        if chosen.step and (self.system.model.contact_names or self.system.model.is_rigid):
            by = "Moreau and Jean" if chosen.method == MOREAU_JEAN else "Strang's splitting"
            title = f"steps with contact: {by}, exact laws of contact"
        else:
            title = METHODS[chosen.method].title
        if memo["switches"]:
            title += f"; {FOR_STIFF.title}, where it was stiff ({int(memo['switches'])} changes)"
        if not chosen.step and self.system.model.is_rigid:
            title += "; contacts in fixed modes between events"
        if self.system.tree.loops:
            title += (
                "; loops held by restoring wrenches" if self.system.restoring else "; loops closed every step"
            )
        return Report(
            status=(failure.status if failure else Status(int(memo["status"]))).name,
            message=failure.message if failure else "",
            hint=failure.hint if failure else "",
            mechanism=self.system.model.name,
            method=title,
            accuracy=None if chosen.step else chosen.accuracy,
            step=chosen.step or None,
            accepted=int(memo["accepted"]),
            rejected=int(memo["rejected"]),
            evaluations=int(memo["evaluations"]),
            wall_time=times[1],
            compile_time=times[0],
            error_estimate=float(memo["sum"]),
            loop_gap=held.gap,
            python_laws=self._python_laws,
            warnings=(*self._stiffness(memo), *held.warnings, *notes),
            events=tuple((time, name) for time, name in events),
            impacts=impacts_of(events),
            provenance=self._provenance,
        )

    def _stiffness(self, memo: Any) -> list[str]:
        if memo["stiff"] and not self.chosen.switch:
            return ['the motion is stiff in places; method="auto" or "rodas" would take fewer steps']
        return []

    def held(self, remembered: Array, t: Array, q: Array, inputs: Array, weakest: Array) -> HeldLoops:
        """Look how the loops held, at positions q at times t, with inputs (T, nu), and at their `weakest`."""
        if not self.system.tree.loops or not len(q):
            return NO_LOOPS
        model, memo = self.system.model, remembered.view(MEMO)[0]
        warnings = []
        if isfinite(memo["margin"]):
            some = q[np.linspace(0, len(q) - 1, min(len(q), _LOOKED_AT)).astype(int)]
            rank = len(model.weak_pivots) - int(memo["dropped"])
            if joints := weak_joints(model, weakest[: model.nq], some, rank):
                named = ", ".join(map(repr, joints[:_NAMED])) + (" and others" if joints[_NAMED:] else "")
                warnings.append(
                    f"near a singular position at {memo['margin_t']:.6g} s: there {named} hold less than "
                    "elsewhere, and more can move"
                )
        return HeldLoops(model.loop_gap(q, t, inputs=inputs), warnings)

    @kept
    def _python_laws(self) -> tuple[str, ...]:
        return self.system.python_laws

    @kept
    def _provenance(self) -> dict[str, Any]:
        """What the runs can be repeated with."""
        chosen = self.chosen
        return {
            **_versions(),
            "model": self.system.model.digest,
            "options": {
                "method": chosen.method,
                "switch": chosen.switch,
                "accuracy": chosen.accuracy,
                "step": chosen.step,
                "max_step": chosen.max_step,
                "max_steps": chosen.max_steps,
                "events": [event.name for event in chosen.events],
            },
        }

    def doubts(
        self,
        rows: Array,
        remembered: Array,
        bad: tuple[Array, Array],
        inputs: Callable[[int], Mapping[str, float]],
    ) -> list[str]:
        """Report, run by run, whether steps lost or gained energy; nothing if they did neither.

        The energy of every mechanism balances the work of all that is applied, which is integrated along
        with the motion: of loads, drivers, dampers, actions. In ordinary runs it does so to some times the
        accuracy; where that is far from true, the error estimates of the steps knew nothing of something.
        That takes many steps that are rejected, or states that are not finite, or very many steps: other runs
        are not looked at.
        Of fixed steps nothing else is known. `rows` (runs, samples, ...) are samples: t, q, v, work; `bad`
        are times and states that were not finite; `inputs` those of a run.
        """
        found = [""] * len(rows)
        memo, model = remembered.view(MEMO)[:, 0], self.system.model
        looked = self.chosen.step or np.isfinite(bad[0]) | is_laborious(memo["accepted"], memo["rejected"])
        some = np.flatnonzero(np.broadcast_to(looked, len(rows)))
        if not len(some) or rows.shape[1] < 2:
            return found
        for k, lost, at_play in zip(some.tolist(), *self._imbalance(rows[some]), strict=True):
            if lost <= self._tolerated(rows[k, -1, 0] - rows[k, 0, 0]) * at_play:
                continue
            found[k] = f"the energy does not balance: {lost:.3g} J of {at_play:.3g} J; "
            if isfinite(bad[0][k]):
                fault = nonfinite.find(model, float(bad[0][k]), bad[1][k], inputs(k))
                found[k] += f"{fault.words} (met at t = {bad[0][k]:.9g} s)"
            elif self.chosen.step:
                found[k] += "give a smaller step="
            else:
                worst = nonfinite.component(model, max(int(memo["worst"][k]), 0))
                found[k] += f"accuracy {self.chosen.accuracy:g} was not reached, worst is the {worst}"
        return found

    def _tolerated(self, span: float) -> float:
        """Return the part of the energy at play that runs over this time may lose or make."""
        if self.chosen.step:
            return _NONSENSE
        return min(_NONSENSE, _FAR * self.chosen.accuracy * max(1.0, span / _ORDINARY))

    def _imbalance(self, rows: Array) -> tuple[list[float], list[float]]:
        """Return, run by run, how much energy was lost or made, and how much is at play [J]."""
        model, (_, samples, size) = self.system.model, rows.shape
        rows = rows[:, np.linspace(0, samples - 1, min(samples, _LOOKED_AT)).astype(int)]
        flat = rows.reshape(-1, size)
        q, v, work = flat[:, 1 : 1 + model.nq], flat[:, 1 + model.nq : -1], rows[:, :, -1]
        kinetic = model.kinetic_energy(q, v).reshape(work.shape)
        potential = model.potential_energy(q).reshape(work.shape)
        balance = kinetic + potential - work
        at_play = np.max([kinetic.max(axis=1), np.ptp(potential, axis=1), np.ptp(work, axis=1)], axis=0)
        rounding = _ROUNDING * np.abs(potential).max(axis=1)
        lost = np.abs(balance - balance[:, :1]).max(axis=1)
        return np.where(lost > rounding, lost, 0.0).tolist(), at_play.tolist()


def is_laborious(accepted: Any, rejected: Any) -> Any:
    """Whether a run took very many steps, or had to reject many."""
    return (rejected >= _REJECTED) & (rejected > _PART * accepted) | (accepted >= _MANY)


@cache
def _versions() -> dict[str, str]:
    return {
        "linkwork": __version__,
        "numpy": np.__version__,
        "llvmlite": llvmlite.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
