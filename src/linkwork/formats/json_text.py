"""JSON as people like to read it, always the same for the same content; and read strictly, with paths."""

import json
import math
from dataclasses import dataclass
from typing import Any, NoReturn

from linkwork.errors import FormatError, unknown

WIDTH = 110  # columns that a line may have
LARGEST = 100_000_000  # bytes of a file
MEMORY = 160_000_000  # bytes that its values may take
_SHOWN = 60  # characters of a value in a message


# writing


def number_text(x: float) -> str:
    """Return the shortest text that is read back as the same number."""
    text = repr(float(x))
    return text.removesuffix(".0") if text != "-0.0" else text


def json_text(value: Any) -> str:
    """Return plain values as JSON: what fits stands on one line, keys are in the order given."""
    return _laid_out(value, 0, 0) + "\n"


def _laid_out(value: Any, indent: int, used: int) -> str:
    """Return a value that starts `used` columns after its indent."""
    line = _one_line(value)
    if indent + used + len(line) < WIDTH or not value or not isinstance(value, dict | list):
        return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        heads = [f"{json.dumps(key, ensure_ascii=False)}: " for key in value]
        parts = [
            head + _laid_out(item, indent + 2, len(head) + 1)
            for head, item in zip(heads, value.values(), strict=True)
        ]
        brackets = "{}"
    else:
        parts = [_laid_out(item, indent + 2, 1) for item in value]
        brackets = "[]"
    body = f",\n{inner}".join(parts)
    return f"{brackets[0]}\n{inner}{body}\n{' ' * indent}{brackets[1]}"


def _one_line(value: Any) -> str:
    if isinstance(value, dict):
        parts = (f"{json.dumps(key, ensure_ascii=False)}: {_one_line(x)}" for key, x in value.items())
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_one_line, value))}]"
    if isinstance(value, float):
        return number_text(value)
    return json.dumps(value, ensure_ascii=False)


# reading


@dataclass(frozen=True)
class _Pairs:
    """An object as it stands in the file, keys that come twice among them."""

    pairs: list[tuple[str, Any]]


@dataclass(frozen=True)
class _NotFinite:
    """A number that is none, or beyond the range of doubles."""

    text: str


@dataclass(frozen=True)
class JsonValue:
    """A value of a file, and where it is: $.bodies[2].mass."""

    file: str
    path: str
    value: Any

    def refuse(self, problem: str) -> NoReturn:
        raise FormatError(f"{self.file}: {self.path}: {problem}")

    def wanted(self, what: str) -> NoReturn:
        """Refuse the value, and say what is allowed."""
        self.refuse(f"{self._shown()}; give {what}")

    def _shown(self) -> str:
        value = self.value
        if isinstance(value, _Pairs):
            return "an object"
        if isinstance(value, _NotFinite):
            return f"the number {value.text[:_SHOWN]}"
        return json.dumps(value, default=lambda _: "...")[:_SHOWN]

    # kinds of values

    def fields(self, needed: tuple[str, ...] = (), optional: tuple[str, ...] = ()) -> dict[str, "JsonValue"]:
        """Return the members of an object that has these keys and no other."""
        members = self.members()
        for key, entry in members.items():
            if key not in needed and key not in optional:
                entry.refuse(unknown("key", key[:_SHOWN], (*needed, *optional)))
        for key in needed:
            if key not in members:
                given = ", ".join(map(repr, members)) or "nothing"
                self.refuse(f"{key!r} is missing; it is needed beside {given[:_SHOWN]}")
        return members

    def holds(self, key: str) -> bool:
        """Return whether it, or an item of it, is an object with this key."""
        several = self.value if isinstance(self.value, list) else [self.value]
        return any(isinstance(x, _Pairs) and any(name == key for name, _ in x.pairs) for x in several)

    def members(self) -> dict[str, "JsonValue"]:
        """Return the members of an object, whatever their keys; none comes twice."""
        if not isinstance(self.value, _Pairs):
            self.wanted("an object {...}")
        found: dict[str, JsonValue] = {}
        for key, value in self.value.pairs:
            path = f"{self.path}.{key}" if key.isidentifier() else f"{self.path}[{json.dumps(key[:_SHOWN])}]"
            entry = JsonValue(self.file, path, value)
            if key in found:
                entry.refuse("the key is given twice; keep one of them")
            found[key] = entry
        return found

    def without(self, key: str) -> "tuple[JsonValue | None, JsonValue]":
        """Return a member of an object, None if it has none of this key, and the object without it."""
        if not isinstance(self.value, _Pairs):
            return None, self
        found = self.members().get(key)
        rest = [pair for pair in self.value.pairs if pair[0] != key]
        return found, JsonValue(self.file, self.path, _Pairs(rest))

    def items(self) -> list["JsonValue"]:
        if not isinstance(self.value, list):
            self.wanted("a list [...]")
        return [JsonValue(self.file, f"{self.path}[{k}]", value) for k, value in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.wanted("a text")
        if any(0xD800 <= ord(c) < 0xE000 for c in self.value):
            self.refuse("the text has half a surrogate pair; give whole characters")
        return self.value

    def one_of(self, *words: Any) -> Any:
        if type(self.value) is not type(words[0]) or self.value not in words:
            self.wanted(" or ".join(json.dumps(word) for word in words))
        return self.value

    def number(self) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.wanted("a finite number")
        return float(self.value)

    def numbers(self, *counts: int) -> list[float]:
        """Return a list of `counts` numbers; of any number of them without."""
        value = self.value
        if (
            isinstance(value, list)
            and (not counts or len(value) in counts)
            and set(map(type, value)) == {float}
        ):
            return list(value)
        items = self.items()  # what is wrong needs its place in the file
        if counts and len(items) not in counts:
            self.wanted(f"{' or '.join(map(str, counts))} numbers")
        return [item.number() for item in items]

    def matrix(self, rows: int, columns: int) -> list[list[float]]:
        items = self.items()
        if len(items) != rows:
            self.wanted(f"{rows} rows of {columns} numbers")
        return [item.numbers(columns) for item in items]

    def number_or_numbers(self) -> Any:
        """Return a number, a list of numbers, a list of lists, ..."""
        if isinstance(self.value, list):
            return tuple(item.number_or_numbers() for item in self.items())
        return self.number()


def too_much(text: bytes | memoryview, most: float = MEMORY) -> str:
    """Say that values of a JSON text would take too much memory, before any is made; nothing if they fit.

    Measured: 40 bytes for a number in a list, 90 for a list, 400 for an object with a key, besides the text.
    """
    count = bytes(text).count
    commas, lists, objects = count(b","), count(b"["), count(b"{")
    if 2.0 * len(text) + 40.0 * commas + 90.0 * lists + 400.0 * objects <= most:
        return ""
    return f"{commas + lists + objects} values in {len(text)} bytes; they would take over {most / 1e6:g} MB"


def read_json(text: bytes, file: str, largest: int | None = None) -> JsonValue:
    """Return the content of a JSON file; FormatError if it is none."""
    most = largest or LARGEST
    if len(text) > most:
        raise FormatError(f"{file}: has {len(text)} bytes; allowed are {most}, or more by largest=")
    if problem := too_much(text, MEMORY * most / LARGEST):
        raise FormatError(f"{file}: {problem}; give larger ones by largest=, or meshes as files beside it")
    try:
        value = json.loads(
            text.decode("utf-8-sig"),
            object_pairs_hook=_Pairs,
            parse_constant=_NotFinite,
            parse_float=_float,
            parse_int=_float,
        )
    except UnicodeDecodeError as error:
        raise FormatError(f"{file}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        raise FormatError(f"{file}:{error.lineno}:{error.colno}: no JSON: {error.msg}") from None
    except RecursionError:
        raise FormatError(f"{file}: lists or objects are nested too deeply; a mechanism is flat") from None
    return JsonValue(file, "$", value)


def _float(text: str) -> Any:
    value = float(text)
    return value if math.isfinite(value) else _NotFinite(text)
