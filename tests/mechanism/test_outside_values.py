"""What functions read beside their arguments."""

import array
import collections
import ctypes
import logging
import os
import pathlib
import sys
import threading
import types
import weakref
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism import outside_values
from linkwork.mechanism.outside_values import Outside
from linkwork.trace.expression import Graph

NUMBER = 2.0
integral: Any = 0.0


def of(function: Any) -> Outside:
    return Outside([("law", function)])


def test_a_function_of_its_arguments_reads_nothing():
    assert not of(lambda t, q, v: 2.0 * q + abs(v))
    assert not of(lambda t, q, v: lw.sin(q) + np.cos(v))


def test_equal_numbers_of_one_type_are_no_change():
    table = [1.0, 2, "text", (1.0, 2.0), np.float64(3.0)]
    found = of(lambda: table)
    table[:] = [float("1.0"), int("2"), "".join(["te", "xt"]), (float("1"), 2.0), np.float64(3.0)]
    assert found.same
    table[1] = 2.0
    assert not found.same


@pytest.mark.parametrize(("old", "new"), [(0.0, -0.0), (1, True), (1.0, 1), (1.0, float("nan"))])
def test_numbers_that_only_look_equal_are_a_change(old, new):
    table = [old]
    found = of(lambda: table)
    table[0] = new
    assert not found.same


def test_nan_is_no_change():
    table = [float("nan")]
    found = of(lambda: table)
    table[0] = float("nan")
    assert found.same


def test_a_change_is_said_by_name():
    u, gains = [0.0], np.ones(2)
    found = of(lambda: (NUMBER, u[0], gains))
    u[0] = -5.0
    assert found.change() == "'u' had 0.0 and has -5.0 now"
    u[0] = 0.0
    gains[1] = 7.0
    assert found.change() == "'gains' has changed"


def test_containers_of_all_kinds_are_looked_into():
    things = {
        "deque": collections.deque([1.0]),
        "default": collections.defaultdict(list, a=[1.0]),
        "set": {1.0},
        "objects": np.array([[1.0], None], dtype=object),
        "bytes": bytearray(b"a"),
    }
    found = of(lambda: things)
    assert found.same
    for change in (
        lambda: things["deque"].append(2.0),
        lambda: things["default"]["a"].append(2.0),
        lambda: things["set"].add(2.0),
        lambda: things["objects"][0].append(2.0),
        lambda: things["bytes"].append(1),
    ):
        found = of(lambda: things)
        change()
        assert not found.same


class Gains(list[float]):
    """A list with attributes."""


class Table(dict[str, float]):
    """The same of a dictionary."""


class Samples(np.ndarray):
    """And of an array."""


@pytest.mark.parametrize(
    "thing", [Gains(), Table(), np.ones(1).view(Samples)], ids=lambda x: type(x).__name__
)
def test_attributes_of_containers_are_looked_at(thing):
    thing.gain = 1.0
    found = of(lambda: thing.gain)
    assert found.same
    thing.gain = 2.0
    assert not found.same


def by_attribute(t: Any, q: Any, v: Any) -> Any:
    return by_attribute.gain  # type: ignore[attr-defined]


def test_attributes_of_functions_are_looked_at():
    by_attribute.gain = 1.0  # type: ignore[attr-defined]
    found = of(by_attribute)
    assert found.same
    by_attribute.gain = 2.0  # type: ignore[attr-defined]
    assert not found.same


@pytest.fixture
def settings(monkeypatch):
    """A package of a user with a module in it, each with a number."""
    package, module = types.ModuleType("users_package"), types.ModuleType("users_package.settings")
    package.gain, package.settings, package.again = 1.0, module, package  # type: ignore[attr-defined]
    module.gain = 1.0  # type: ignore[attr-defined]
    for each in (package, module):
        monkeypatch.setitem(sys.modules, each.__name__, each)
    return package


def imports() -> Any:
    import users_package.settings  # type: ignore[import-not-found]

    return users_package.settings.gain


def imports_from() -> Any:
    from users_package.settings import gain  # type: ignore[import-not-found]

    return gain


def asks_modules() -> Any:
    return sys.modules["users_package.settings"].gain


@pytest.mark.parametrize("law", [imports, imports_from, asks_modules])
def test_modules_that_a_law_imports_are_looked_at(settings, law):
    found = of(law)
    assert found.same
    settings.settings.gain = 2.0
    assert not found.same


def test_names_that_are_texts_are_looked_at(settings):
    for law in (
        lambda: getattr(settings, "gain"),  # noqa: B009
        lambda: vars(settings)["gain"],
        lambda: settings.__dict__["gain"],
        lambda: settings.settings.gain,
        lambda: globals()["NUMBER"],
    ):
        found = of(law)
        assert found.same
        settings.gain += 1.0
        settings.settings.gain += 1.0
        globals()["NUMBER"] += 1.0
        assert not found.same


def test_what_a_weak_reference_leads_to_is_looked_at():
    thing = Gains()
    thing.gain = 1.0  # type: ignore[attr-defined]
    reference: Any = weakref.ref(thing)
    found = of(lambda: reference().gain)
    assert found.same
    thing.gain = 2.0  # type: ignore[attr-defined]
    assert not found.same


def test_a_mechanism_changes_with_its_elements():
    m = lw.examples.cart_pole()
    found = of(lambda: m["pole"].mass)
    assert found.same
    m.bodies["pole"].mass = 3.0
    assert not found.same


def test_files_the_environment_and_memory_of_c_are_never_known_to_be_the_same():
    path, number, numbers, local = (
        pathlib.Path("x"),
        ctypes.c_double(1.0),
        array.array("d"),
        threading.local(),
    )
    for law in (
        lambda: path.read_text(),
        lambda: open("x"),  # noqa: SIM115
        lambda: np.loadtxt("x"),
        lambda: os.environ["X"],
        lambda: os.getenv("X"),
        lambda: number.value,
        lambda: numbers[0],
        lambda: local.gain,
        lambda: eval("gain"),
    ):
        assert not of(law).same


def test_a_table_of_pandas_is_not_followed_into_its_library():
    pandas = pytest.importorskip("pandas")
    table = pandas.Series([1.0, 2.0])
    found = of(lambda: table.iloc[0])
    assert not found.same
    assert len(found.places) < 200


def test_large_arrays_are_compared_too():
    a = np.zeros(500_000)
    found = of(lambda: a)
    a[-1] = 1e-300
    assert not found.same


def test_read_only_arrays_cannot_change():
    a = np.ones(3)
    a.flags.writeable = False
    found = of(lambda: a)
    assert len(found.places) == 1  # the variable


def test_what_cannot_be_looked_into_is_never_known_to_be_the_same():
    iterator = iter([1.0, 2.0])
    found = of(lambda: next(iterator))
    assert not found.complete
    assert not found.same


def test_a_graph_of_very_many_objects_is_not_known_to_be_the_same(monkeypatch):
    monkeypatch.setattr(outside_values, "_MOST", 10)
    chain: Any = []
    for _ in range(20):
        chain = [chain]
    assert not of(lambda: chain).same


def test_locks_and_loggers_do_not_matter():
    lock, logger = threading.Lock(), logging.getLogger("linkwork test")
    found = of(lambda: (lock, logger))
    with lock:
        assert found.same


def test_a_cycle_ends():
    a: list[Any] = []
    a.append(a)

    def law() -> Any:
        return a, law

    assert of(law).same


def test_symbols_that_got_out_are_found_and_put_back():
    global integral
    kept: dict[str, Any] = {"I": 1.0}
    held: list[Any] = [2.0, 3.0]
    inside: Any = 4.0
    x: Any = Graph().symbol("x")

    def law() -> Any:
        nonlocal inside
        global integral
        integral = inside = kept["I"] = held[1] = x
        return integral, inside, kept, held

    before = of(law)
    law()
    after = of(law)
    found = {name for name, _, _ in after.leaked}
    assert found == {"held[1]", "inside", "integral", "kept['I']", "x"}  # the last is the symbol itself
    outside_values.restore(before, after)
    assert (integral, inside, kept, held) == (0.0, 4.0, {"I": 1.0}, [2.0, 3.0])


def test_symbols_that_were_there_before_are_left_alone():
    x: Any = Graph().symbol("x")
    own: list[Any] = [x, 1.0]

    def law() -> Any:
        own.append(x)
        return own

    before = of(law)
    law()
    outside_values.restore(before, of(law))
    assert own == [x, 1.0]


def test_random_numbers_drawn_are_noticed():
    rng = np.random.default_rng(1)
    found = of(lambda: rng.normal())
    assert not found.drew()
    rng.normal()
    assert found.drew() == "rng"


def test_a_private_slot_is_followed():
    class Gain:
        __slots__ = ("__value",)

        def set(self, value):
            self.__value = value

        def get(self):
            return self.__value

    gain = Gain()
    gain.set(1.0)
    found = of(lambda: gain.get())
    gain.set(2.0)
    assert not found.same


def test_an_objects_own_getattr_is_not_asked():
    class Table:
        def __init__(self):
            self.values = {"k": 1.0}

        def __getattr__(self, name):
            return self.values[name]  # a KeyError, where Python asks for an AttributeError

    class Unfilled:
        __slots__ = ("k",)

        def __getattr__(self, name):
            raise KeyError(name)

    table, unfilled = Table(), Unfilled()
    found = of(lambda: table.k), of(lambda: unfilled.k)
    table.values["k"] = unfilled.k = 2.0
    assert not any(each.same for each in found)
