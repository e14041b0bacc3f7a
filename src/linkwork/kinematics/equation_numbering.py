"""Where the numbers of every joint, constraint and driver lie in the arrays of a mechanism's equations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from linkwork.kinematics.equations import Catalogue, Equations, Thing, borrowed
from linkwork.kinematics.parameters import Number
from linkwork.mechanism.body import Body

Array = np.ndarray


@dataclass
class Numbering:
    """The places, by names; counts grow while things are added."""

    algebra: ModuleType
    bodies: Sequence[Body]  # without ground
    varied: Mapping[str, Sequence[Number]]  # numbers that vary, by names
    m: int = 0  # equations
    own_unknowns: int = 0  # beside the poses of bodies
    references: int = 0
    inputs: int = 0  # drivers
    rows: dict[str, slice] = field(default_factory=dict)
    entries: dict[str, slice] = field(default_factory=dict)  # of phi_q
    own: dict[str, int] = field(default_factory=dict)  # first unknown of a thing's own, among those
    places: dict[str, list[int]] = field(default_factory=dict)  # of what varies, in data
    records: list[tuple[Equations, list[int]]] = field(default_factory=list)  # see `equation_program`
    data: list[float] = field(default_factory=list)
    entry_rows: list[int] = field(default_factory=list)
    entry_columns: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._catalogue = Catalogue(self.algebra)
        self._numbers = {id(body): k for k, body in enumerate(self.bodies)}
        self.places |= {name: [] for name in self.varied}

    @property
    def n(self) -> int:
        """How many unknowns there are."""
        return self.algebra.freedoms * len(self.bodies) + self.own_unknowns

    @property
    def nq(self) -> int:
        """How many coordinates there are."""
        return self.algebra.coordinates * len(self.bodies) + self.own_unknowns

    def add(self, thing: Thing) -> None:
        """Give places to the numbers of a thing, behind those of all before it."""
        equations, numbers = self._equations(thing)
        at = [self._numbers.get(id(body), 0) for body in thing.bodies]
        lender = borrowed(thing)
        own = self.own_unknowns if lender is None else self.own[lender.name]
        self.records.append((equations, self._record(at, own)))
        free = self.algebra.freedoms
        for i, b, k in equations.entries:
            self.entry_rows.append(self.m + i)
            self.entry_columns.append(free * len(self.bodies) + own + k if b < 0 else free * at[b] + k)
        self.rows[thing.name] = slice(self.m, self.m + len(equations.phi))
        self.entries[thing.name] = slice(len(self.entry_rows) - len(equations.entries), len(self.entry_rows))
        self.own[thing.name] = own
        self.data += numbers
        self.m += len(equations.phi)
        self.own_unknowns += equations.unknowns if lender is None else 0
        self.references += equations.references
        self.inputs += equations.inputs

    def _record(self, at: Sequence[int], own: int) -> list[int]:
        """Return the places of a thing, the next, that is on bodies of these numbers."""
        size, free, count = self.algebra.coordinates, self.algebra.freedoms, len(self.bodies)
        record = [len(self.data), 3 * self.inputs, self.references]
        record += [size * count + own, free * count + own, self.m, len(self.entry_rows)]
        for k in at:
            record += [self.algebra.Frame.size * k, size * k, free * k]
        return record

    def _equations(self, thing: Thing) -> tuple[Equations, list[float]]:
        """Return equations and numbers of a thing, and note where those will be that vary."""
        on_ground = [id(body) not in self._numbers for body in thing.bodies]
        mine = [(name, x) for name, xs in self.varied.items() for x in xs if x.thing is thing]
        plain = [(name, x) for name, x in mine if x.side is None]  # not on the frames of a joint

        def put(symbols: list[Any]) -> Thing:
            made = thing
            for (_, x), symbol in zip(plain, symbols, strict=True):
                made = Number(made, x.word, x.index).put(symbol)
            return made

        equations, numbers = self._catalogue.of(thing, on_ground, [x.value for _, x in plain], put)
        first = len(self.data)
        for k, (name, _) in enumerate(plain):
            self.places[name].append(first + equations.data - len(plain) + k)
        for name, x in mine:
            if x.side is not None:
                self.places[name].append(first + x.in_frames)
        return equations, numbers
