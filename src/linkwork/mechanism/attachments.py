"""What loads and constraints are on: bodies, and joints by themselves or by name."""

from collections.abc import Iterable
from typing import Any

from linkwork.errors import unknown
from linkwork.mechanism.body import Body
from linkwork.mechanism.joint import Joint


def ends(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what an element is on; what else is wrong with it is found out when its mechanism is known."""
    for thing in given:
        if hasattr(type(thing), "__next__"):
            raise TypeError(f"{thing!r} can be read only once; give a body or a joint")
    return given


def unknown_end(name: str, takes: type[Body] | type[Joint] | None, joints: Iterable[str]) -> str:
    """Say what is wrong with a name that no joint has."""
    if takes is Body:
        return f"{name!r} is a text; give the Body itself, as in mechanism[{name!r}]"
    return unknown("joint", name, joints)
