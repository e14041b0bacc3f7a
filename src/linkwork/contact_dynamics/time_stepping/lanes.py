"""Lanes: many states of one model with contact, which steps move one after the other without Python.

Between two steps a state is q, v, its clock and what its contacts remember: a row of numbers and a row of
words. The stages of a step (`step_program`) work in arrays of their own, which stay in the processor's cache
while one lane follows the other: `take_lane` writes a row there, `leave_lane` writes it back.

A lane whose step is not made of these stages alone, as since something comes to rest, is so fast that it
could miss others, or needs more room, is left where it is, and says so: whoever asked for the step takes it
out, and takes that step with `Stepper.step`, which gives the same bits.
"""

from typing import Any, NamedTuple

import numpy as np

from linkwork.contact_dynamics.problem.contact_problem import FLAT, NODES, TABLE, WHERE
from linkwork.contact_dynamics.problem.contact_rows import POINTS
from linkwork.contact_dynamics.solver.contact_solver import NO_FACTOR, Factor
from linkwork.contact_dynamics.time_stepping.contact_state import ContactState
from linkwork.contact_dynamics.time_stepping.warm_start import NOTHING, Memory
from linkwork.native.loop_types import Named
from linkwork.native.numba_functions import bits, entry, native
from linkwork.native.stages import GO, SKIP

Array = np.ndarray

# Numbers of a lane: its time, work of forces [J], mesh of steps; steps, those not solved, the worst of these
# [m/s] and when [s].
TIME, WORK, ORIGIN, INDEX, STEPS, UNSOLVED, LARGEST, WHEN = range(8)
_NUMBERS = 8
# Words: how many contacts it remembers, whether it is quick, whether it was brought to the time that was
# asked for, and whether it rests: with the inputs of the last step the next one would be the same.
REMEMBERED, QUICK, TAKEN, RESTS = range(4)
_WORDS = 4

ON_MESH = 1e-9  # a time this close to a fixed mesh, in steps, is on it, as in all runs
_HUGE = 1e300  # of squares: larger, or no number at all, is left to Python
_ROOM = 32  # contacts that are remembered, at first


class Places(NamedTuple):
    """Where what belongs to a state is in its row of numbers, and how much of it there is."""

    q: int
    v: int
    before: int  # velocities before the last step
    inputs: int
    held: int  # inputs of the last step
    saved: int
    place: int
    impulse: int
    end: int
    room: int  # of contacts; their pairs are behind the other words


class Rows(NamedTuple):
    """The rows of lanes."""

    numbers: Any  # (N, places.end)
    words: Any  # (N, 4 + 2 room)
    poses: Any  # (N, 12 bodies) after the last step; or nobody asked for them
    motions: Any  # (N, 6 bodies)


PAIRS = "int64[:, ::1]"
ROWS = Named(Rows, {"numbers": TABLE, "words": PAIRS, "poses": TABLE, "motions": TABLE})
PLACES = Named(Places, dict.fromkeys(Places._fields, "int64"))


class Workspace(NamedTuple):
    """Where a step works."""

    values: Any  # words of the program,
    numbers: Any  # the same as doubles
    q: Any
    v: Any
    inputs: Any
    saved: Any  # (2 nodes,)
    work: Any  # (1,)
    t: Any  # (1,)
    pair: Any  # (n, 2) contacts that are remembered,
    place: Any  # (n, 3)
    impulse: Any  # (n, 3)


WORKSPACE = Named(Workspace, dict(zip(Workspace._fields, (WHERE, *[FLAT] * 7, PAIRS, TABLE, TABLE))))


class Lanes:
    """N states; `version` changes when their rows are replaced by larger ones."""

    def __init__(
        self,
        nq: int,
        nv: int,
        inputs: int,
        saved: int,
        count: int,
        timed: bool,
        sleeps: bool,
        bodies: int = 0,
    ) -> None:
        """Take the lengths of what states have, and how many there are.

        Time alone may move those that are `timed`; parts of what `sleeps` fall asleep; poses of `bodies` are
        wanted.
        """
        self.timed, self.sleeps = timed, sleeps
        self._sizes, self._bodies = (nq, nv, nv, inputs, inputs, saved), bodies
        self.version = 0
        self.factors: list[Factor] = []  # of each, see `ContactState`
        self._copied: Rows | None = None
        self._rows_for(count, _ROOM)

    def _rows_for(self, count: int, room: int) -> None:
        at = (_NUMBERS + np.cumsum([0, *self._sizes, 3 * room, 3 * room])).tolist()
        self.places = Places._make([*at, room])
        self.rows = Rows(
            *(np.zeros((count, self.places.end)), np.zeros((count, _WORDS + 2 * room), np.int64)),
            *(np.zeros((count, 12 * self._bodies)), np.zeros((count, 6 * self._bodies))),
        )
        self.factors += [NO_FACTOR] * (count - len(self.factors))
        self.version += 1

    @property
    def shows(self) -> bool:
        """Whether poses of bodies are wanted."""
        return self._bodies > 0

    def __len__(self) -> int:
        return len(self.rows.numbers)

    def grow(self, count: int, room: int) -> None:
        """Have room for more lanes, and for contacts that each of them remembers."""
        rows, old, n = self.rows, self.places, len(self)
        if count <= n and room <= old.room:
            return
        self._rows_for(max(count, n), max(room, old.room))
        new = self.places
        self.rows.numbers[:n, : old.place] = rows.numbers[:, : old.place]
        self.rows.numbers[:n, new.place : new.place + 3 * old.room] = rows.numbers[:, old.place : old.impulse]
        self.rows.numbers[:n, new.impulse : new.impulse + 3 * old.room] = rows.numbers[:, old.impulse :]
        self.rows.words[:n, : _WORDS + 2 * old.room] = rows.words
        self.rows.poses[:n], self.rows.motions[:n] = rows.poses, rows.motions

    # what lanes are

    def put(self, k: int, state: ContactState, origin: float, index: float, inputs: Array) -> None:
        """Let lane k be a state, at a point of its mesh."""
        count = len(state.memory.pair)
        if count > self.places.room:
            self.grow(len(self), 2 * count)
        at, x, words = self.places, self.rows.numbers[k], self.rows.words[k]
        x[:_NUMBERS] = state.t, state.work, origin, index, 0.0, 0.0, 0.0, 0.0
        x[at.q : at.v], x[at.v : at.before], x[at.before : at.inputs] = state.q, state.v, state.v
        x[at.inputs : at.held], x[at.held : at.saved], x[at.saved : at.place] = inputs, inputs, state.saved
        x[at.place : at.place + 3 * count] = state.memory.place.ravel()
        x[at.impulse : at.impulse + 3 * count] = state.memory.impulse.ravel()
        words[:_WORDS] = count, state.quick, 0, state.rests is not None
        words[_WORDS : _WORDS + 2 * count] = state.memory.pair.ravel()
        self.factors[k] = state.factor

    def state(self, k: int, h: float) -> ContactState:
        """Return what lane k is, whose steps are of h."""
        at, x, words = self.places, self.rows.numbers[k], self.rows.words[k]
        count, memory = int(words[REMEMBERED]), NOTHING
        if count:
            memory = Memory(
                words[_WORDS : _WORDS + 2 * count].reshape(-1, 2).copy(),
                x[at.place : at.place + 3 * count].reshape(-1, 3).copy(),
                x[at.impulse : at.impulse + 3 * count].reshape(-1, 3).copy(),
                *NOTHING[3:],
            )
        where = x[at.q : at.v].copy(), x[at.v : at.before].copy(), float(x[TIME]), float(x[WORK])
        rests = (h, x[at.held : at.saved].tobytes()) if words[RESTS] else None
        saved, quick = x[at.saved : at.place].copy(), bool(words[QUICK])
        return ContactState(*where, memory, self.factors[k], saved, rests, quick)

    @property
    def q(self) -> Array:
        """The positions (N, nq), to be read."""
        return self.rows.numbers[:, self.places.q : self.places.v]

    @property
    def v(self) -> Array:
        """The velocities (N, nv), to be read."""
        return self.rows.numbers[:, self.places.v : self.places.before]

    @property
    def y(self) -> Array:
        """Positions, velocities and work (N, nq + nv + 1)."""
        x, at = self.rows.numbers, self.places
        return np.concatenate([x[:, at.q : at.before], x[:, WORK : WORK + 1]], axis=1)

    @property
    def before(self) -> Array:
        """The velocities before the last step (N, nv), to be read."""
        return self.rows.numbers[:, self.places.before : self.places.inputs]

    @property
    def inputs(self) -> Array:
        """The inputs (N, nu), which may be written to."""
        return self.rows.numbers[:, self.places.inputs : self.places.held]

    @property
    def held(self) -> Array:
        """The inputs of the last step (N, nu), to be read."""
        return self.rows.numbers[:, self.places.held : self.places.saved]

    def number(self, which: int) -> Array:
        """Return one of the numbers of all lanes (N,)."""
        return self.rows.numbers[:, which]

    @property
    def taken(self) -> Array:
        """Whether they were brought to the time that was asked for (N,)."""
        return self.rows.words[:, TAKEN]

    @property
    def rests(self) -> Array:
        """Which lanes would stay as they are, if their inputs do (N,)."""
        return self.rows.words[:, RESTS]

    def copy(self) -> tuple[Rows, Places, list[Factor]]:
        """Return what all lanes are, for `become`; good until the next copy is made."""
        rows, to = self.rows, self._copied
        if to is None or to.numbers.shape != rows.numbers.shape or to.poses.shape != rows.poses.shape:
            self._copied = to = Rows(*map(np.empty_like, rows))
        for own, other in zip(rows, to):
            other[:] = own
        return to, self.places, self.factors.copy()

    def become(self, copied: tuple[Rows, Places, list[Factor]]) -> None:
        """Be what was copied."""
        self.rows, self.places, self.factors = copied
        self._copied = None
        self.version += 1


# Where words of the program are; see `step_program`.
class Words(NamedTuple):
    """Places among the values of a program."""

    points: int
    remembered: int
    quick: int
    asleep: int
    waits: int
    start: int
    middle: int
    half: int
    span: int
    step: int
    worst: int
    lane: int  # which of those that are to be moved
    lanes: int  # how many these are
    until: int  # to which time
    stepped: int  # whether it was moved just now
    left: int  # how many are not there
    fast: int  # how many pairs of its shapes may pass each other


WORDS = Named(Words, dict.fromkeys(Words._fields, "int64"))


@native
def _same_inputs(x, at):
    """Return whether inputs are those of the last step."""
    same = True
    for i in range(at.saved - at.held):
        same = same and bits(x[at.inputs + i]) == bits(x[at.held + i])
    return same


@native
def _tick(x, h):
    """Go on to the next point of the mesh."""
    x[INDEX], x[STEPS] = x[INDEX] + 1.0, x[STEPS] + 1.0
    x[TIME] = x[ORIGIN] + x[INDEX] * h


@entry("int64", ROWS, PLACES, WHERE, WORDS, WORKSPACE)
def take_lane(rows, at, which, word, to):
    """Write a lane to where its step works; skip it if it is there, or if its step needs Python."""
    k = which[to.values[word.lane]]
    x, words, values, numbers = rows.numbers[k], rows.words[k], to.values, to.numbers
    h, until, count = numbers[word.step], numbers[word.until], words[REMEMBERED]
    values[word.stepped] = 0
    if x[ORIGIN] + (x[INDEX] + 1.0) * h > until + ON_MESH * h:
        if until - x[TIME] <= ON_MESH * h:
            values[word.left] -= 1
            words[TAKEN] = 1
        return SKIP
    words[TAKEN] = 0
    if count > len(to.pair):
        return SKIP
    if words[RESTS] != 0 and _same_inputs(x, at):
        for i in range(at.inputs - at.before):
            x[at.before + i] = x[at.v + i]
        _tick(x, h)
        values[word.stepped] = 1
        return SKIP
    for i in range(len(to.q)):
        to.q[i] = x[at.q + i]
    for i in range(len(to.v)):
        to.v[i] = x[at.v + i]
    for i in range(len(to.inputs)):
        to.inputs[i] = x[at.inputs + i]
    for i in range(len(to.saved)):
        to.saved[i] = x[at.saved + i]
    for i in range(count):
        to.pair[i, 0], to.pair[i, 1] = words[_WORDS + 2 * i], words[_WORDS + 2 * i + 1]
        for j in range(3):
            to.place[i, j], to.impulse[i, j] = x[at.place + 3 * i + j], x[at.impulse + 3 * i + j]
    t = x[TIME]
    span = (t + h) - t
    to.work[0], to.t[0] = x[WORK], t + 0.5 * span
    numbers[word.start], numbers[word.middle], numbers[word.half] = t, t + 0.5 * span, 0.5 * span
    numbers[word.span], values[word.remembered], values[word.quick] = span, count, words[QUICK]
    values[word.asleep] = values[word.waits] = values[word.fast] = 0
    return GO


@native
def _moves(v, first, last):
    fastest = 0.0
    for i in range(first, last):
        fastest = max(fastest, abs(v[i]))
    return fastest > 0.0


@native
def _may_fall_asleep(nodes, v, count, timed):
    """Return whether a node that something may hold stands still. One alone rests, if time moves nothing."""
    if len(nodes.size) == 1 and not timed:
        return False
    for j in range(len(nodes.size)):
        if count > 0 and not _moves(v, nodes.first[j], nodes.first[j] + nodes.size[j]):
            return True
    return False


@native
def _rests(x, at, of, timed):
    """Return whether nothing has moved, and nothing moves."""
    if timed or _moves(of.v, 0, len(of.v)):
        return False
    same = True
    for i in range(len(of.q)):
        same = same and x[at.q + i] == of.q[i]
    return same


@entry("int64", ROWS, PLACES, WHERE, WORDS, WORKSPACE, NODES, POINTS, TABLE, "float64", "int64", "int64")
def leave_lane(rows, at, which, word, of, nodes, points, impulses, tolerance, timed, sleeps):
    """Write a lane back after its step, unless that needs Python; skip if there are no lanes.

    Whether time alone may move it, and whether parts of it may fall asleep, is given.
    """
    values, numbers = of.values, of.numbers
    if values[word.lanes] == 0:
        return SKIP
    k, count = which[values[word.lane]], values[word.points]
    if count > at.room or (sleeps != 0 and _may_fall_asleep(nodes, of.v, count, timed != 0)):
        return GO
    total = 0.0
    for i in range(len(of.q)):
        total += of.q[i] * of.q[i]
    for i in range(len(of.v)):
        total += of.v[i] * of.v[i]
    if not total < _HUGE:
        return GO
    x, words = rows.numbers[k], rows.words[k]
    words[RESTS] = 1 if _rests(x, at, of, timed != 0) else 0
    for i in range(len(of.q)):
        x[at.q + i] = of.q[i]
    for i in range(len(of.v)):
        x[at.before + i] = x[at.v + i]
        x[at.v + i] = of.v[i]
    for i in range(len(of.saved)):
        x[at.saved + i] = of.saved[i]
    for i in range(count):
        for j in range(2):
            words[_WORDS + 2 * i + j] = points.pair[i, j]
        for j in range(3):
            x[at.place + 3 * i + j], x[at.impulse + 3 * i + j] = points.place[i, j], impulses[i, j]
    for i in range(len(of.inputs)):
        x[at.held + i] = of.inputs[i]
    _tick(x, numbers[word.step])
    values[word.stepped] = 1
    x[WORK] = of.work[0]
    if count > 0 and numbers[word.worst] > tolerance:
        x[UNSOLVED] += 1.0
        if numbers[word.worst] > x[LARGEST]:
            x[LARGEST], x[WHEN] = numbers[word.worst], x[TIME]
    words[REMEMBERED], words[QUICK] = count, values[word.quick]
    return GO


@entry("int64", ROWS, WHERE, WORDS, WHERE, FLAT, FLAT)
def show_lane(rows, which, word, values, X, V):
    """Write where the bodies of a lane are, and how they move."""
    k = which[values[word.lane]]
    if values[word.lanes] != 0:
        for i in range(len(X)):
            rows.poses[k, i] = X[i]
        for i in range(len(V)):
            rows.motions[k, i] = V[i]
    return GO


@entry("int64", WORDS, WHERE)
def next_lane(word, values):
    """Go on with a lane that was moved, or to the next one, if there is one."""
    if values[word.stepped] == 0:
        values[word.lane] += 1
    return SKIP if values[word.lane] < values[word.lanes] else GO
