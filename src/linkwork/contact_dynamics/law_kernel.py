"""A contact law as native code.

The law is run once on symbols, so that laws of one formula share their code. The kernel is

    void law(double* contact, double* numbers)

contact[0:5] are depth, rate, radius, size and mass; it leaves the force in contact[5], and its derivatives by
depth and rate in contact[6:8]. `numbers` are those of the materials, and constants of the law.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from linkwork.errors import ModelError, TraceError
from linkwork.mechanism.called_equations import REMEDY
from linkwork.native import emit, store
from linkwork.native.emit import Store
from linkwork.native.store import name_of
from linkwork.real_numbers import is_real
from linkwork.trace.differentiate import derivative
from linkwork.trace.expression import Expr, Graph
from linkwork.trace.graph_walks import reachable
from linkwork.tree.purity import TWO_FORMULAS, NotAFunction

QUANTITIES = ("depth", "rate", "radius", "size", "mass")  # of a contact
FORCE = len(QUANTITIES)  # where the results are
CONTACT_WORDS = FORCE + 3
REACH = "reach"

Law = Callable[..., Any]


@dataclass(frozen=True)
class LawKernel:
    """The kernel of a law, and what it is given."""

    signature: str  # equal for laws of one formula
    address: int  # of the kernel
    numbers: tuple[float, ...]
    reach: float  # how far apart bodies may be [m]
    needs_mass: bool


def law_kernel(where: str, law: Law, known: Mapping[str, float]) -> LawKernel:
    """Compile a law for materials whose numbers are `known`; ModelError says what is wrong with it."""
    values = _values(where, law, known)
    words = list(values)
    symbolic = [word for word in words if word not in QUANTITIES]
    trace = partial(_traced, law, words, {word: k for k, word in enumerate(symbolic)}, values)
    try:
        force = trace()
    except TraceError:
        trace = partial(_traced, law, words, {}, values)
        try:  # with the numbers themselves: it may ask how large they are
            force = trace()
        except TraceError as error:
            raise ModelError(
                f"{where}: its law cannot be traced: {error}; write it with lw.where, lw.sqrt and so on"
            ) from None
    except Exception as error:
        raise _raised(where, law, error) from error
    if isinstance(force, list | tuple) or not (isinstance(force, Expr) or is_real(force)):
        raise ModelError(f"{where}: its law gives {force!r}; return the normal force, a number")
    if _formula(force) != _formula(trace()):
        raise NotAFunction(f"{where}: its law is not a function of its arguments: {TWO_FORMULAS}; {REMEDY}")
    graph = force.graph if isinstance(force, Expr) else Graph()
    try:
        slopes = [derivative([force], {graph.symbol(("contact", k)): 1.0})[0] for k in (0, 1)]
    except ArithmeticError as error:
        raise _raised(where, law, error) from error
    results = (force, *slopes)
    return LawKernel(
        *_kernel([("contact", FORCE + k, x) for k, x in enumerate(results)]),
        tuple(values[word] for word in symbolic),
        float(values.get(REACH, 0.0)),
        any(
            x.op == "symbol" and x.args[0] == ("contact", QUANTITIES.index("mass"))
            for x in reachable([force])
        ),
    )


def _raised(where: str, law: Law, error: Exception) -> ModelError:
    said = f"its law {name_of_law(law)!r} raises {type(error).__name__}: {error}"
    return ModelError(f"{where}: {said}; look at what it divides by, and at its domain")


def name_of_law(law: Law) -> str:
    """Return what a law is called."""
    return getattr(law, "__name__", type(law).__name__)


def _values(where: str, law: Law, known: Mapping[str, float]) -> dict[str, float]:
    """Return the parameters of a law by name, with their numbers; those of the contact are NaN."""
    found = {}
    for word, parameter in inspect.signature(law).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ModelError(f"{where}: parameter {parameter} of its law; give parameters names")
        if word in QUANTITIES:
            found[word] = float("nan")
        elif known.get(word):
            found[word] = known[word]
        elif is_real(parameter.default):
            found[word] = float(parameter.default)
        elif parameter.default is not parameter.empty:
            raise ModelError(f"{where}: {word}={parameter.default!r} of its law; give a number")
        elif word in known:
            raise ModelError(
                f"{where}: its law takes {word!r}, which the materials do not have; give it to one of them"
            )
        else:
            there = ", ".join((*QUANTITIES, *known))
            raise ModelError(
                f"{where}: its law takes {word!r}; there are {there}, or give it a default value"
            )
    if not found.keys() & {"depth"}:
        raise ModelError(f"{where}: its law does not take the depth; give it a parameter depth")
    return found


def _traced(law: Law, words: Sequence[str], places: Mapping[str, int], values: Mapping[str, float]) -> Any:
    graph = Graph()
    given: dict[str, Any] = {}
    for word in words:
        if word in QUANTITIES:
            given[word] = graph.symbol(("contact", QUANTITIES.index(word)))
        else:
            given[word] = graph.symbol(("numbers", places[word])) if word in places else values[word]
    return law(**given)


def _formula(force: Any) -> str:
    """Return a text that is the same for the same formula."""
    return _text([("contact", FORCE, force)])


def _kernel(stores: Sequence[Store]) -> tuple[str, int]:
    """Return name and address of a kernel that computes these numbers."""
    text = _text(stores)
    name = store.digest("contact law", text)
    store.load(name, lambda: (emit.module(1, [f"define void @law_{name}{text}"]), {}))
    return name_of(text), store.address(f"law_{name}")


def _text(stores: Sequence[Store]) -> str:
    """Return what a kernel does, as LLVM text without its name."""
    body = emit.Body(1, (), "entry")
    body.write(stores)
    lines = "\n".join(body.lines)
    return f"(ptr %contact, ptr %numbers) {{\nentry:\n{lines}\n  ret void\n}}\n"
