"""Reads the scripts that `python_script` writes: calls of the package with literals, and formulas.

Nothing is run as code. A script is a tree of syntax, and only what such scripts consist of is followed:
names, attributes that are public, calls, literals, assignments; functions are read as formulas.
"""

import ast
from collections.abc import Sequence
from typing import Any

from linkwork.errors import FormatError
from linkwork.formats.formula_arguments import Argument
from linkwork.formats.formula_law import Law, law_of_text


def mechanism_of_script(text: str, functions: Sequence[Sequence[Argument]]) -> Any:
    """Return the mechanism `m` that a script builds; `functions` says what each of its functions is given."""
    import linkwork

    reader = _Reader(text, functions, {"lw": linkwork, "float": float})
    for statement in ast.parse(text).body:
        reader.follow(statement)
    return reader.names["m"]


class _Reader:
    def __init__(self, text: str, functions: Sequence[Sequence[Argument]], names: dict[str, Any]) -> None:
        self._text, self._functions, self.names = text, iter(functions), names

    def follow(self, statement: ast.stmt) -> None:
        """Do what a statement says."""
        match statement:
            case ast.Import() | ast.ImportFrom() | ast.If() | ast.Expr(value=ast.Constant()):
                pass  # the head, and what is done when the script is run
            case ast.Assign(targets=[ast.Name(id=name)], value=given):
                self.names[name] = self.value(given)
            case ast.Assign(targets=[ast.Attribute(value=owner, attr=word)], value=given):
                setattr(self.value(owner), _public(word), self.value(given))
            case ast.Expr(value=ast.Call() as call):
                self.value(call)
            case ast.FunctionDef(name=name, body=lines):
                self.names[name] = self._law([self._source(line) for line in lines])
            case _:
                raise FormatError(f"line {statement.lineno}: scripts of mechanisms have no such statement")

    def value(self, node: ast.expr) -> Any:
        """Return what an expression gives."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.Attribute(value=owner, attr=word):
                return getattr(self.value(owner), _public(word))
            case ast.Call(func=called, args=args, keywords=keywords):
                options = {each.arg or "": self.value(each.value) for each in keywords}
                return self.value(called)(*map(self.value, args), **options)
            case ast.List(elts=parts):
                return [self.value(part) for part in parts]
            case ast.Tuple(elts=parts):
                return tuple(self.value(part) for part in parts)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.value(operand)
            case ast.Lambda(body=body):
                return self._law(self._source(body))
        raise FormatError(f"line {node.lineno}: scripts of mechanisms have no such expression")

    def _source(self, node: ast.AST) -> str:
        return ast.get_source_segment(self._text, node) or ""

    def _law(self, text: str | list[str]) -> Law:
        return law_of_text(text, next(self._functions))


def _public(word: str) -> str:
    if word.startswith("_"):
        raise FormatError(f"{word}: scripts of mechanisms use what is public")
    return word
