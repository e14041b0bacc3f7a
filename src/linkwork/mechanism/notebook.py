"""How a mechanism looks in a notebook: small tables of what it is made of."""

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from linkwork.mechanism.names import kind_name
from linkwork.mechanism.placement import plain

if TYPE_CHECKING:
    from linkwork.mechanism.body import Body
    from linkwork.mechanism.constraint import Constraint
    from linkwork.mechanism.contact import Contact
    from linkwork.mechanism.joint import Joint
    from linkwork.mechanism.load import Load
    from linkwork.mechanism.mechanism import Mechanism

MANY = 40  # rows of a table; of more the rest is counted
_CELL = 'style="text-align: left; padding: 0 1em 0 0"'


def page(title: str, tables: Sequence[str]) -> str:
    """Return a title and tables."""
    return f"<div><strong>{escape(title)}</strong>{''.join(tables)}</div>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; every text is escaped. Nothing if there are no rows."""
    listed = list(rows)
    if not listed:
        return ""
    head = "".join(f"<th {_CELL}>{escape(text)}</th>" for text in heads)
    lines = [f"<tr>{head}</tr>"] if heads else []
    lines += [
        f"<tr>{''.join(f'<td {_CELL}>{escape(text)}</td>' for text in row)}</tr>" for row in listed[:MANY]
    ]
    if len(listed) > MANY:
        lines.append(f"<tr><td {_CELL}>and {len(listed) - MANY} more</td></tr>")
    return f'<table style="font-size: 90%">{"".join(lines)}</table>'


def mechanism_html(mechanism: "Mechanism") -> str:
    """Return a mechanism as tables."""
    where = "in space" if mechanism.space == "space" else "in the plane"
    title = f"{mechanism.name}, {where}, gravity {plain(mechanism.gravity)} m/s²"
    bodies, joints = mechanism.bodies.values(), mechanism.joints.values()
    couplings = [
        (c.name, f"{c.joint} = {c.ratio:.6g} {c.of} + {c.offset:.6g}") for c in mechanism.couplings.values()
    ]
    others = [c for name, c in mechanism.constraints.items() if name not in mechanism.couplings]
    drivers = [(driver.name, driver.drives, _law(driver.law)) for driver in mechanism.drivers.values()]
    return page(
        title,
        [
            table(("body", "mass [kg]", "made of", "position [m]"), map(_body_row, bodies)),
            table(("joint", "", "parent", "child", "options"), map(_joint_row, joints)),
            table(("coupling", ""), couplings),
            table(("constraint", "", "between"), map(_row, others)),
            table(("driver", "of", "law"), drivers),
            table(("load", "", "on"), map(_row, mechanism.loads.values())),
            table(("contact", "between", "material", "law"), map(_contact_row, mechanism.contacts.values())),
        ],
    )


def _row(thing: "Constraint | Load") -> tuple[str, str, str]:
    return thing.name, kind_name(thing), ", ".join(str(getattr(end, "name", end)) for end in thing.on)


def _contact_row(contact: "Contact") -> tuple[str, str, str, str]:
    pair = ", ".join(str(getattr(end, "name", end)) for end in contact.between or ("all bodies",))
    material = "of the bodies" if contact.material is None else str(contact.material)
    return contact.name, pair, material, "of the material" if contact.law is None else "a function"


def _law(law: object) -> str:
    return "a function of time" if callable(law) else str(law)


def _body_row(body: "Body") -> tuple[str, str, str, str]:
    counts = Counter(type(part).__name__ for part in body.parts)
    parts = ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items())
    return body.name, f"{body.inertia.mass:.6g}", parts, plain(body.position)


def _joint_row(joint: "Joint") -> tuple[str, str, str, str, str]:
    words = [
        f"{word} {plain(value)}"
        for word in ("damping", "friction", "stiffness", "armature", "limits")
        if _said(value := getattr(joint, word))
    ]
    return joint.name, kind_name(joint), *joint.ends, ", ".join(words)


def _said(value: object) -> bool:
    """Return whether an option has numbers other than zero; what is not a number is reported by `check`."""
    try:
        return value is not None and bool(np.any(np.asarray(value, dtype=np.float64)))
    except (TypeError, ValueError):
        return False
