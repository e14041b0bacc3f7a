"""LLVM text written in the order of its execution, for functions with loops and conditions of their own."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager


def number(x: float) -> str:
    """Return a double, exactly."""
    return "0x" + struct.pack(">d", x).hex().upper()


class Writer:
    """A function under way. Variables live in memory until the optimiser finds them."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._variables: list[str] = []
        self._count = 0

    def _name(self) -> str:
        self._count += 1
        return f"n{self._count}"

    # values

    def do(self, text: str) -> None:
        self._lines.append(f"  {text}")

    def value(self, text: str) -> str:
        name = f"%{self._name()}"
        self.do(f"{name} = {text}")
        return name

    def op(self, name: str, kind: str, *operands: str | int) -> str:
        """Return what an instruction makes of operands of one kind."""
        return self.value(f"{name} {kind} {', '.join(map(str, operands))}")

    def call(self, kind: str, name: str, *arguments: str) -> str:
        return self.value(f"call {kind} @{name}({', '.join(arguments)})")

    def sum(self, kind: str, *terms: str | int) -> str:
        total = str(terms[0])
        for term in terms[1:]:
            total = self.op("add", kind, total, term)
        return total

    def select(self, flag: str, condition: str, kind: str, a: str, b: str) -> str:
        return self.value(f"select {flag} {condition}, {kind} {a}, {kind} {b}")

    # memory

    def variable(self, kind: str, start: str) -> str:
        """Return a place of its own, that has the value `start` whenever the text comes by here."""
        name = f"%{self._name()}"
        self._variables.append(f"  {name} = alloca {kind}")
        self.store(kind, start, name)
        return name

    def load(self, kind: str, pointer: str) -> str:
        return self.value(f"load {kind}, ptr {pointer}, align 8")

    def store(self, kind: str, x: str, pointer: str) -> None:
        self.do(f"store {kind} {x}, ptr {pointer}, align 8")

    def at(self, kind: str, base: str, *indices: str | int) -> str:
        """Return the place of an element, its index a sum."""
        return self.value(f"getelementptr {kind}, ptr {base}, i64 {self.sum('i64', *indices)}")

    # control

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        name = self._name()
        self.do(f"br i1 {condition}, label %then_{name}, label %end_{name}")
        self._lines.append(f"then_{name}:")
        yield
        self.do(f"br label %end_{name}")
        self._lines.append(f"end_{name}:")

    @contextmanager
    def loop(self, first: str | int, end: str | int, step: int = 1) -> Iterator[tuple[str, str]]:
        """Yield the running index, and the label of the end of the loop."""
        name, counter = self._name(), self.variable("i64", str(first))
        self.do(f"br label %test_{name}")
        self._lines.append(f"test_{name}:")
        index = self.load("i64", counter)
        more = self.op("icmp slt", "i64", index, end)
        self.do(f"br i1 {more}, label %body_{name}, label %end_{name}")
        self._lines.append(f"body_{name}:")
        yield index, f"end_{name}"
        self.store("i64", self.op("add", "i64", index, step), counter)
        self.do(f"br label %test_{name}")
        self._lines.append(f"end_{name}:")

    def leave_unless(self, condition: str, label: str) -> None:
        """Go on if the condition is true, else to the end of a loop."""
        name = self._name()
        self.do(f"br i1 {condition}, label %go_{name}, label %{label}")
        self._lines.append(f"go_{name}:")

    def function(self, head: str) -> str:
        """Return the text of a function that returns nothing."""
        return "\n".join(
            [f"define {head} {{", "entry:", *self._variables, *self._lines, "  ret void", "}", ""]
        )
