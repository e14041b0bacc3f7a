"""Untrusted XML, read into a small tree that knows its lines and parses numbers strictly."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from linkwork.errors import FormatError
from linkwork.formats.regular_file import read_bytes

# A robot of 5,000 links has 3 MB and 120,000 tags; what lies within these bounds takes a second and 256 MB.
MAX_BYTES = 16_000_000
MAX_TAGS = 200_000
MAX_PIECE = 1_000_000  # characters from one "<" to the next
MAX_DEPTH = 100
MAX_NESTED = 500  # where bodies lie within bodies; MuJoCo's own parser has this bound
STEPS_SHOWN = 12
SHOWN = 60  # characters of a text from the file in a message
LARGEST = 1e15  # no length, mass or moment of a mechanism in SI units comes near; products still stay finite

# What Python's float() takes and a file must not: nan, inf, 1_0, digits that are not ASCII.
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DECLARED = re.compile(rb"\s*<\?xml[^>]{0,200}\sencoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")
_ENCODINGS = {"iso-8859-1": "latin-1", "latin1": "latin-1", "windows-1252": "cp1252"}


@dataclass(eq=False, slots=True)
class Element:
    """An element of an XML file; every mistake found in it is raised by its `error`."""

    file: Path
    line: int
    tag: str
    attributes: dict[str, str]
    parent: "Element | None"
    children: "list[Element]" = field(default_factory=list)
    content: str = ""  # the text inside, if the file is read with its texts

    @property
    def path(self) -> str:
        """The way from the root: robot 'r2'/link 'arm'/inertial/mass."""
        steps = []
        step: Element | None = self
        while step is not None:
            name = step.attributes.get("name")
            tag = step.tag[:SHOWN]
            steps.append(tag if name is None else f"{tag} {shorten(name)}")
            step = step.parent
        steps.reverse()
        if len(steps) > STEPS_SHOWN:
            steps[3:-6] = ["..."]
        return "/".join(steps)

    @property
    def place(self) -> str:
        """File, line and element."""
        return f"{self.file}:{self.line}: {self.path}"

    def error(self, message: str) -> FormatError:
        """Return the error that says what is wrong here: file, line, element, message."""
        return FormatError(f"{self.place}: {message}")

    def each(self, tag: str) -> Iterator["Element"]:
        """Iterate over the children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def one(self, tag: str) -> "Element | None":
        """Return the only child with this tag, or None."""
        found = list(self.each(tag))
        if len(found) > 1:
            raise found[1].error(f"a second <{tag}> (the first is on line {found[0].line}); keep one")
        return found[0] if found else None

    def need(self, tag: str) -> "Element":
        """Return the only child with this tag."""
        child = self.one(tag)
        if child is None:
            raise self.error(f"<{tag}> is missing; add one")
        return child

    def text(self, attribute: str) -> str:
        """Return an attribute that must be there and not be empty."""
        value = self.attributes.get(attribute)
        if value is None:
            raise self.error(f'attribute {attribute!r} is missing; add {attribute}="..."')
        if not value:
            raise self.error(f'{attribute}="" is empty; allowed is any text but none')
        return value

    def number(self, attribute: str, default: float | None = None, largest: float = LARGEST) -> float:
        """Return one finite number."""
        if default is not None and attribute not in self.attributes:
            return default
        return self._number(attribute, self._plain(attribute).strip(), largest)

    def positive(self, attribute: str, default: float | None = None) -> float:
        """Return one finite number that is not negative."""
        value = self.number(attribute, default)
        if value < 0.0:
            raise self.error(f"{attribute}={value:g} is negative; allowed is 0 to {LARGEST:g}")
        return value

    def numbers(
        self, attribute: str, count: int, default: Iterable[float] | None = None
    ) -> tuple[float, ...]:
        """Return this many finite numbers, separated by spaces."""
        if default is not None and attribute not in self.attributes:
            return tuple(default)
        words = self._plain(attribute).split()
        if len(words) != count:
            value = shorten(self.attributes[attribute])
            raise self.error(
                f"{attribute}={value} has {len(words)} numbers; give {count}, separated by spaces"
            )
        return tuple(self._number(attribute, word, LARGEST) for word in words)

    def _plain(self, attribute: str) -> str:
        """Return the text of numbers, in which nothing is left for xacro to put in."""
        text = self.text(attribute)
        if "${" in text or "$(" in text:
            raise self.error(f"{attribute}={shorten(text)} is not a number yet; run xacro on the file first")
        return text

    def _number(self, attribute: str, word: str, largest: float) -> float:
        if not NUMBER.fullmatch(word):
            raise self.error(
                f"{attribute}={shorten(self.attributes[attribute])}: {shorten(word)} is not a number; "
                "write it like 0.5 or -1e-3"
            )
        value = float(word)
        if not math.isfinite(value) or abs(value) > largest:
            raise self.error(
                f"{attribute}={shorten(word)} is too large; allowed is -{largest:g} to {largest:g}"
            )
        return value


def parse(
    path: Path,
    *,
    texts: bool = False,
    most: int = MAX_BYTES,
    declared: bool = True,
    deepest: int = MAX_DEPTH,
) -> Element:
    """Read an XML file and return its root; entities, unusual encodings and deep nesting are refused.

    Elements have their texts, which may be long, if `texts`. The encoding may be the one `declared`.
    """
    data = read_bytes(path, most, "and no robot needs them: keep meshes in files of their own")
    return parse_text(path, data, texts, declared, deepest)


def parse_text(
    path: Path, data: bytes, texts: bool = False, declared: bool = True, deepest: int = MAX_DEPTH
) -> Element:
    """Return the root of an XML text, which comes from a file; zeros behind its end are nothing."""
    data = data.rstrip(b"\0")
    said = _DECLARED.match(data) if declared else None
    name = said[1].decode().lower() if said else "utf-8"
    encoding = _ENCODINGS.get(name, "utf-8-sig")
    if said and name not in _ENCODINGS and name not in ("utf-8", "utf8", "us-ascii", "ascii"):
        raise FormatError(f"{path}:1: encoding={name!r} is not read; save the file as UTF-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        value, name = data[problem.start], encoding.removesuffix("-sig").upper()
        raise FormatError(
            f"{path}:{line}: byte 0x{value:02x} is not {name}; save the file as UTF-8"
        ) from None
    for declaration in ("<!DOCTYPE", "<!ENTITY"):
        if (at := text.find(declaration)) >= 0:
            line = text.count("\n", 0, at) + 1
            raise FormatError(
                f"{path}:{line}: {declaration} is not allowed, entities can hide anything; remove it"
            )
    if (tags := text.count("<")) > MAX_TAGS:
        raise FormatError(f"{path}:1: {tags} tags; allowed are {MAX_TAGS}")
    line = 1
    for piece in () if texts else text.split("<"):
        if len(piece) > MAX_PIECE:
            raise FormatError(
                f"{path}:{line}: {len(piece)} characters in one tag or text; allowed are {MAX_PIECE}"
            )
        line += piece.count("\n")
    return _tree(path, text, texts, deepest)


def _tree(path: Path, text: str, texts: bool, deepest: int) -> Element:
    stack: list[Element] = []
    pieces: list[list[str]] = []  # of the texts of those
    roots: list[Element] = []
    parser = expat.ParserCreate("utf-8")  # of the text; the declared encoding was used

    def start(tag: str, attributes: dict[str, str]) -> None:
        parent = stack[-1] if stack else None
        element = Element(path, parser.CurrentLineNumber, tag, attributes, parent)
        if len(stack) == deepest:
            raise FormatError(
                f"{path}:{element.line}: elements nested more than {deepest} deep; no robot needs them"
            )
        (roots if parent is None else parent.children).append(element)
        stack.append(element)
        pieces.append([])

    def add(words: str) -> None:
        if not words.isspace():
            pieces[-1].append(words)

    def end(_: str) -> None:
        element, words = stack.pop(), pieces.pop()
        element.content = "".join(words) if len(words) != 1 else words[0]

    if texts:
        parser.buffer_text, parser.buffer_size = True, 1 << 20
        parser.CharacterDataHandler = add
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, UnicodeEncodeError) as problem:
        line = parser.CurrentLineNumber
        raise FormatError(f"{path}:{line}: not well-formed XML: {problem}; correct it there") from None
    return roots[0]


def shorten(text: str) -> str:
    """Quote a text from a file, cut to a readable length."""
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")
