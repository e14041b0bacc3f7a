"""Functions that can go into files, and come from there: a formula and what it is given."""

from collections.abc import Callable, Sequence
from typing import Any

from linkwork.errors import FormatError, LinkworkError
from linkwork.formats.formula import Formula, Sheet, recorded
from linkwork.formats.formula_arguments import Argument
from linkwork.formats.formula_parser import FormulaWords, read_formula
from linkwork.formats.formula_text import formula_lines
from linkwork.formats.formula_tokens import BadFormula
from linkwork.mechanism.input import reading

_ASKED, _ASKED_AGAIN = 100, 5  # times that a function is asked whose formula is a constant, or not


class Law:
    """A function that came from a file, or can go into one: called like the function it was."""

    def __init__(self, formula: Formula, arguments: Sequence[Argument]) -> None:
        self.formula, self.arguments = formula, tuple(arguments)

    def __call__(self, *values: Any) -> Any:
        return self.formula.run(dict(zip(self.names, values, strict=True)))

    @property
    def names(self) -> list[str]:
        return [argument.name for argument in self.arguments]

    @property
    def text(self) -> str | list[str]:
        """The formula, as it stands in a file."""
        lines = self.lines
        return lines[0].removeprefix("return ") if len(lines) == 1 and not self.formula.actions else lines

    @property
    def lines(self) -> list[str]:
        """The formula in lines, of which the last returns what it returns."""
        return formula_lines(self.formula, self.names)

    def __repr__(self) -> str:
        return f"Law({', '.join(self.names)}: {self.text})"

    def __copy__(self) -> "Law":
        return self

    def __deepcopy__(self, memo: Any) -> "Law":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return law_of_text, (self.text, self.arguments)


def law_of_text(text: str | Sequence[str], arguments: Sequence[Argument]) -> Law:
    """Return the law that a text says; BadFormula if it says none."""
    return Law(read_formula(text, _vocabulary(arguments)), arguments)


def law_of_function(function: Callable[..., Any], arguments: Sequence[Argument]) -> Law:
    """Return a function as a law; FormatError says why it cannot be one."""
    if isinstance(function, Law) and function.arguments == tuple(arguments):
        return function
    law = Law(_formula(function, arguments), arguments)
    for _ in range(_ASKED_AGAIN if law.formula.varies else _ASKED):
        if Law(_formula(function, arguments), arguments).text != law.text:
            raise FormatError(
                "it gives another formula when it is asked again (it draws random numbers, or counts its "
                "calls), and a file keeps one"
            )
    try:
        law_of_text(law.text, arguments)
    except BadFormula as error:
        raise FormatError(f"its formula cannot be written: {error}") from None
    return law


def _formula(function: Callable[..., Any], arguments: Sequence[Argument]) -> Formula:
    sheet = Sheet()
    try:
        with reading(lambda given: sheet.node("input", given.name, given.value)):
            return recorded(sheet, function(*(argument.recorded(sheet) for argument in arguments)))
    except LinkworkError as error:
        raise FormatError(str(error)) from error
    except Exception as error:  # whatever a function does on symbols that it would not do on numbers
        raise FormatError(f"on symbols it raised {type(error).__name__}: {error}") from error


def _vocabulary(arguments: Sequence[Argument]) -> FormulaWords:
    parts = [argument.words() for argument in arguments]
    return FormulaWords(
        {path: kind for part in parts for path, kind in part.symbols.items()},
        {key: size for part in parts for key, size in part.methods.items()},
        {key: size for part in parts for key, size in part.verbs.items()},
        {joint: size for part in parts for joint, size in part.joints.items()},
    )
