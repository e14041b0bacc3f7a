"""Names: how bodies, joints and couplings are distinguished."""


def kind_name(thing: object) -> str:
    """Return what an element is: the name of its class, of the original one if it came from a file."""
    return vars(thing).get("class_name", type(thing).__name__)


def name_text(name: object, kind: str) -> str:
    """Return a name, which is given first and is a text; whether it is free is found out by `check`."""
    if not isinstance(name, str):
        raise TypeError(f"{kind}: the first argument is the name, a text; {name!r} was given")
    return name
