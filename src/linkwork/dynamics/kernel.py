"""A kernel: an algorithm made callable on arrays, for one mechanism or for a batch of them.

Arrays have the shapes of the algorithm's ports, with one more leading axis for a batch.
"""

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from linkwork.dynamics.algorithm import Algorithm
from linkwork.dynamics.native_program import Form, Program, program, shapes_of
from linkwork.errors import NumericalError
from linkwork.lazy import lazy
from linkwork.native import entry, store
from linkwork.real_numbers import real_array
from linkwork.tree.tree import Tree
from linkwork.varied import Varied, real_table, rows, varied_array

Array = np.ndarray


class Kernel:
    """One algorithm on one tree."""

    def __init__(self, algorithm: Algorithm, tree: Tree, form: Form, path: Sequence[int] | None = None):
        self.algorithm, self.tree, self.path = algorithm, tree, path
        self.form: Form = form
        self.shapes = shapes_of(algorithm, tree)
        self.inputs = len(algorithm.given)
        self._scratch = threading.local()

    @lazy
    def single(self) -> Program:
        return program(self.algorithm, self.tree, 1, self.form, self.path)

    @lazy
    def lanes(self) -> Program:
        return program(self.algorithm, self.tree, store.lanes(), self.form, self.path)

    @lazy
    def variants(self) -> Program:
        """The program for lanes each of which has constants of its own."""
        return program(self.algorithm, self.tree, store.lanes(), self.form, self.path, shared=False)

    @lazy
    def tangent(self) -> Program:
        """The program of derivatives, one direction per lane; see `program`."""
        return program(self.algorithm, self.tree, store.lanes(), self.form, self.path, tangent=True)

    @lazy
    def call(self) -> Callable[..., Any]:
        """A built-in function of exact arrays, outputs last; see `entry` for what it returns."""
        p = self.single
        return entry.single_call(p.run, p.plan, p.data, p.shapes, p.inputs, p.work_size, keep=p)

    @lazy
    def _call_many(self) -> Callable[..., Any]:
        p = self.lanes
        return entry.batch_call(p.run, p.plan, p.places, p.shapes, p.inputs, keep=p)

    def call_many(self, *arrays: Any) -> Any:
        """Do for a batch what `call` does for one; the interpreter's lock is let go meanwhile."""
        return self._call_many(self._room(), *arrays)

    def __call__(self, *inputs: Any, out: Sequence[Array | None] = ()) -> tuple[Array, ...]:
        """Check and convert the inputs, run for one or for many, and return the outputs."""
        if self.tree.data.dtype == object:
            found = call_variants(self.variants, self.algorithm.name, inputs)
            for k, o in enumerate(out):
                if o is not None:
                    o[...] = found[k]
            return found
        if not any(o is not None for o in out) and getattr(inputs[0], "ndim", None) == len(self.shapes[0]):
            fresh = tuple(np.empty(shape) for shape in self.outputs)
            done = self.call(*inputs, *fresh)
            if done is False:
                self.explain(fresh, inputs)
            if done is not None:
                return fresh
        arrays = [self._input(k, x) for k, x in enumerate(inputs)]
        counts = {a.shape[0]: k for k, a in enumerate(arrays) if a.ndim > len(self.shapes[k])}
        if len(counts) > 1:
            sizes = ", ".join(f"{self._name(k)} has {n}" for n, k in counts.items())
            raise ValueError(f"{self.algorithm.name}: batches of different sizes: {sizes}")
        batch = next(iter(counts), None)
        outs = [
            self._output(self.inputs + k, o, batch) for k, o in enumerate(out or [None] * len(self.outputs))
        ]
        targets = [_exact(o) if _plain(o) and not _overlaps(o, arrays) else np.empty(o.shape) for o in outs]
        if batch is None:
            answer = self.call(*arrays, *targets)
        elif batch:
            answer = self.call_many(*(self._repeated(k, a, batch) for k, a in enumerate(arrays)), *targets)
        else:
            answer = targets[-1]  # nothing to do
        if not isinstance(answer, np.ndarray):
            self.explain(targets, arrays)
        for o, target in zip(outs, targets, strict=True):
            if not _plain(o) or o.ctypes.data != target.ctypes.data:
                o[...] = target
        return tuple(outs)

    def finish(self, done: Any, inputs: tuple[Any, ...], out: Array | None) -> Array:
        """Go on where `call` gave `done` in place of a result: convert the inputs, run a batch, or explain.

        `out` is what the user gave for the result, if any.
        """
        # Only for a batch: lanes would be compiled for nothing.
        if done is None and out is not None and np.ndim(out) > len(self.outputs[0]):
            done = self.call_many(*inputs, out)
            if done is out:
                return out
        if done is False and out is not None:
            self.explain([out], inputs)
        return self(*inputs, out=(out,))[0]

    def bind(self, *arrays: Array) -> tuple[Any, int, Array]:
        """Return (function, plan, ports) for compiled loops: `function(plan, ports.ctypes.data)`, unchecked.

        The arrays, inputs first, are those the function will read and write, one mechanism's; `ports` keeps
        them alive.
        """
        for k, (array, shape) in enumerate(zip(arrays, self.shapes, strict=True)):
            if not _plain(array) or array.dtype != np.float64 or array.shape != shape:
                raise ValueError(
                    f"{self.algorithm.name}: {self._name(k)} must be a float64 array of shape {shape}"
                )
        p = self.single
        work = np.zeros(p.work_size)
        ports = entry.table([a.ctypes.data for a in (p.data, work, *arrays)], keep=(self, work, *arrays))
        function = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(p.run)
        return function, p.plan.ctypes.data, ports

    @property
    def outputs(self) -> tuple[tuple[int, ...], ...]:
        return self.shapes[self.inputs :]

    def _repeated(self, k: int, array: Array, batch: int) -> Array:
        """Return an array with a leading axis; one for all mechanisms is repeated."""
        if array.ndim > len(self.shapes[k]):
            return array
        return np.ascontiguousarray(np.broadcast_to(array, (batch, *self.shapes[k])))

    def _room(self) -> Array:
        """Return this thread's pointers: to constants, scratch memory, a room for each array, results."""
        room = getattr(self._scratch, "room", None)
        if room is None:
            p = self.lanes
            sizes = (int(places.max(initial=-1)) + 1 for places in p.places)  # vectors of lanes per block
            blocks = [aligned(size * p.lanes) for size in (p.work_size, *sizes)]
            pointers = [p.data.ctypes.data, *(block.ctypes.data for block in blocks)]
            results = [0] * len(self.outputs)  # where a block's rows go: the loop over the blocks says
            room = self._scratch.room = entry.table([*pointers, *results], keep=tuple(blocks))
        return room

    # checks

    def _name(self, k: int) -> str:
        return self.algorithm.ports[k].word

    def _input(self, k: int, x: Any) -> Array:
        shape = self.shapes[k]
        if type(x) is np.ndarray and x.dtype == np.float64 and _plain(x):
            array = _exact(x)
        else:
            array = real_array(f"{self.algorithm.name}: {self._name(k)}", x)
        if array.shape != shape and array.shape[1:] != shape:
            many = "(" + ", ".join(["N", *map(str, shape)]) + ")"
            raise ValueError(
                f"{self.algorithm.name}: {self._name(k)} has shape {array.shape}; "
                f"give {shape}, or {many} for N at once"
            )
        return array

    def _refuse_value(self, k: int, array: Array) -> None:
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        port = self.algorithm.ports[k]
        batch, place = (where[:1], where[1:]) if array.ndim > len(self.shapes[k]) else ((), where)
        of = f" of mechanism {batch[0]}" if batch else ""
        joint = ""
        if port.per in ("q", "v") and place:
            owner = self.joint_of(port.per, place[0])
            joint = f" (joint {owner!r})"
        index = ", ".join(map(str, place))
        value = array[where]
        raise ValueError(
            f"{self.algorithm.name}: {self._name(k)}{f'[{index}]' if place else ''}{joint}{of} is {value}; "
            "give finite numbers"
        )

    def joint_of(self, per: str, index: int) -> str:
        """Return the name of the joint that has this position or velocity."""
        first = [link.q if per == "q" else link.v for link in self.tree.links]
        count = [link.kind.nq if per == "q" else link.kind.nv for link in self.tree.links]
        for link, a, n in zip(self.tree.links, first, count, strict=True):
            if a <= index < a + n:
                return link.name
        raise IndexError(index)

    def _output(self, k: int, out: Array | None, batch: int | None) -> Array:
        shape = self.shapes[k] if batch is None else (batch, *self.shapes[k])
        if out is None:
            return np.empty(shape)
        check_out(self.algorithm.name, out, shape)
        return out

    def explain(self, results: Sequence[Array], arrays: Sequence[Array]) -> NoReturn:
        """Raise: a number that went in is not finite, or one that came out."""
        for k, array in enumerate(arrays):
            if not any(array is result for result in results) and not np.isfinite(array).all():
                self._refuse_value(k, array)
        where = ""
        for k, result in enumerate(results):
            bad = np.argwhere(~np.isfinite(result))
            batched = result.ndim - len(self.outputs[k])
            if len(bad) and batched:
                where += f" for mechanism {bad[0][0]}"
            if len(bad) and self.algorithm.outputs[k].per == "v":
                where += f" at joint {self.joint_of('v', int(bad[0][batched]))!r}"
            if len(bad):
                break
        raise NumericalError(
            f"{self.algorithm.name}: the result is not finite{where}; a quaternion is zero, "
            "a joint moves no inertia, nothing has mass, or numbers are too large"
        )


_ROOM = 2**20  # numbers of variants that are laid out in lanes at a time


def call_variants(p: Program, name: str, inputs: Sequence[Any]) -> tuple[Array, ...]:
    """Run a program for all N variants of a tree, block by block.

    Inputs are those of one mechanism, the same for all or of N numbers each; outputs are arrays of N numbers
    each. Or they are those of a batch, (N S, ...), as many of each variant, one variant after the other; so
    are the outputs then.
    """
    count = next(len(x.values) for x in p.data if isinstance(x, Varied))
    known = list(zip(inputs, p.shapes, strict=False))
    batches = [len(x) for x, shape in known if isinstance(x, np.ndarray) and x.ndim > len(shape)]
    samples = batches[0] // count if batches else 1
    tables = [rows(real_table(p.data), count)[:, None]]  # of each input: (N, S or 1, numbers)
    for x, shape in known:
        if isinstance(x, np.ndarray) and x.ndim > len(shape):
            tables.append(x.reshape(count, samples, -1))
        else:
            tables.append(rows(real_table(np.ravel(x)), count)[:, None])
    places = [np.arange(len(p.data)), *p.places]
    made = [np.empty((count, samples, each.size)) for each in p.places[p.inputs :]]
    numbers = p.lanes * samples * sum(int(where.max(initial=0)) + 1 for where in places)
    some = p.lanes * max(1, _ROOM // numbers)
    for first in range(0, count, some):
        _run_blocks(p, tables, places, made, slice(first, min(first + some, count)), samples)
    if not all(np.isfinite(values).all() for values in made):
        raise NumericalError(f"{name}: the result of a variant is not finite")
    shapes = p.shapes[p.inputs :]
    if batches:
        return tuple(x.reshape(-1, *shape) for x, shape in zip(made, shapes, strict=True))
    return tuple(varied_array(x.reshape(count, *shape)) for x, shape in zip(made, shapes, strict=True))


def _run_blocks(
    p: Program,
    tables: Sequence[Array],
    places: Sequence[Array],
    made: Sequence[Array],
    some: slice,
    samples: int,
) -> None:
    """Run a program for some variants; `made` (N, S, numbers) <- tables of the constants and inputs."""
    blocks = -(-(some.stop - some.start) // p.lanes)
    which = np.minimum(np.arange(some.start, some.start + blocks * p.lanes), some.stop - 1)  # the last fills
    rooms: list[Array] = []  # (blocks, S or 1, numbers, lanes) of each array
    for k, where in enumerate(places):
        size, there = int(where.max(initial=-1)) + 1, k < len(tables)
        turns = tables[k].shape[1] if there else samples
        room = aligned(blocks * turns * size * p.lanes).reshape(blocks, turns, size, p.lanes)
        if there:
            room[:, :, where] = tables[k][which].reshape(blocks, p.lanes, turns, -1).transpose(0, 2, 3, 1)
        rooms.append(room)
    work = aligned(p.work_size * p.lanes)
    nothing = [0] * p.results
    ports = np.array([rooms[0].ctypes.data, work.ctypes.data, *(x.ctypes.data for x in rooms[1:]), *nothing])
    turn = [x.strides[1] if x.shape[1] > 1 else 0 for x in rooms]  # bytes to the next sample, and block
    block = [x.strides[0] for x in rooms]
    to_next = np.array([turn[0], 0, *turn[1:], *nothing])
    to_block = np.array([block[0], 0, *block[1:], *nothing]) - samples * to_next
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(p.run)
    plan, address = p.plan.ctypes.data, ports.ctypes.data
    for _ in range(blocks):
        for _ in range(samples):
            function(plan, address)
            ports += to_next
        ports += to_block
    for values, room, where in zip(made, rooms[len(tables) :], places[len(tables) :], strict=True):
        lanes_last = room[:, :, where].transpose(0, 3, 1, 2).reshape(blocks * p.lanes, samples, -1)
        values[some] = lanes_last[: some.stop - some.start]


def check_out(name: str, out: Any, shape: tuple[int, ...]) -> None:
    """Refuse an `out` that cannot take the result."""
    fits = isinstance(out, np.ndarray) and out.shape == shape and out.dtype == np.float64
    repeats = fits and any(step == 0 and size > 1 for step, size in zip(out.strides, shape, strict=True))
    if not (fits and out.flags.writeable) or repeats:
        said = f"{out.shape} of {out.dtype}" if isinstance(out, np.ndarray) else type(out).__name__
        said += ", one row repeated (stride 0)" if repeats else ", read-only" if fits else ""
        raise ValueError(f"{name}: out is {said}; give a writable float64 array of shape {shape}")


_FLOAT = np.dtype(np.float64)


def _plain(array: Array) -> bool:
    """Return whether native code can work on the array as it is."""
    return type(array) is np.ndarray and array.flags.c_contiguous and array.flags.aligned


def _exact(array: Array) -> Array:
    """Return the array with the one descriptor of doubles; unpickled arrays have their own."""
    return array if array.dtype is _FLOAT else array.view(_FLOAT)


def _overlaps(out: Array, arrays: Sequence[Array]) -> bool:
    """Return whether writing the result would spoil an input; the same memory from end to end does not."""
    return any(np.may_share_memory(out, a) and out.ctypes.data != a.ctypes.data for a in arrays)


def aligned(size: int) -> Array:
    """Return room for doubles that begins at a cache line."""
    raw = np.zeros(size + 8)  # zeros: packed results have one behind them that is never written
    skip = (-raw.ctypes.data // 8) % 8
    return raw[skip : skip + size]
