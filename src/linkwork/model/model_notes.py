"""What a user should know of a model: what was filled in, and what was used though it is odd."""

from typing import TYPE_CHECKING

from linkwork.tree.topology import STAND_IN

if TYPE_CHECKING:
    from linkwork.model.model import Model


def notes(model: "Model") -> tuple[str, ...]:
    """What was filled in when the mechanism was compiled, and what was used as given; in words, by name."""
    copies = model.origin.copies
    found = [
        f"joint {name!r} was added: no joint connects body {one.uses[-1].name!r} to ground"
        for name, one in copies.items()
        if one.made_here
    ]
    found += [
        f"body {branch.body_name!r} has no mass and is driven: it counts as {STAND_IN:g} of all"
        for branch in model.graph.branches
        if branch.stand_in
    ]
    bodies = model.mechanism.bodies.values()
    odd = ((body.name, body.inertia.oddity) for body in bodies if body.inertia.unphysical)
    return (*found, *(f"body {name!r} is used as given: {words}" for name, words in odd if words))
