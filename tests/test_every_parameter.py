"""Every argument of every public constructor and function, and every attribute, given what it cannot be.

The names are found by introspection: a new one, or a new argument, is tested without writing a test, and
fails here if something that cannot be meant is taken without a word, or refused in words that are not ours.
"""

import inspect
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from public_constructors import CALLS, nothing

import linkwork as lw


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Files are written where nobody looks."""
    monkeypatch.chdir(tmp_path)


class Thing:
    """Something of another library."""

    def __repr__(self) -> str:
        return "<Thing>"


WRONG: dict[str, Any] = {
    "nan": float("nan"),
    "text": "wrong",
    "true": True,
    "complex": 1j,
    "thing": Thing(),
    "date": np.datetime64("2020-01-01"),
    "bytes": b"x",
    "texts": np.array(["x", "y"]),
    "block": np.zeros((2, 2, 2)),
}
# What is right, though it is wrong elsewhere: of arguments of any name, and of some.
RIGHT = {
    "*.name": "text",
    "*.vectorized *.unphysical *.record *.ends *.leaves *.check *.travel *.degrees *.repair *.hulls": "true",
    "Sampled.inputs": "text texts",  # names of inputs
    "Sampled.memory Colliders.space": "block",
    "degrees.angle interp.x": "nan block",
    "rotation.angle rotation_x.angle rotation_y.angle rotation_z.angle rotation_about.angle": "nan block",
    "Listener.body": "text",  # a body that the run may have
    "simulate.checkpoint Checkpoint.file": "text",
    "image_outline.image Body.visuals": "block",
    "Frame.R Frame.p": "thing bytes",  # the numbers themselves, which formulas write a million times
}
# What has no right call here: what is returned, not made; bases of classes; functions of numbers.
NOT_MADE = (
    "ContactPoint Contacts Hit Hits KinematicRecording Line Model Recording Recordings Sound Behaviour "
    "Constraint Joint Load Solid FileFormat Tableau Cam RackPinion sweep action add_format translation"
)
OF_NUMBERS = "acos asin atan atan2 cos cosh exp floor hypot log norm sign sin sinh sqrt tan tanh where"
# Words of Python and NumPy, which know nothing of the argument.
FOREIGN = re.compile(
    r"object has no attribute|not supported between|object is not|unhashable|truth value of an|ufunc|"
    r"unsupported operand|iteration over|of unsized|can't multiply|could not be broadcast|axis remapping|"
    r"setting an array|positional argument|must be real number|invalid literal|could not convert"
)
REFUSALS = (lw.LinkworkError, ValueError, TypeError, AttributeError, KeyError, OSError)


def right(name: str, word: str, kind: str) -> bool:
    """Whether an argument may be of a kind of what is wrong elsewhere."""
    for words, kinds in RIGHT.items():
        if {f"{name}.{word}", f"*.{word}"} & {*words.split()} and kind in kinds.split():
            return True
    return False


def complaint(call: Any) -> str | None:
    """Return what is said of a call, or None if it is taken without a word."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except REFUSALS as error:
            return f"{type(error).__name__}: {error}"
    texts = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
    return texts[0] if texts else None


def faults(name: str, word: str, called: Any) -> Iterator[str]:
    for kind, value in WRONG.items():
        if right(name, word, kind):
            continue
        said = complaint(lambda value=value: called(value))
        if said is None:
            yield f"{name}: {word} takes {kind} ({value!r:.30}) without a word"
        elif FOREIGN.search(said):
            yield f"{name}: {word}={value!r:.30}: {said:.120}"


@pytest.mark.parametrize("name", CALLS)
def test_no_argument_takes_what_it_cannot_be(name):
    call = CALLS[name]
    assert complaint(lambda: call().use()) is None
    wrong = []
    for word, parameter in inspect.signature(getattr(lw, name)).parameters.items():
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            wrong += faults(name, word, lambda value, word=word: call(**{word: value}).use())
    assert not wrong, "\n".join(wrong)


def settable(thing: Any) -> list[str]:
    """Return the public attributes of something that are no methods."""
    return [word for word in dir(thing) if word[0] != "_" and not callable(getattr(type(thing), word, None))]


@pytest.mark.parametrize("name", [name for name in CALLS if inspect.isclass(getattr(lw, name))])
def test_no_attribute_takes_what_it_cannot_be(name):
    wrong = []
    for word in settable(CALLS[name]().thing):

        def change(value: Any, word: str = word) -> None:
            made = CALLS[name]()
            setattr(made.thing, word, value)
            made.use()

        for kind in ("thing", "bytes"):
            if right(name, word, kind):
                continue
            said = complaint(lambda kind=kind, change=change: change(WRONG[kind]))
            if said is None:
                wrong.append(f"{name}: {word} = {WRONG[kind]!r} has no effect, and nothing is said")
            elif FOREIGN.search(said):
                wrong.append(f"{name}: {word} = {WRONG[kind]!r}: {said:.120}")
    assert not wrong, "\n".join(wrong)


def test_every_public_name_is_called():
    errors = {name for name in lw.__all__ if name.endswith("Error")}
    known = {*CALLS, *NOT_MADE.split(), *OF_NUMBERS.split(), *errors}
    assert {name for name in lw.__all__ if callable(getattr(lw, name))} == known
    nothing()
