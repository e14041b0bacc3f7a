"""A mechanism as a Python script that builds it again with the public interface, bit for bit.

What was written is read and compared before it is given away: what a script cannot say is refused by name.
"""

import inspect
import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from linkwork.errors import FormatError
from linkwork.formats.formula_arguments import Argument, Scalar, coordinates_of
from linkwork.formats.formula_law import Law, law_of_function
from linkwork.formats.mechanism_json import mechanism_text
from linkwork.geometry import Solid
from linkwork.mechanic.script_reader import mechanism_of_script
from linkwork.mechanism.body import Body
from linkwork.mechanism.contact import Contact
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.inertia import Inertia
from linkwork.mechanism.input import Input
from linkwork.mechanism.joint import ALGEBRA, Joint
from linkwork.mechanism.loads import Motor
from linkwork.mechanism.mechanism import GRAVITY, Mechanism

_WORDS = frozenset(  # of formulas, which the package has by the same names
    (
        "abs",
        "acos",
        "asin",
        "atan",
        "atan2",
        "cos",
        "cosh",
        "exp",
        "floor",
        "hypot",
        "log",
        "max",
        "min",
        "pow",
    )
) | {"sign", "sin", "sinh", "sqrt", "tan", "tanh", "where"}
_WIDE = 110  # letters in a line, if it can be


def script(mechanism: Mechanism) -> str:
    """Return a Python script that builds a mechanism; FormatError says what of it cannot be written."""
    made = _Script(mechanism)
    text = made.text()
    try:
        again = mechanism_text(mechanism_of_script(text, made.functions))
    except FormatError:
        raise
    except Exception as error:  # whatever the package says of what it is given
        raise FormatError(f"mechanism {mechanism.name!r} cannot be written as a script: {error}") from error
    if again != mechanism_text(mechanism):
        ours, theirs = (each.splitlines() for each in (mechanism_text(mechanism), again))
        where = next((a for a, b in zip(ours, theirs, strict=False) if a != b), "its length")
        raise FormatError(
            f"mechanism {mechanism.name!r} cannot be written as a script: {where.strip():.120} differs"
        )
    return text


class _Script:
    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._taken = {"lw", "m", *_WORDS, *keyword.kwlist}
        self._variables: dict[int, str] = {id(mechanism.ground): "m.ground"}
        self._used: set[str] = set()
        self.functions: list[Sequence[Argument]] = []  # what each function of the script is given

    def text(self) -> str:
        m = self._mechanism
        options = [repr(m.name)]
        if tuple(m.gravity) != GRAVITY[m.space]:
            options.append(f"gravity={literal(m.gravity)}")
        if m.space == "plane":
            options.append('space="plane"')
        body = [f"m = lw.Mechanism({', '.join(options)})"]
        body += self._ground(m.ground)
        for element in m.elements:
            body += self._element(element)
        head = ["import linkwork as lw"]
        if self._used:
            head.append(f"from linkwork import {', '.join(sorted(self._used))}")
        tail = ["", 'if __name__ == "__main__":', "    m.show()", ""]
        return "\n".join([f'"""{_docstring(m.name)}."""', "", *head, "", *body, *tail])

    def _ground(self, ground: Body) -> Iterator[str]:
        for word in ("visuals", "collisions"):
            if getattr(ground, word):
                yield f"m.ground.{word} = {self._value(list(getattr(ground, word)))}"
        if ground.color is not None:
            yield f"m.ground.color = {literal(ground.color)}"

    def _element(self, element: Any) -> Iterator[str]:
        """Yield the lines that add an element; what it is on is made before, if it is added later."""
        if id(element) in self._variables:
            yield f"m.add({self._variables[id(element)]})"
            return
        ends = (
            () if isinstance(element, Body) else element.bodies if isinstance(element, Joint) else element.on
        )
        for end in ends:
            if isinstance(end, Body | Joint) and id(end) not in self._variables:
                yield from self._made(end, "", "")
        yield from self._made(element, "m.add(", ")")

    def _made(self, element: Any, start: str, end: str) -> Iterator[str]:
        variable = self._variable(element.name)
        self._variables[id(element)] = variable
        if isinstance(element, Body):
            yield from self._body(variable, element, start, end)
            return
        call, before = self._call(element)
        yield from before
        yield _wrapped(f"{variable} = {start}{call[0]}(", call[1:], f"){end}")
        for word in ("effort", "speed") if isinstance(element, Joint) else ():
            if getattr(element, word) is not None:  # what a file of a robot says
                yield f"{variable}.{word} = {literal(getattr(element, word))}"

    def _body(self, variable: str, body: Body, start: str, end: str) -> list[str]:
        shapes = [part for part in body.parts if not isinstance(part, Inertia)]
        said = Body(body.name, *body.parts, **body.given).inertia
        fits = body.inertia in (said, said.planar() if body.space == "plane" else said)
        weighed = fits and not any(isinstance(part, Inertia) for part in body.parts)
        parts = [self._value(shape) for shape in shapes]
        if not shapes and (body.parts or not fits):
            parts = [literal(said if fits else body.inertia)]
        options = [f"{word}={literal(value)}" for word, value in body.given.items()] if weighed else []
        if shapes and not weighed:
            options = ["density=0.0"]
        if body.position.any():
            options.append(f"position={literal(body.position)}")
        if not np.array_equal(body.rotation, np.eye(len(body.rotation))):
            options.append(f"rotation={literal(body.rotation)}")
        plain = Body("plain")
        for word in ("visuals", "collisions", "material", "group", "mask", "color"):
            value = getattr(body, word)
            if value != getattr(plain, word):
                listed = isinstance(value, tuple) and word != "color"
                options.append(f"{word}={self._value(list(value) if listed else value)}")
        lines = [_wrapped(f"{variable} = {start}lw.Body(", [repr(body.name), *parts, *options], f"){end}")]
        if shapes and not weighed:
            lines.append(f"{variable}.inertia = {literal(said if fits else body.inertia)}")
        return lines

    def _call(self, element: Any) -> tuple[list[str], list[str]]:
        """Return the class and the arguments of an element, and lines that go before."""
        kind, before = type(element), list[str]()
        name = kind.__name__
        import linkwork

        if getattr(linkwork, name, None) is not kind:
            raise FormatError(
                f"{element.name!r}: {name} is a class of your own, which a script does not know"
            )
        parameters = dict(inspect.signature(kind.__init__).parameters)
        if isinstance(element, Joint):  # options of every joint may be handed on
            parameters = {**inspect.signature(Joint.__init__).parameters, **parameters}
        given = [f"lw.{name}", repr(element.name)]
        if isinstance(element, Driver):
            what = self._end(element.on[0])
            whole = element.component == 0
            given += [
                what if whole else f"({what}, {element.component!r})",
                self._law(element, "law", before),
            ]
            return given, before
        ends = iter(element.bodies if isinstance(element, Joint) else element.on)
        for word, parameter in list(parameters.items())[2:]:
            if parameter.kind is parameter.VAR_POSITIONAL:
                given += [self._end(end) for end in ends]
            elif parameter.kind is parameter.VAR_KEYWORD:
                continue
            elif parameter.kind is parameter.KEYWORD_ONLY or not self._is_end(element, word):
                value = getattr(element, word)
                if _same(value, parameter.default):
                    continue
                if isinstance(element, Motor) and isinstance(value, Input) and value.name == element.name:
                    continue
                text = self._law(element, word, before) if callable(value) else self._value(value)
                given.append(f"{word}={text}")
            elif (end := next(ends, None)) is not None:
                given.append(self._end(end))
        return given, before

    def _is_end(self, element: Any, word: str) -> bool:
        if isinstance(element, Joint):
            return word in ("parent", "child")
        if isinstance(element, Contact):
            return False
        return not hasattr(element, word) or (
            word in ("a", "b", "body", "joint", "of") and word not in vars(element)
        )

    def _end(self, end: Any) -> str:
        if isinstance(end, str):
            return repr(end)
        return self._variables[id(end)]

    def _law(self, element: Any, word: str, before: list[str]) -> str:
        law = getattr(element, word)
        if not callable(law):
            return self._value(law)
        if not isinstance(law, Law):
            names = ("t",) if isinstance(element, Driver) else type(element).laws[word]
            joint = next((end for end in element.on if isinstance(end, Joint)), None)
            joint = joint or self._mechanism.joints.get(str(element.on[0]))
            counts = {"q": joint.nq, "v": joint.nv} if joint is not None else {}
            law = law_of_function(
                law, [coordinates_of(n, counts[n]) if n in counts else Scalar(n) for n in names]
            )
        lines = law.lines
        self.functions.append(law.arguments)
        self._used |= {found for found in re.findall(r"\b([a-z]\w*)\(", " ".join(lines)) if found in _WORDS}
        if len(lines) == 1:
            return f"lambda {', '.join(law.names)}: {lines[0].removeprefix('return ')}"
        name = self._variable(f"{element.name} {word}")
        before += [f"def {name}({', '.join(law.names)}):", *(f"    {line}" for line in lines), ""]
        return name

    def _value(self, value: Any) -> str:
        if isinstance(value, Body | Joint):
            return self._variables[id(value)]
        if isinstance(value, list | tuple) and any(
            isinstance(each, Body | Solid | list | tuple) for each in value
        ):
            return f"[{', '.join(self._value(each) for each in value)}]"
        return literal(value)

    def _variable(self, name: str) -> str:
        """Return a name of Python for a name of the mechanism, that nothing else has."""
        base = re.sub(r"\W+", "_", name.lower(), flags=re.ASCII).strip("_") or "part"
        base = f"_{base}" if base[0].isdigit() else base
        found, k = base, 2
        while found in self._taken:
            found, k = f"{base}_{k}", k + 1
        self._taken.add(found)
        return found


def literal(value: Any) -> str:
    """Return a value as an expression of Python that gives it again."""
    if isinstance(value, bool | int | str | type(None)):
        return repr(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        return repr(number) if np.isfinite(number) else f'float("{number}")'
    if isinstance(value, np.integer):
        return repr(int(value))
    if isinstance(value, np.ndarray):
        return literal(value.tolist())
    if isinstance(value, tuple | list):
        inner = ", ".join(map(literal, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    for space, algebra in ALGEBRA.items():
        if isinstance(value, algebra.Frame):
            size = algebra.dimension
            rows = [
                [float(x) for x in value.scalars()][k * (size + 1) : (k + 1) * (size + 1)]
                for k in range(size)
            ]
            kind = "lw.Frame" if space == "space" else "lw.planar.Frame"
            return f"{kind}({literal([row[-1] for row in rows])}, {literal([row[:-1] for row in rows])})"
    if isinstance(value, Inertia):
        odd = ", unphysical=True" if value.unphysical else ""
        return f"lw.Inertia({literal(float(value.mass))}, {literal(value.com)}, {literal(value.tensor)}{odd})"
    if isinstance(value, Input):
        return f"lw.Input({value.name!r}, {literal(value.value)})"
    if is_dataclass(value) and not isinstance(value, type):
        return _dataclass(value)
    raise FormatError(f"{value!r:.80} cannot be written in a script; give numbers, shapes or formulas")


def _dataclass(value: Any) -> str:
    import linkwork

    name = type(value).__name__
    where = "lw" if hasattr(linkwork, name) else "lw.geometry"
    given = []
    for field in fields(value):
        own = getattr(value, field.name)
        if not field.init or _same(own, field.default) or _usual(value, field.name, own):
            continue
        given.append(f"{field.name}={literal(own)}")
    return f"{where}.{name}({', '.join(given)})"


def _usual(value: Any, word: str, own: Any) -> bool:
    """Return whether a shape is where shapes are that do not say it."""
    if not isinstance(value, Solid):
        return False
    return (word == "position" and not any(own)) or (word == "rotation" and np.array_equal(own, np.eye(3)))


def _same(value: Any, usual: Any) -> bool:
    if value is usual:
        return True
    try:
        return type(value) is type(usual) and bool(value == usual)
    except (ValueError, TypeError):
        return False


def _wrapped(start: str, arguments: Sequence[str], end: str) -> str:
    line = f"{start}{', '.join(arguments)}{end}"
    if len(line) <= _WIDE:
        return line
    inner = "".join(f"    {argument},\n" for argument in arguments)
    return f"{start}\n{inner}{end}"


def _docstring(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')
