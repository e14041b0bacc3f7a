"""Numbers of a mechanism by name: "bob.mass", "pin.damping", "pin.at[2]", "pin.stop.stiffness", "gravity".

A name is that of an element and of one of its attributes; what it may be is what one could have written down
when the element was described. To assign is to have described it so.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from linkwork.errors import unknown
from linkwork.mechanism.body import Body
from linkwork.mechanism.body_inertia import inertia_of_shapes
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.input import Input
from linkwork.mechanism.mechanism import Element, Mechanism

_NAME = re.compile(r"(?P<word>\w+)(\.(?P<part>\w+))?(\[(?P<index>\d+)\])?")
_OF_BODIES = ("mass", "density", "com", "tensor", "position", "rotation")
_NO_NUMBERS = frozenset({"space", "component", "effort", "speed"})


@dataclass(frozen=True)
class NumberName:
    """A number, or several, of an element; of the mechanism itself if that is ""."""

    text: str
    element: str
    word: str  # the attribute
    part: str = ""  # of its value: "stiffness" of a stop
    index: int | None = None  # of its value

    def assign(self, mechanism: Mechanism, value: Any) -> None:
        """Let it be another value, as if it had been described so; ValueError if it cannot be."""
        thing = mechanism[self.element] if self.element else mechanism
        if self.part:
            value = replace(getattr(thing, self.word), **{self.part: value})
        elif self.index is not None:
            value = self._at_index(_read(thing, self.word), value)
        if isinstance(thing, Body) and self.word in _INERTIAS:
            thing.inertia = _INERTIAS[self.word](thing, value)
        else:
            setattr(thing, self.word, value)

    def _at_index(self, known: Any, value: Any) -> Any:
        items = list(known) if np.ndim(known) == 1 else []
        if self.index is None or self.index >= len(items):
            raise ValueError(f"{self.text!r}: {self.word} is {known!r}; there is no [{self.index}]")
        items[self.index] = value
        return tuple(items)


def find_number(mechanism: Mechanism, text: str) -> NumberName:
    """Return what a name stands for; ValueError says which are near."""
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is no name; give 'element.attribute', as 'bob.mass'")
    match = _NAME.fullmatch(text)
    if match and match["word"] == "gravity" and not match["part"]:
        return NumberName(text, "", "gravity", index=_index(match))
    names = [name for name in mechanism if text.startswith(f"{name}.")]
    if not names:
        raise ValueError(f"{text!r}{_no_number(mechanism, text)}")
    name = max(names, key=len)
    thing, match = mechanism[name], _NAME.fullmatch(text[len(name) + 1 :])
    known = dict(_numbers(thing))
    if match is None or match["word"] not in known:
        word = match["word"] if match else text[len(name) + 1 :]
        if not known:
            raise ValueError(f"{text!r}{_none_of(thing)}")
        said = unknown(f"number of {name!r}", word, known)
        more = f" It has {', '.join(known)}" if said.endswith("?") else ""
        raise ValueError(f"{text!r}: {said}{more}")
    part = match["part"] or ""
    inside = known[match["word"]]
    if (part or inside) and part not in inside:
        whole = f"{name}.{match['word']}"
        choice = ", ".join(f"{whole}.{x}" for x in inside) or whole
        raise ValueError(f"{text!r}: {part or 'it'} is no number; give {choice}")
    return NumberName(text, name, match["word"], part, _index(match))


def _index(match: re.Match[str]) -> int | None:
    return None if match["index"] is None else int(match["index"])


def _no_number(mechanism: Mechanism, text: str) -> str:
    """Say why a text that names no attribute of an element is no number."""
    element = text.partition(".")[0]
    if element in mechanism:
        thing = mechanism[element]
        listed = ", ".join(repr(f"{thing.name}.{word}") for word, _ in _numbers(thing))
        return f" does not say which number; give one of {listed}" if listed else _none_of(thing)
    having = [f"{thing.name}.{text}" for thing in mechanism.elements if text in dict(_numbers(thing))]
    if having:
        return f" does not say of what; give {' or '.join(map(repr, having[:3]))}"
    if element == "gravity":
        return " has no such part; give 'gravity', or one component of it, 'gravity[2]'"
    return f": {unknown('element', element, [*mechanism, 'gravity'])}"


def _none_of(thing: Element) -> str:
    """Say that an element has no numbers of its own."""
    if isinstance(getattr(thing, "law", None), Input):
        return f": {thing.name!r} is an input, no number; give inputs={{{thing.name!r}: [...]}}"
    return f": {thing.name!r} has no numbers that can vary"


def _numbers(thing: Element) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield attributes that are numbers, or could be, each with the parts that its value has."""
    if isinstance(thing, Body):
        shaped = any(not isinstance(part, Inertia) for part in thing.parts)
        yield from ((word, ()) for word in _OF_BODIES if shaped or word != "density")
        return
    words = dict.fromkeys(word for word in vars(thing) if not word.startswith("_"))
    for word in (*words, *(word for word in ("at", "on_parent", "on_child") if hasattr(type(thing), word))):
        value = getattr(thing, word)
        if word in _NO_NUMBERS or callable(value):
            continue
        if is_dataclass(value) and not isinstance(value, type):
            yield word, tuple(field.name for field in fields(value))
        elif value is None or _is_numeric(value):
            yield word, ()


def _is_numeric(value: Any) -> bool:
    """Whether a value is a number, or lists of numbers, in which None may stand for one."""
    if isinstance(value, list | tuple):
        return all(x is None or _is_numeric(x) for x in value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iuf"
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _read(thing: Any, word: str) -> Any:
    if isinstance(thing, Body) and word in ("mass", "com", "tensor"):
        return getattr(thing.inertia, word)
    return getattr(thing, word)


def _of_mass(body: Body, mass: Any) -> Inertia:
    """Return the inertia as if this mass had been given; of a given Inertia only the mass is another."""
    shapes = _shapes(body)
    if shapes:
        return _placed(body, inertia_of_shapes(f"body {body.name!r}", shapes, None, mass))
    return _other(body, mass=mass)


def _of_density(body: Body, density: Any) -> Inertia:
    return _placed(body, inertia_of_shapes(f"body {body.name!r}", _shapes(body), density))


def _other(body: Body, **parts: Any) -> Inertia:
    """Return the inertia of a body with another part."""
    own = {word: getattr(body.inertia, word) for word in ("mass", "com", "tensor", "unphysical")}
    return Inertia(**own | parts)


def _shapes(body: Body) -> list[Any]:
    return [part for part in body.parts if not isinstance(part, Inertia)]


def _placed(body: Body, inertia: Inertia) -> Inertia:
    return inertia.planar() if body.space == "plane" else inertia


_INERTIAS = {
    "mass": _of_mass,
    "density": _of_density,
    "com": lambda body, com: _other(body, com=com),
    "tensor": lambda body, tensor: _other(body, tensor=tensor),
}
