"""Wrong values of materials and contacts."""

import functools
import random
from collections.abc import Iterable
from typing import Any

from refusals import BALL, NO_NUMBERS, Entry, changed, each, refused, right, warned

import linkwork

lw: Any = linkwork  # types are wrong here on purpose


def balls(*contacts: Any, **options: Any) -> Any:
    """Return the model of two balls over a floor."""
    m = lw.Mechanism("balls")
    for name, x in (("a", 0.0), ("b", 2.0)):
        m.add(lw.Body(name, BALL, mass=1.0, position=(x, 0, 1), **options))
    m.ground.add(lw.Plane())
    for contact in contacts:
        m.add(contact)
    return m.compile()


def materials() -> Iterable[Entry]:
    numbers = [x for x in NO_NUMBERS if x is not None]
    for word in ("friction", "restitution", "rolling", "torsional", "poisson"):
        yield from each("Material", word, [*NO_NUMBERS, -1.5], lambda x, w=word: lw.Material(**{w: x}), word)
    for word in ("static_friction", "stiffness", "young", "damping", "dissipation"):
        more = {"stiffness": 1e5} if word in ("damping", "dissipation") else {}
        yield from each(
            "Material", word, [*numbers, -1.0], lambda x, w=word, m=more: lw.Material(**m, **{w: x}), word
        )
    yield refused("Material", "positional", lambda: lw.Material(0.5), "Material")
    yield refused("Material", "frction=", lambda: lw.Material(frction=0.5), "frction", "'friction'")
    yield refused("Material", "mu=", lambda: lw.Material(mu=0.5), "mu")
    yield refused("Material", "assigned", lambda: changed(lw.Material(), "friction", 1.0), "friction")
    yield refused("Material", "rigid damping", lambda: lw.Material(damping=1.0), "damping 1.0", "stiffness=")
    yield refused("Material", "Steel", lambda: lw.Material.Steel, "Steel")
    yield right("Material", "steel", lambda: lw.Body("b", material=lw.Material.steel).material.friction > 0)
    for name, make in (("Body", lambda x: lw.Body("b", material=x)), ("Contact", _contact_of)):
        yield from each(name, "material", (0.5, "steel", lw.Material, {"friction": 1}), make, "material")
    yield refused("Body", "material='steel'", lambda: lw.Body("b", material="steel"), "lw.Material.steel")
    for word in ("group", "mask"):
        yield from each("Body", word, (1.5, "1", None, True, 2**60), lambda x, w=word: lw.Body("b", **{w: x}))
    yield refused("Body", "group=0", lambda: lw.Body("b", group=0), "group 0", "mask=0")
    yield right("Body", "mask=0", lambda: lw.Body("b", mask=0).mask == 0)
    for word in ("friction", "restitution", "mu"):
        meant = "friction" if word == "mu" else word
        for kind in (lw.Body, lw.Contact):
            yield refused(
                kind.__name__,
                f"{word}=",
                lambda k=kind, w=word: k("b", **{w: 0.5}),
                f"lw.Material({meant}=...)",
            )
    ground = lw.Mechanism("m").ground
    yield refused(
        "Body", "add friction=", lambda: ground.add(lw.Plane(), friction=1.0), "lw.Material(friction="
    )
    yield refused("Mechanism", "add Plane", lambda: lw.Mechanism("m").add(lw.Plane()), "ground.add")


def _contact_of(material: Any) -> Any:
    return lw.Contact("c", material=material)


def contacts() -> Iterable[Entry]:
    yield from each("Contact", "name", (1, None, BALL), lw.Contact, "Contact", "name")
    yield from each(
        "Contact", "between", ("ab", ("a",), ("a", 1), 3, "a"), functools.partial(lw.Contact, "c")
    )
    yield from each("Contact", "without", ("ab", ("a", "b"), [("a",)], 3, None), _without)
    yield refused("Contact", "without a pair", lambda: _without(("a", "b")), "[(a, b), ...]")
    yield refused("Contact", "law='hertz'", lambda: lw.Contact("c", law="hertz"), "lw.contact_laws.hertz")
    yield from each("Contact", "law", (3, "depth", lw.Sphere), lambda x: lw.Contact("c", law=x))
    yield from each("Contact", "impact", ("elastic", None, 1), lambda x: lw.Contact("c", impact=x))
    for word, value in (("impact", "poisson"), ("material", lw.Material(restitution=0.5))):
        yield warned(
            "Contact",
            f"{word} with law",
            lambda o={word: value}: balls(lw.Contact("c", law=lw.contact_laws.hertz, **o)),
            "no effect with law=",
        )
    noise = lambda depth, rate: 1e4 * depth * random.random()  # noqa: E731
    yield refused(
        "Contact",
        "random law",
        lambda: lw.simulate(balls(lw.Contact("c", law=noise)), 0.01),
        "contact 'c'",
        "not a function",
        "lw.Sampled",
    )
    yield refused("Contact", "betwen=", lambda: lw.Contact("c", betwen=("a", "b")), "betwen", "'between'")
    yield refused("Contact", "unknown", lambda: balls(lw.Contact("c", ("a", "d"))), "contact 'c'", "'d'")
    yield refused("Contact", "itself", lambda: balls(lw.Contact("c", ("a", "a"))), "'a' with itself")
    yield refused("Contact", "twice", lambda: balls(lw.Contact("c"), lw.Contact("d")), "'d'", "'c'")
    yield refused("Contact", "same name", lambda: balls(lw.Contact("a")), "contact 'a'", "rename")
    yield refused("Contact", "apart", lambda: balls(lw.Contact("c", ("a", "b")), mask=2), "mask 2")
    yield warned("Contact", "nothing", lambda: _alone(), "nothing can touch")
    yield right("Contact", "all", lambda: balls(lw.Contact("c")).contact_names == ("c",), bool)
    yield refused("Contact", "added twice", lambda: balls(*[lw.Contact("c")] * 2), "added twice")


def _without(x: Any) -> Any:
    return lw.Contact("c", without=x)


def _alone() -> Any:
    m = lw.Mechanism("alone")
    m.add(lw.Contact("c"))
    return m.compile()


TABLES = (materials, contacts)
