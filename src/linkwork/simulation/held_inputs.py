"""The inputs of a simulation that is stepped: by name, or all at once; what is written is held."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from linkwork.dynamics.kernel import real_array
from linkwork.errors import unknown
from linkwork.spelling import spelled_methods

Array = np.ndarray

_PLAIN = (float, int, np.float64)  # numbers that need no second look


@spelled_methods
class HeldInputs(Mapping[str, Any]):
    """Values of inputs: `inputs["motor"] = 3.0`, or `inputs[:] = u` in the order of their names.

    Of one mechanism they are numbers, (nu,) together; of a batch (N,) each, (N, nu) together, and one number
    stands for all.
    """

    array: Array  # (N, nu)
    written: list[bool]  # one: whether they were, since the last step
    _places: dict[str, int]  # by name
    _columns: list[Array]  # (N,), views of `array`
    _batch: bool
    _loads: Collection[str]
    _writers: Mapping[str, str]  # controllers, by the input that they write

    def __init__(
        self,
        names: Sequence[str],
        array: Array,
        batch: bool,
        loads: Collection[str],
        writers: Mapping[str, str],
    ) -> None:
        own = vars(self)
        own["array"], own["written"] = array, [True]
        own["_places"], own["_columns"] = {name: k for k, name in enumerate(names)}, list(array.T)
        own["_batch"], own["_loads"], own["_writers"] = batch, loads, writers

    def __setattr__(self, word: str, value: Any) -> None:
        raise AttributeError(
            f"inputs have no {word} to set to {value!r:.80}; write sim.inputs[{word!r}] = ..."
            if word in self._places
            else f"inputs have no {word} to set to {value!r:.80}; {unknown('input', word, self)}"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            column = self.array[:, self._place(key)]
            return column.copy() if self._batch else float(column[0])
        self._check_whole(key)
        return np.array(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.array if self._batch else self.array[0], dtype)

    def __delitem__(self, key: Any) -> None:
        raise TypeError(f"inputs are not deleted: {key!r} is read by a law; write sim.inputs[{key!r}] = 0.0")

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            k = self._places.get(key)
            if k is None or key in self._writers:
                raise self._not_ours(key) if key in self._writers else self._unknown(key)
            if type(value) in _PLAIN and isfinite(value):
                self._columns[k].fill(value)
            else:
                self._columns[k][:] = self._checked(f"input {key!r}", value, self.array.shape[:1])
        else:
            self._check_whole(key)
            values = np.broadcast_to(self._checked("inputs", value, self.array.shape), self.array.shape)
            for name in self._writers:
                if (values[:, self._places[name]] != self.array[:, self._places[name]]).any():
                    raise self._not_ours(name)
            self.array[:] = values
        self.written[0] = True

    def update(self, values: Mapping[str, Any]) -> None:
        """Write several by name; if one of them is refused, none is written."""
        before = self.array.copy()
        try:
            for name, value in values.items():
                self[name] = value
        except ValueError:
            self.array[:] = before
            raise

    def __repr__(self) -> str:
        shown = (f"{name}={'...' if self._batch else format(self[name], 'g')}" for name in self)
        return f"<inputs {', '.join(shown)}>" if self._places else "<no inputs>"

    def _place(self, name: str) -> int:
        place = self._places.get(name)
        if place is None:
            raise self._unknown(name)
        return place

    def _unknown(self, name: str) -> KeyError:
        if name in self._loads:
            remedy = f"has a law of its own; give it law=lw.Input({name!r}) to set it from outside"
            return KeyError(f"inputs: {name!r} {remedy}")
        none = "the mechanism has no inputs; give a motor, or another load, a law with lw.Input(...)"
        return KeyError(f"inputs: {unknown('input', name, self) if self._places else none}")

    def _not_ours(self, name: str) -> ValueError:
        return ValueError(f"input {name!r} is written by controller {self._writers[name]!r}; remove that")

    def _check_whole(self, key: Any) -> None:
        if key is not Ellipsis and not (isinstance(key, slice) and key == slice(None)):
            raise KeyError(f"inputs: {key!r}; give the name of one, or [:] for all")

    def _checked(self, what: str, value: Any, shape: tuple[int, ...]) -> Array:
        """Return finite numbers of a shape, that of one mechanism or of the batch; one stands for all."""
        array = real_array(what, value)
        whole = shape if self._batch else shape[1:]
        if array.size == 1 and np.prod(whole) == 1:
            array = array.reshape(())
        if array.shape not in ((), whole, shape[1:]):
            raise ValueError(f"{what} {_shown(value)}; give {whole or 'one number'}")
        if not np.isfinite(array).all():
            raise ValueError(f"{what} {_shown(value)}; give finite numbers")
        return array


def _shown(value: Any) -> str:
    shape = np.shape(value)
    return f"of shape {shape}" if np.size(value) > 4 else f"{value!r}"
