"""The contacts of the last step: which bodies touch, where, and with which force."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.model.carried_contacts import BODIES, IMPULSE, PLACE
from linkwork.recording.report import impacts_of
from linkwork.spelling import fixed

if TYPE_CHECKING:
    from linkwork.scene.encounter import Encounter

Array = np.ndarray


@fixed("it says what touches")
@dataclass(frozen=True, eq=False)
class SceneContact:
    """A point at which two bodies touch; static shapes are bodies, too."""

    bodies: tuple[Any, Any]  # BodyHandle or Static, a and b
    point: Array  # (3,) in the world [m]
    force: Array  # (3,) on a, in world axes, of the last step [N]

    def __repr__(self) -> str:
        a, b = (body.path for body in self.bodies)
        return f"<SceneContact {a!r} on {b!r}: {float(np.linalg.norm(self.force)):.4g} N>"


@fixed("it says what touches")
@dataclass(frozen=True, eq=False)
class SceneImpact:
    """An impulse with which two bodies hit each other, or a joint its stop, in the last step."""

    time: float  # of the scene [s]
    bodies: tuple[Any, ...]  # BodyHandle or Static, a and b; of a stop, the joint
    point: Array  # (3,) in the world [m]; () of a stop
    impulse: Array  # (3,) on b, in world axes [N s]; (1,) of a stop


def contacts_of(encounter: "Encounter") -> list[SceneContact]:
    """Return the contacts of an encounter."""
    memory = encounter.state.memory
    if memory is None or BODIES not in memory or not len(memory[BODIES]):
        return []
    bodies, places, impulses = memory[BODIES], memory[PLACE], memory[IMPULSE]
    span = encounter.last_step
    places, impulses = in_the_world(encounter, places, impulses)
    found = []
    for (a, _, b, _), place, impulse in zip(bodies.tolist(), places, impulses, strict=True):
        if impulse.any():
            pair = encounter.node_of_row(a), encounter.node_of_row(b)
            found.append(SceneContact(pair, place, impulse / span))
    return found


def impacts(encounter: "Encounter") -> list[SceneImpact]:
    """Return the impacts of the last step of an encounter."""
    found = []
    for one in impacts_of(encounter.events):
        bodies = tuple(encounter.node_of_name(name) for name in dict.fromkeys(one.bodies))
        point, impulse = np.array(one.point), np.array(one.impulse)
        if len(point) == 3:
            point, impulse = (x[0] for x in in_the_world(encounter, point[None], impulse[None]))
        found.append(SceneImpact(one.time + encounter.offset, bodies, point, impulse))
    return found


def in_the_world(encounter: "Encounter", places: Array, vectors: Array) -> tuple[Array, Array]:
    """Return points and vectors of an encounter as the world sees them."""
    unit = encounter.units[0]
    if len(encounter.units) > 1 or not unit.placed:
        return places, vectors
    R, p = unit.place[:, :3], unit.place[:, 3]
    return places @ R.T + p, vectors @ R.T
