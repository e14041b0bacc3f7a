"""Variants of a mechanism, of one structure with different numbers, made ready to run in lanes.

What a run reads of a mechanism is a row of numbers (`RunPrograms.own_constants`). Mechanisms whose formulas
are the same share their programs, and are run together; those with other formulas, as one without damping
among damped ones, are a batch of their own. So each gives, to the last bit, what it would give alone.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np

from linkwork.dynamics.inertia_check import NOT_TINY, SHARES
from linkwork.dynamics.kernel import real_array
from linkwork.dynamics.native_program import is_simple, pattern
from linkwork.errors import LinkworkError
from linkwork.mechanism.body import Body
from linkwork.mechanism.inertia import sound_inertias
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.mechanism_check import check
from linkwork.mechanism.named_numbers import NumberName, find_number
from linkwork.mechanism.sampled_controller import Sampled
from linkwork.mechanism.varied_mechanism import (
    Unlike,
    assigned,
    check_lanes,
    copied,
    in_place_of_one,
    one_of,
    some_of,
)
from linkwork.model.compile import compile_now, compile_variants
from linkwork.model.model import Model
from linkwork.model.own_forces import is_unrolled
from linkwork.real_numbers import shown
from linkwork.recording.lazy_sequence import Each
from linkwork.simulation.options import GivenOptions
from linkwork.simulation.run_programs import RunPrograms
from linkwork.simulation.run_settings import RunSettings, setting
from linkwork.simulation.variant_groups import Alike, Variants
from linkwork.tree.load_formula import PlacedLoad, source_of
from linkwork.tree.tree import Tree
from linkwork.varied import Diverged, Varied, real_table, rows

Array = np.ndarray

_FEW = 4  # variants that are compiled one by one


@dataclass(frozen=True, eq=False)
class Described:
    """N mechanisms of one structure: as one whose numbers are N in place of one, and each as it is."""

    count: int
    whole: Callable[[], Mechanism]  # Unlike if they cannot be one
    models: Sequence[Model]  # (N,) each compiled, or error that says what is wrong
    names: Sequence[str]  # (N,) of the mechanisms


def varied(model: Model, vary: Any) -> Described:
    """Return a mechanism with other numbers: values (N, ...) by name, as "bob.mass"."""
    names, count = _named_values(model, vary)
    cut = model.cut

    def assign(mechanism: Mechanism, k: int) -> None:
        for name, values in names.items():
            try:
                name.assign(mechanism, _written(values[k]))
            except ValueError as error:
                raise ValueError(f"vary {name.text!r}, run {k}: {error}") from None
            except TypeError:
                wrong = shown(_written(values[k]))
                raise ValueError(
                    f"vary {name.text!r}, run {k}: {wrong}; give what {name.text} may be"
                ) from None

    def one(k: int) -> Model:
        mechanism = model.mechanism.copy()
        assign(mechanism, k)
        try:
            return compile_now(mechanism, model.form, cut, like=model)
        except LinkworkError as error:
            raise type(error)(f"vary, run {k}: {error}") from error

    def copy(k: int) -> Mechanism:
        mechanism = copied(model.mechanism)
        assign(mechanism, k)
        return mechanism

    def whole() -> Mechanism:
        made = copied(model.mechanism)
        try:
            for name, values in names.items():
                name.assign(made, in_place_of_one(values))
            check_lanes(made, names.values(), copy)
        except (Exception, Diverged):  # one by one it can be done, or is said what cannot
            elements = list(dict.fromkeys(name.element for name in names))
            return assigned(model.mechanism, elements, assign, count)
        return made

    return Described(count, whole, Each(count, one), [model.name] * count)


def _named_values(model: Model, vary: Any) -> tuple[dict[NumberName, Array], int]:
    """Return the values (N, ...) of each number that varies, and N; ValueError if they cannot be."""
    if not isinstance(vary, Mapping) or not vary:
        raise ValueError(f"vary {vary!r}; give arrays by name, {{'bob.mass': [1.0, 2.0]}}")
    if model.form == "specialized":
        raise ValueError(
            "vary: the model is specialised, its numbers are part of its code; give it as it was"
        )
    names = {find_number(model.mechanism, text): _values(text, x) for text, x in vary.items()}
    for name in names:
        if isinstance(model.mechanism[name.element] if name.element else None, Sampled):
            raise ValueError(
                f"vary {name.text!r}: a sampled controller is the same for all variants; let its law look at "
                "what differs, by memory= of a start, or run them one by one"
            )
    counts = {len(values) if values.ndim else -1: name.text for name, values in names.items()}
    if len(counts) > 1 or min(counts) < 1:
        said = ", ".join(
            f"{text!r} has {'one number' if n < 0 else f'{n} values'}" for n, text in counts.items()
        )
        raise ValueError(f"vary: {said}; give a list of one value per run, as many of each")
    (count,) = counts
    return names, count


def _values(text: str, given: Any) -> Array:
    """Return the values of a number, one per run along the first axis."""
    if isinstance(given, set | frozenset | Mapping):
        raise ValueError(f"vary {text!r} {shown(given)}; give a list of one value per run, in their order")
    values = real_array(f"vary {text!r}", given)
    if np.isnan(values).any():
        run = int(np.argwhere(np.isnan(values))[0][0]) if values.ndim else 0
        raise ValueError(f"vary {text!r}, run {run}: nan; give numbers")
    return values


def _written(value: Any) -> Any:
    """Return a number, a vector or a matrix as it is written down."""
    return value if np.ndim(value) > 1 else tuple(value.tolist()) if np.ndim(value) else float(value)


def variants_of(described: Described, words: GivenOptions) -> Variants:
    """Return the variants of a batch, sorted by what they can share."""
    settings = Each(described.count, lambda k: setting(described.models[k], words))
    found = _Sorted(settings, np.empty((described.count, described.models[0].nq)))
    everybody = np.arange(described.count)
    try:
        found.take(described.whole(), everybody)
    except Unlike:
        found.alone += everybody.tolist()
    found.take_alone()
    return Variants(found.alike, settings, described.models, found.q_drawn, described.names)


@dataclass(eq=False)
class _Sorted:
    """Variants, as far as they are sorted by what they can share."""

    settings: Sequence[RunSettings]  # (N,)
    q_drawn: Array  # (N, nq)
    alike: list[Alike] = field(default_factory=list)
    alone: list[int] = field(default_factory=list)  # those that are to be looked at one by one

    def take(self, mechanism: Mechanism, members: Array) -> None:
        """Take variants as one mechanism; those that go different ways apart from each other."""
        if len(members) < _FEW:
            self.alone += members.tolist()
            return
        groups: Sequence[Array] = ()
        try:
            group, self.q_drawn[members] = _at_once(mechanism, self.settings[int(members[0])], members)
            self.alike.append(group)
        except Diverged as error:
            groups = error.groups
        except Exception:  # whatever it is, it will be found again, and said of the one it is about
            self.alone += members.tolist()
        for some in groups:
            self.take(some_of(mechanism, some), members[some])

    def take_alone(self) -> None:
        """Take the others one by one."""
        groups: dict[Hashable, list[int]] = {}
        for k in sorted(self.alone):
            system = self.settings[k].system
            self.q_drawn[k] = system.model.q_drawn
            known = pattern(system.tables()["motion"]).tobytes() if is_unrolled(system.model) else b""
            groups.setdefault((_structure(system), known), []).append(k)
        for members in groups.values():
            constants = np.stack([self.settings[k].system.own_constants() for k in members])
            self.alike.append(Alike(self.settings[members[0]], np.array(members), constants))


def _at_once(mechanism: Mechanism, shared: RunSettings, members: Array) -> tuple[Alike, Array]:
    """Return what variants share, and how they are drawn, from all of them as one mechanism.

    Diverged if they go different ways; Unlike, or an error, if they cannot be taken together.
    """
    count, like = len(members), shared.system.model
    if shared.system.python_laws or shared.system.tree.contacts is not None:
        raise Unlike("laws that are called, or contacts")
    for body in mechanism.bodies.values():
        _check_inertia(body, count)
    real = one_of(mechanism, itemgetter(0))
    for corner in (np.min, np.max):  # what is asked of single numbers is to be finite, above or below some
        extreme = one_of(mechanism, corner)
        for name, body in extreme.bodies.items():  # whose numbers belong together
            vars(body)["_inertia"] = real.bodies[name].inertia
        check(extreme)
    model = compile_variants(mechanism, like)
    system = RunPrograms(model, shared.chosen.events, shared.chosen.restoring)
    if _structure(system) != _structure(shared.system):
        raise Unlike("other formulas")
    (shares,) = model.kernel_of(SHARES, form="rolled")(model.q_drawn)
    if not (rows(shares, count) > NOT_TINY).all():
        raise Unlike("inertia that is to be looked at one by one")
    tables = system.tables()
    if is_unrolled(like) and any(
        is_simple(x) != is_simple(y) for x, y in zip(tables["motion"], shared.system.tables()["motion"])
    ):
        raise Unlike("other code")
    own = np.concatenate([*tables.values(), system.scale(), *system.row_sizes()])
    return Alike(shared, members, rows(own, count), model), rows(model.q_drawn, count)


def _check_inertia(body: Body, count: int) -> None:
    """Refuse variants some of whose inertia no real body has: they are looked at one by one."""
    given = body.inertia
    numbers = [given.mass, *given.com.ravel(), *given.tensor.ravel()]
    if any(isinstance(x, Varied) for x in numbers):
        table = rows(real_table(numbers), count)
        size = len(given.com)
        if not sound_inertias(table[:, 0], table[:, 1 : 1 + size], table[:, 1 + size :]):
            raise Unlike("inertia that no real body has")


def _structure(system: RunPrograms) -> Hashable:
    """Return what mechanisms that share programs have in common: all but their numbers."""
    model, tree = system.model, system.tree
    return repr([_of_tree(tree), _of_tree(system.event_tree), _of_tree(model.link_tree)])


def _of_tree(tree: Tree) -> list[Any]:
    links = [(kind.signature) for kind in tree.kinds]
    shape: list[Any] = [links, tree.kind_numbers.tolist(), tree.parents.tolist(), tree.inputs]
    for loop in tree.loops:  # equations that are called have the numbers of one mechanism in them
        own = id(loop.formula) if loop.formula.called else None
        shape.append((loop.name, loop.ends, loop.root, loop.formula.signature, own))
    if tree.contacts is not None:  # shapes and frames of one mechanism are in them
        shape.append(id(tree.contacts))
    return shape + [_of_load(placed) for placed in tree.loads]


def _of_load(placed: PlacedLoad) -> Any:
    sides = [(side.link, side.q.start, side.v.start) for side in placed.sides]
    if placed.formula:
        return placed.name, sides, placed.formula.signature, [given.name for given in placed.inputs]
    # a law that is called has its numbers in it, and the frames that it sees are those of the model
    frames = [side.frame and [float(x) for x in side.frame.scalars()] for side in placed.sides]
    return placed.name, sides, frames, source_of(placed.load)
