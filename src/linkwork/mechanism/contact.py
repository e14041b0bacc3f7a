"""Contact: which bodies meet, and what their contact is like.

One `Contact` without `between` lets all bodies that have shapes meet each other and ground, but not those
that a joint joins, that their groups and masks keep apart, or that `without` names. A `Contact` with
`between` is about one pair, which meets even if it is joined; what it says goes before the other.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

from linkwork.errors import unknown
from linkwork.mechanism.body import Body
from linkwork.mechanism.body_skin import Collision, material_wanted
from linkwork.mechanism.journaled import Recorded
from linkwork.mechanism.material import Material
from linkwork.mechanism.names import name_text
from linkwork.mechanism.neighbours import Pair, joined_pairs, name_of, sorted_pair, welded_groups
from linkwork.real_numbers import shown
from linkwork.spelling import require

if TYPE_CHECKING:
    from linkwork.mechanism.mechanism import Mechanism

IMPACTS = ("newton", "poisson", "sequential")  # laws of impacts: see `contact_dynamics.solver.impact`


class Contact(Recorded):
    """Let bodies meet: all that have shapes, and ground; or only the two of `between`.

    `material` stands in place of what follows from the materials of the bodies, `law` in place of the law of
    that. `without` lists pairs that pass through each other. Bodies are given themselves or by name. `impact`
    is the law of impacts where several contacts are hit at once: "newton" for all of them together, "poisson"
    by impulses of compression, "sequential" for one after the other, as in Newton's cradle.
    """

    word: ClassVar[str] = "contact"

    def __init__(
        self,
        name: str,
        between: Iterable[Body | str] | None = None,
        *,
        material: Material | None = None,
        law: Callable[..., Any] | None = None,
        without: Iterable[Iterable[Body | str]] = (),
        impact: str = "newton",
    ) -> None:
        self._name = name_text(name, type(self).__name__)
        self.between = between
        self.material = material
        self.law = law
        self.without = without
        self.impact = impact

    @property
    def name(self) -> str:
        """The name, by which results refer to the contact."""
        return self._name

    @property
    def between(self) -> tuple[Body | str, Body | str] | None:
        """The two bodies that it is about; None: all."""
        return self._between

    @between.setter
    def between(self, between: Iterable[Body | str] | None) -> None:
        self._between = None if between is None else _pair(f"{self._where}: between", between)

    @property
    def without(self) -> tuple[tuple[Body | str, Body | str], ...]:
        """The pairs that pass through each other."""
        return self._without

    @without.setter
    def without(self, without: Iterable[Iterable[Body | str]]) -> None:
        require(f"{self._where}: without", without, list | tuple, "a list of pairs: [(a, b), ...]")
        if any(isinstance(pair, Body | str) for pair in without):
            raise TypeError(f"{self._where}: without {shown(without)}; give a list of pairs: [(a, b), ...]")
        self._without = tuple(_pair(f"{self._where}: without", pair) for pair in without)

    @property
    def material(self) -> Material | None:
        """What the contact is like, whatever the bodies are made of; None: as their materials say."""
        return self._material

    @material.setter
    def material(self, material: Material | None) -> None:
        require(f"{self._where}: material", material, Material | None, material_wanted(material))
        self._material = material

    @property
    def law(self) -> Callable[..., Any] | None:
        """A law of one's own; None: that of the material."""
        return self._law

    @law.setter
    def law(self, law: Callable[..., Any] | None) -> None:
        if law is not None and (not callable(law) or isinstance(law, type)):
            raise TypeError(f"{self._where}: law {shown(law)}; give a function, as lw.contact_laws.hertz")
        self._law = law

    @property
    def impact(self) -> str:
        """The law of impacts at several contacts."""
        return self._impact

    @impact.setter
    def impact(self, impact: str) -> None:
        if not isinstance(impact, str) or impact not in IMPACTS:
            raise ValueError(f"{self._where}: {unknown('impact', impact, IMPACTS)}")
        self._impact = impact

    @property
    def on(self) -> tuple[Body | str, ...]:
        """The bodies that it names."""
        return (*(self.between or ()), *(body for pair in self.without for body in pair))

    def settle(self, space: str) -> None:
        """Be in a mechanism: contact is the same in the plane and in space."""

    def mistakes(self) -> list[str]:
        """List what is wrong with its options, in words."""
        found = []
        if self.between is not None and self.without:
            found.append("between= and without= together; without= is for a contact of all bodies")
        for a, b in (*((self.between,) if self.between else ()), *self.without):
            if name_of(a) == name_of(b):
                found.append(f"{name_of(a)!r} with itself; give two bodies")
        return found

    @property
    def _where(self) -> str:
        return f"contact {self.name!r}"

    def __repr__(self) -> str:
        pair = "" if self.between is None else f", between={tuple(map(name_of, self.between))}"
        return f"{type(self).__name__}({self.name!r}{pair})"


def _pair(where: str, given: Any) -> tuple[Body | str, Body | str]:
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise TypeError(f"{where} {shown(given)}; give two bodies, or their names")
    for body in given:
        require(where, body, Body | str, "bodies, or their names")
    return given[0], given[1]


# who meets whom


def contact_of_all(mechanism: "Mechanism") -> Contact | None:
    """Return the contact that is about all bodies."""
    return next((contact for contact in mechanism.contacts.values() if contact.between is None), None)


def contacts_of_pairs(mechanism: "Mechanism") -> dict[Pair, Contact]:
    """Return the contacts that are about one pair."""
    return {sorted_pair(x.between): x for x in mechanism.contacts.values() if x.between is not None}


def impact_law(mechanism: "Mechanism") -> str:
    """Return the law of impacts: that of the contact of all bodies, or of the first that names another."""
    whole = contact_of_all(mechanism)
    named = (contact.impact for contact in mechanism.contacts.values() if contact.impact != IMPACTS[0])
    return whole.impact if whole is not None else next(named, IMPACTS[0])


def excluded_pairs(mechanism: "Mechanism", groups: list[list[Body]] | None = None) -> set[Pair]:
    """Return the pairs that do not meet unless a contact is about them: joined ones, and those left out.

    `groups` are its welded groups, if they are known.
    """
    whole = contact_of_all(mechanism)
    without = {sorted_pair(pair) for pair in whole.without} if whole else set()
    return (joined_pairs(mechanism, groups) | without) - contacts_of_pairs(mechanism).keys()


def materials_of(body: Body) -> list[Material]:
    """Return the material of each shape by which a body is touched."""
    own = (shape.material if isinstance(shape, Collision) else None for shape in body.touched_by)
    return [material or body.material for material in own]


# what may be wrong


def contact_mistakes(contact: Contact, mechanism: "Mechanism") -> Iterator[str]:
    """Yield what is wrong with a contact in its mechanism."""
    bodies = {mechanism.ground.name: mechanism.ground, **mechanism.bodies}
    for body in contact.on:
        if name_of(body) not in bodies:
            yield unknown("body", name_of(body), bodies)
        elif isinstance(body, Body) and bodies[body.name] is not body:
            yield f"body {body.name!r} is not in this mechanism; add(...) the body"
    yield from contact.mistakes()
    for other in mechanism.contacts.values():
        if other is contact:
            break
        if contact.between is None and other.between is None:
            yield f"contact {other.name!r} is about all bodies already; give between=, or remove one of them"
        elif contact.between and other.between and sorted_pair(contact.between) == sorted_pair(other.between):
            yield f"contact {other.name!r} is about the same pair; remove one of them"
    met = list(bodies.values())
    if contact.between is not None:
        met = [bodies[name] for x in contact.between if (name := name_of(x)) in bodies]
        yield from _pair_mistakes(met)
    if contact.material is None:
        yield from _compliance_mistakes(met)


def _compliance_mistakes(bodies: Iterable[Body]) -> Iterator[str]:
    """Yield what cannot be combined: a stiffness with a modulus of elasticity."""
    owners: dict[str, str] = {}
    for body in bodies:
        for material in materials_of(body):
            if material.stiffness is not None:
                owners["stiffness"] = body.name
            if material.young is not None:
                owners["young"] = body.name
    if len(owners) == 2:
        yield (
            f"the material of {owners['stiffness']!r} has a stiffness, that of {owners['young']!r} a modulus "
            "of elasticity, which do not combine; give both the same kind, or this contact a material="
        )


def _pair_mistakes(pair: list[Body]) -> Iterator[str]:
    for body in pair:
        if not body.touched_by:
            yield f"body {body.name!r} has no shape that can be touched; give it one, or collisions="
    if len(pair) == 2 and not may_meet(*pair):
        a, b = pair
        yield (
            f"group {a.group} and mask {a.mask} of {a.name!r} keep it apart from {b.name!r} with group "
            f"{b.group} and mask {b.mask}; change them, or remove the contact"
        )


def may_meet(a: Body, b: Body) -> bool:
    """Return whether the groups and masks of two bodies let them meet."""
    return bool(a.group & b.mask) and bool(b.group & a.mask)


def contact_cautions(contact: Contact, mechanism: "Mechanism") -> Iterator[str]:
    """Yield what is probably not meant: nothing can touch, or a law bounces by itself."""
    if contact.law is not None:
        if contact.material is not None and contact.material.restitution:
            yield (
                f"restitution {contact.material.restitution} has no effect with law=, which decides how "
                "bodies bounce; drop one of them"
            )
        if contact.impact != IMPACTS[0] and all(other.law for other in mechanism.contacts.values()):
            yield f"impact {contact.impact!r} has no effect with law=: rigid contacts have impacts; drop one"
    if contact.between is None and not contact.name.startswith("/"):  # that of a scene waits for others
        fixed = set(welded_groups(mechanism)[0])
        touched = [b for b in (mechanism.ground, *mechanism.bodies.values()) if b.touched_by]
        if len(touched) < 2 or fixed.issuperset(touched):
            yield "nothing can touch: fewer than two bodies that move and have shapes; give them shapes"
        elif pair := _all_joined(touched, mechanism):
            a, b = pair
            yield (
                "nothing can touch: all bodies that have shapes are joined to each other, and what a joint "
                f"joins does not meet; add lw.Contact(..., between=({a!r}, {b!r})) if these are to"
            )
        elif lonely := _lonely(touched):
            first, many = lonely[0], f", and {len(lonely) - 1} more" if len(lonely) > 1 else ""
            yield (
                f"body {first.name!r}{many} collides with nothing: group {first.group} and mask {first.mask} "
                "keep it apart from all others; give it a group that is in their masks, or collisions=() "
                "if that is meant"
            )


def _all_joined(bodies: list[Body], mechanism: "Mechanism") -> Pair | None:
    """Return a pair of bodies, if joints join every pair and no contact is about one."""
    count = len(bodies)
    if count * (count - 1) > 4 * len(mechanism.joints) or contacts_of_pairs(mechanism):
        return None
    pairs = [sorted_pair(pair) for pair in combinations(bodies, 2)]
    joined = joined_pairs(mechanism)
    return next((pair for pair in pairs if pair in joined), None) if joined.issuperset(pairs) else None


def _lonely(bodies: list[Body]) -> list[Body]:
    """Return the bodies that groups and masks keep apart from all others."""
    kinds = Counter((body.group, body.mask) for body in bodies)

    def meets(body: Body) -> bool:
        own = body.group, body.mask
        others = (kind for kind, count in kinds.items() if count > (kind == own))
        return any(body.group & mask and group & body.mask for group, mask in others)

    return [body for body in bodies if not meets(body)]


def touched_bodies(contact: Contact, mechanism: "Mechanism") -> tuple[Body, ...]:
    """Return the bodies that a contact may act on."""
    if contact.between is None:
        return tuple(body for body in mechanism.bodies.values() if body.touched_by)
    bodies: Mapping[str, Body] = mechanism.bodies
    return tuple(bodies[name] for x in contact.between if (name := name_of(x)) in bodies)
