"""The mechanisms of a batch that are not all the same: which share their programs, and what each is alone."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from linkwork.lazy import kept
from linkwork.lazy_mapping import Later
from linkwork.model.model import Model
from linkwork.native import store
from linkwork.recording.channels import LiveChannels, VariantChannels
from linkwork.recording.report import Report
from linkwork.simulation.run_settings import RunSettings

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Alike:
    """Mechanisms of a batch that share their programs."""

    setting: RunSettings  # of one of them
    members: Array  # their numbers in the batch
    constants: Array | None = None  # (members, ...) numbers of their own; None: all have those of the model
    whole: Model | None = None  # of all members as one, whose numbers are N in place of one


@dataclass(frozen=True, eq=False)
class Variants:
    """The mechanisms of a batch, if they are not all the same."""

    alike: Sequence[Alike]
    settings: Sequence[RunSettings]  # (N,) of each, as if it ran alone
    models: Sequence[Model]  # (N,)
    q_drawn: Array  # (N, nq)
    names: Sequence[str]  # (N,) of the mechanisms

    @property
    def count(self) -> int:
        return len(self.models)

    @kept
    def key(self) -> Array:
        """A digest, as integers, of the numbers of all."""
        found = hashlib.sha256()
        for group in self.alike:
            for array in (group.members, group.setting.key, group.constants):
                found.update(b"" if array is None else array.tobytes())
        return np.frombuffer(found.digest(), np.dtype("<i8"))

    @kept
    def _groups(self) -> dict[int, Alike]:
        return {int(k): group for group in self.alike for k in group.members}

    def shared(self, k: int) -> RunSettings:
        """Return the setting of one that has the same formulas as k."""
        return self._groups[k].setting

    def report(self, k: int, found: Report) -> Report:
        """Return a report as that of variant k, which is compiled when it is asked for its digest."""
        provenance = Later(lambda: {**found.provenance, "model": self.models[k].digest})
        return replace(found, mechanism=self.names[k], provenance=provenance)

    def channels(self, alone: LiveChannels) -> VariantChannels:
        """Return where derived quantities come from; `alone` are the channels if all were the same."""
        wholes = [(group.members, group.whole) for group in self.alike if group.whole is not None]
        return VariantChannels(self.models, alone, wholes)


def in_parts(groups: Iterable[Alike], workers: int) -> list[Alike]:
    """Divide mechanisms that share programs among threads."""
    found = []
    for group in groups:
        count = len(group.members)
        pieces = max(1, min(workers, -(-count // store.lanes())))
        for a, b in pairwise(np.linspace(0, count, pieces + 1).astype(int)):
            own = None if group.constants is None else group.constants[a:b]
            found.append(replace(group, members=group.members[a:b], constants=own))
    return found


def in_order(arrays: Sequence[Array], order: Array) -> Array:
    """Return the arrays of all parts as one, in the order of the batch."""
    whole = np.concatenate(arrays)
    return whole if (order[1:] > order[:-1]).all() else whole[order]
