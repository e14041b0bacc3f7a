"""Cases of a sweep computed together: built at once where that can be, and simulated side by side.

A function that builds a mechanism from numbers can be called with N numbers in place of one (`Varied`), as
formulas are. What it gives is compared with what it gives for single cases; and if a measure looks at its
mechanism, that is built for it as always. Whatever cannot be done so is done one by one.
"""

import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.varied_mechanism import Unlike, check_lanes, in_place_of_one, together
from linkwork.simulation.case_outcome import CaseOutcome, built_for, measured
from linkwork.simulation.rehearsal import Built, Rehearsal, Unbuilt
from linkwork.simulation.rehearsed_calls import Call
from linkwork.simulation.sweep_cases import Case
from linkwork.varied import Diverged

Build = Callable[..., Any]
Measure = Callable[[Any], Any]

_FEW = 8  # cases that are built one by one


def computed_together(
    build: Build, measure: Measure, calls: Sequence[Call], cases: list[Case]
) -> list[CaseOutcome]:
    """Compute cases whose mechanisms are simulated side by side, by these calls, before they are measured."""
    outcomes: dict[int, CaseOutcome] = {}
    wholes = _Wholes(build, cases)
    for members, whole in wholes.found:
        unbuilt = [Unbuilt(functools.partial(build, **cases[k]), whole.name) for k in members]
        try:
            runs = Rehearsal(unbuilt, whole, calls)
        except Exception:  # something is wrong, which will be found one by one
            wholes.others += members
            continue
        for n, k in enumerate(members):
            outcomes[k] = measured(measure, unbuilt[n].mechanism, cases[k], runs.answering(n))
    outcomes |= _built_one_by_one(build, measure, calls, cases, sorted(wholes.others))
    return [outcomes[k] for k in range(len(cases))]


def _built_one_by_one(
    build: Build, measure: Measure, calls: Sequence[Call], cases: list[Case], members: Sequence[int]
) -> dict[int, CaseOutcome]:
    things = {k: built_for(build, cases[k]) for k in members}
    built = {k: Built.of(thing) for k, thing in things.items() if isinstance(thing, Mechanism)}
    if not _all_new(built.values()):
        return {k: measured(measure, built_for(build, cases[k]), cases[k]) for k in members}
    around: dict[int, Any] = {}
    try:
        if built:
            whole = together([one.mechanism for one in built.values()])
            runs = Rehearsal(list(built.values()), whole, calls)
            around = {k: runs.answering(n) for n, k in enumerate(built)}
    except Exception:  # they are not alike, or something is wrong, which the measure will find
        pass
    return {k: measured(measure, thing, cases[k], around.get(k)) for k, thing in things.items()}


def _all_new(built: Iterable[Built]) -> bool:
    """Whether mechanisms have nothing in common that would be changed when the next one is built."""
    things = [id(thing) for one in built for thing in (one.mechanism, *one.mechanism.elements)]
    return len(set(things)) == len(things)


class _Wholes:
    """Mechanisms that are built of many cases each, as far as that can be done."""

    def __init__(self, build: Build, cases: list[Case]):
        self._build, self._cases = build, cases
        self.found: list[tuple[list[int], Mechanism]] = []  # which cases, and their whole
        self.others: list[int] = []  # cases to be built one by one
        groups: dict[Hashable, list[int]] = {}
        for k, case in enumerate(cases):
            groups.setdefault(repr([x for x in case.values() if type(x) is not float]), []).append(k)
        for members in groups.values():
            self._take(members)

    def _take(self, members: list[int]) -> None:
        """Build some cases at once; those that go different ways apart from each other."""
        groups: Sequence[np.ndarray] = ()
        if len(members) < _FEW:
            self.others += members
            return
        try:
            self.found.append((members, self._whole([self._cases[k] for k in members])))
        except Diverged as error:
            groups = error.groups
        except (Exception, SystemExit):  # one by one it is built, or said what is wrong
            self.others += members
        for some in groups:
            self._take([members[k] for k in some])

    def _whole(self, cases: list[Case]) -> Mechanism:
        numbers = {
            word: np.array([case[word] for case in cases]) for word, x in cases[0].items() if type(x) is float
        }
        whole = self._build(**cases[0] | {word: in_place_of_one(x) for word, x in numbers.items()})
        if not isinstance(whole, Mechanism):
            raise Unlike(whole)
        check_lanes(whole, numbers.values(), lambda k: self._build(**cases[k]))
        return whole
