"""Wrong values and what becomes of them: the entries of `test_refusals`, and how one is checked."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import linkwork as lw

NAN, INF = float("nan"), float("inf")
DATE = np.datetime64("2020-01-01")
REFUSALS = (lw.LinkworkError, ValueError, TypeError, AttributeError, KeyError)

# What is no number, no positive number, no point; what is, in forms that people have.
NO_NUMBERS = (NAN, INF, "1", True, 1j, None, [1.0, 2.0], DATE)
NO_SIZES = (*NO_NUMBERS, -1.0, 0.0)
NO_POINTS = (
    (NAN, 0, 0),
    (0, 0, INF),
    (1, 2, 3, 4),
    ("1", "2", "3"),
    (True, False, True),
    (1j, 0, 0),
    (None, 0, 0),
    np.array(["2020-01-01"] * 3, "datetime64[D]"),
    "xyz",
    1.0,
    np.eye(3),
)
POINTS = (
    np.array([1, 2, 3], np.float32),
    np.array([1, 2, 3]),
    np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0])[:3],
    np.array([1.0, 0.0, 2.0, 0.0, 3.0, 0.0])[::2],
    np.broadcast_to(np.array([1.0, 2.0, 3.0]), (3,)),
    [1, 2, 3],
)


PLACED: dict[str, Any] = {"at": (0, 0, 0)}
HINGE: dict[str, Any] = {"at": (0, 0, 0), "axis": (0, 1, 0)}
BALL = lw.Sphere(0.5)


@dataclass(frozen=True)
class Entry:
    """A call, and what it must do: be refused or warned of in these words, or give what is right."""

    name: str  # of lw.__all__
    what: str
    call: Callable[[], Any]
    verdict: str  # "refused", "warned" or "right"
    words: tuple[str, ...] = ()
    check: Callable[[Any], Any] | None = None

    def run(self) -> None:
        """Make the call, and compare what becomes of it with what must."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if self.verdict == "refused":
                with pytest.raises(REFUSALS) as error:
                    self.call()
                self._said(str(error.value))
                return
            made = self.call()
        texts = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
        if self.verdict == "warned":
            assert texts, "nothing was said"
            self._said(texts[0])
        else:
            assert not texts, texts
            assert self.check is None or np.all(self.check(made)), made

    def _said(self, text: str) -> None:
        missing = [word for word in self.words if word not in text]
        assert not missing, f"{missing} not in: {text}"


def refused(name: str, what: str, call: Callable[[], Any], *words: str) -> Entry:
    """A call that is refused in an error that contains these words."""
    return Entry(name, what, call, "refused", words)


def warned(name: str, what: str, call: Callable[[], Any], *words: str) -> Entry:
    """A call that is allowed, but probably not meant."""
    return Entry(name, what, call, "warned", words)


def right(name: str, what: str, call: Callable[[], Any], check: Callable[[Any], Any] | None = None) -> Entry:
    """A call that looks odd and gives what is right."""
    return Entry(name, what, call, "right", check=check)


def each(
    name: str, word: str, values: Iterable[Any], call: Callable[[Any], Any], *words: str
) -> Iterable[Entry]:
    """A table of wrong values of one argument, refused with its name and, if it is short, the value."""
    for value in values:
        said = (repr(value),) if isinstance(value, str | bool | complex) else ()
        yield refused(
            name, f"{word}={value!r:.40}", lambda value=value: call(value), *(words or (word,)), *said
        )


def all_right(
    name: str, word: str, values: Iterable[Any], call: Callable[[Any], Any], check: Any
) -> Iterable[Entry]:
    """A table of odd forms of one right value."""
    for value in values:
        kind = getattr(value, "dtype", type(value).__name__)
        yield right(name, f"{word} as {kind}", lambda value=value: call(value), check)


def pair(**options: Any) -> Any:
    """Two pendulums side by side, without `joint` if that says so."""
    m = lw.Mechanism("pair")
    for k, name in enumerate("ab"):
        body = m.add(lw.Body(name, lw.Box(0.2, 0.1, 0.1), density=1000, position=(k, 0, -1)))
        m.add(lw.Revolute(f"pin {name}", m.ground, body, at=(k, 0, 0), axis=(0, 1, 0), **options))
    return m


def hung(kind: Any, **options: Any) -> Any:
    """Compile one box on one joint of a kind."""
    m = lw.Mechanism("hung")
    box = m.add(lw.Body("box", lw.Box(0.2, 0.1, 0.1), density=1000, position=(0, 0, -1)))
    m.add(kind("joint", m.ground, box, **options))
    return m.compile()


def added(make: Callable[[lw.Body, lw.Body], Any]) -> Any:
    """Compile two pendulums and something between them."""
    m = pair()
    bodies: Any = m.bodies
    m.add(make(bodies["a"], bodies["b"]))
    return m.compile()


def changed(thing: Any, word: str, value: Any) -> Any:
    setattr(thing, word, value)
    return thing
