"""A mechanism with contact on its mesh of steps: at the last point of it, and where the last piece ended."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from linkwork.contact_dynamics.solver.contact_solver import Factor
from linkwork.contact_dynamics.time_stepping.contact_state import ContactState
from linkwork.contact_dynamics.time_stepping.sleeping import Sleepers, joined
from linkwork.contact_dynamics.time_stepping.warm_start_by_body import MemoryByBody
from linkwork.model.carried_contacts import SAVED
from linkwork.simulation.step_events import Ahead, EventSides

Array = np.ndarray
NEARLY = 1e-12  # of a step, or of a time: rounding


def whole(count: float) -> bool:
    """Return whether a number counts something."""
    return 0.0 <= count < 2.0**53 and count.is_integer()


@dataclass(eq=False)
class SteppedMechanism:
    """A mechanism: where it is on its mesh, and at the end of the last piece."""

    base: ContactState
    end: ContactState
    origin: float  # of the mesh [s]
    held: Array  # inputs of the last piece
    sides: EventSides  # of event functions, at the base
    index: float = 0.0  # of the base in the mesh
    ahead: Ahead | None = None  # the step from the base, if it was taken
    met: int = 0  # events of that step that were reported

    def copy(self) -> "SteppedMechanism":
        """Return the same, which goes on on its own; states that were reached are not written to."""
        return SteppedMechanism(
            *(self.base, self.end, self.origin, self.held, self.sides.copy()),
            *(self.index, self.ahead, self.met),
        )

    def begin_mesh(self, state: ContactState) -> None:
        """Go on from a state, with a mesh that begins there."""
        self.base = self.end = state
        self.origin, self.index, self.ahead, self.met = state.t, 0.0, None, 0

    def go_on(self, ahead: Ahead, t: float) -> None:
        """Go on to the next point of the mesh."""
        self.base = ahead.state
        self.base.t = t
        self.index, self.ahead, self.met = self.index + 1.0, None, 0

    # in a state, or in a file

    def contents(self, names: MemoryByBody) -> dict[str, Array]:
        """Return all that is needed to go on bit for bit."""
        asleep = self.base.asleep
        found = names.contents(joined(self.base.memory, asleep.memory)) | {SAVED: self.base.saved.copy()}
        found |= {"asleep/label": asleep.label, "asleep/acceleration": asleep.acceleration}
        found |= {f"factor/{name}": array for name, array in self.base.factor._asdict().items()}
        base = np.concatenate([self.base.q, self.base.v, [self.base.work]])
        mesh = np.array([self.base.t, self.origin, self.index, self.base.quick, self.met])
        return found | {"base": base, "mesh": mesh, "events": self.sides.array()}

    def become(
        self, contents: Mapping[str, Array], h: float, names: MemoryByBody, sleepers: Sleepers, nq: int
    ) -> None:
        """Be at the point of the mesh, of steps h, where contents were taken."""
        base, (t, origin, index, quick, met) = contents["base"], contents["mesh"].tolist()
        if not abs(origin + index * h - t) <= NEARLY * (h + abs(t)) or not (whole(index) and whole(met)):
            raise ValueError(f"a mesh of steps that is at {t:g} s after {index:g} steps from {origin:g} s")
        factor = Factor(*(contents[f"factor/{name}"] for name in Factor._fields))
        place = base[:nq].copy(), base[nq:-1].copy(), t, float(base[-1])
        slept = contents["asleep/label"], contents["asleep/acceleration"]
        asleep, memory = sleepers.restored(*slept, names.memory(contents))
        kept = memory, factor, contents[SAVED].copy()
        self.base = self.end = ContactState(*place, *kept, quick=bool(quick), asleep=asleep)
        self.sides = EventSides.from_array(contents["events"])
        self.origin, self.index, self.ahead, self.met = origin, index, None, int(met)
