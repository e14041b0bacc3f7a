"""A mechanism in a few lines of text."""

from collections.abc import Sized
from typing import TYPE_CHECKING

from linkwork.mechanism.contact import Contact
from linkwork.mechanism.driver import Driver
from linkwork.mechanism.names import kind_name
from linkwork.mechanism.placement import plain

if TYPE_CHECKING:
    from linkwork.mechanism.mechanism import Mechanism


def summary(mechanism: "Mechanism") -> str:
    """Summarise in a few lines what the mechanism is made of."""
    mass = sum(body.inertia.mass for body in mechanism.bodies.values())
    where = "in space" if mechanism.space == "space" else "in the plane"
    width = max((len(thing.name) for thing in mechanism.elements), default=0)
    lines = [f"{mechanism.name!r} {where}, gravity {plain(mechanism.gravity)} m/s^2"]
    lines.append(f"{count(mechanism.bodies, 'body', 'bodies')}, {mass:.6g} kg")
    for body in mechanism.bodies.values():
        lines.append(f"  {body.name:{width}}  {body.inertia.mass:.6g} kg")
    lines.append(count(mechanism.joints, "joint"))
    for joint in mechanism.joints.values():
        parent, child = joint.ends
        lines.append(f"  {joint.name:{width}}  {kind_name(joint)}, {parent} -> {child}")
    couplings = mechanism.couplings
    others = {name: thing for name, thing in mechanism.constraints.items() if name not in couplings}
    if couplings:
        lines.append(count(couplings, "coupling"))
    for coupling in couplings.values():
        law = f"{coupling.joint} = {coupling.ratio:.6g} {coupling.of} + {coupling.offset:.6g}"
        lines.append(f"  {coupling.name:{width}}  {law}")
    for word, preposition, things in (
        ("constraint", "between", others),
        ("driver", "of", mechanism.drivers),
        ("load", "on", mechanism.loads),
        ("contact", "between", mechanism.contacts),
    ):
        if things:
            lines.append(count(things, word))
        for thing in things.values():
            ends = thing.between or ("all bodies",) if isinstance(thing, Contact) else thing.on
            on = ", ".join(str(getattr(end, "name", end)) for end in ends)
            on = thing.drives if isinstance(thing, Driver) else on
            lines.append(f"  {thing.name:{width}}  {kind_name(thing)}, {preposition} {on}")
    return "\n".join(lines)


def count(things: Sized, one: str, many: str = "") -> str:
    """Say how many there are."""
    return f"{len(things)} {one if len(things) == 1 else many or one + 's'}"
