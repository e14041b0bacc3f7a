"""How bodies are shown on a page, by name, as whoever looks wants it; the mechanism is not changed."""

from dataclasses import dataclass, field

import numpy as np

from linkwork.view.palette import SELECTED, WRONG, Rgb

Array = np.ndarray

_NOTHING = 1e-9  # size of what is hidden


@dataclass
class Looks:
    """What is selected, wrong, hidden, seen through and coloured."""

    selected: str | None = None
    wrong: frozenset[str] = frozenset()  # joints that are shown in red
    hidden: set[str] = field(default_factory=set)
    opacities: dict[str, float] = field(default_factory=dict)  # of bodies, where it is not their own
    colours: dict[str, Rgb] = field(default_factory=dict)

    def isolate(self, name: str, bodies: tuple[str, ...]) -> None:
        """Hide all bodies but one; a second time show all again."""
        others = {*bodies, "ground"} - {name}
        self.hidden = set() if self.hidden == others else others

    def toggle(self, name: str) -> None:
        """Hide a body, or show it again."""
        self.hidden ^= {name}

    def scales(self, bodies: list[str], scales: Array) -> Array:
        """Return how much pieces (N, 3) on these bodies are stretched: hidden ones to nothing."""
        gone = np.array([body in self.hidden for body in bodies], bool)
        return np.where(gone[:, None], _NOTHING, scales).astype(np.float32)

    def colouring(self, names: list[str], colours: Array) -> Array:
        """Return the colours (N, 3) of pieces with these names."""
        found = [
            SELECTED
            if name == self.selected
            else WRONG
            if name in self.wrong
            else self.colours.get(name, colour)
            for name, colour in zip(names, colours, strict=True)
        ]
        return np.array(found, np.uint8).reshape(-1, 3)

    def clearness(self, names: list[str], opacities: Array) -> Array | None:
        """Return the opacities (N,) of pieces with these names; None if all are solid."""
        found = np.array(
            [self.opacities.get(name, own) for name, own in zip(names, opacities, strict=True)], np.float32
        )
        return found if (found < 1.0).any() else None
