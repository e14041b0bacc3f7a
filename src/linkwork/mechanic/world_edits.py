"""Edits of the world that a mechanism is in: gravity, a level ground, contact."""

from collections.abc import Sequence

import numpy as np

from linkwork.geometry import Plane, Solid
from linkwork.geometry.skin import Collision, skins
from linkwork.mechanic.bodies import free_name, pose_of
from linkwork.mechanic.edited_mechanism import EditedMechanism
from linkwork.mechanism.contact import Contact
from linkwork.spelling import require

_GRAVITY = 9.81  # m/s^2


class WorldEdits(EditedMechanism):
    """What can be done to the world."""

    def set_gravity(self, gravity: Sequence[float]) -> None:
        """Let things fall this way [m/s^2]."""
        with self._edit("gravity"):
            self.mechanism.gravity = gravity

    def set_falling(self, falls: bool) -> None:
        """Let things fall downwards with the gravity of the earth, or not at all."""
        require("set_falling: falls", falls, bool, "True or False")
        down = (0.0, -_GRAVITY) if self.mechanism.space == "plane" else (0.0, 0.0, -_GRAVITY)
        self.set_gravity(down if falls else (0.0,) * len(down))

    @property
    def has_ground(self) -> bool:
        """Whether there is a plane to fall on."""
        return any(isinstance(skin.shape, Plane) for skin in self._ground_skins())

    def _ground_skins(self) -> list[Collision]:
        return list(skins(self.mechanism.ground.collisions, Collision))

    def set_ground(self, there: bool) -> None:
        """Lay a level plane under the lowest point of the mechanism, or take planes away."""
        require("set_ground: there", there, bool, "True or False")
        with self._edit("ground") as m:
            if not there:
                m.ground.collisions = [
                    skin for skin in self._ground_skins() if not isinstance(skin.shape, Plane)
                ]
            elif not self.has_ground:
                up = 1 if m.space == "plane" else 2
                lows = [0.0] if not m.bodies else []
                for body in m.bodies.values():
                    X = pose_of(body)
                    lows.append(X[up, 3])
                    for shape in (part for part in body.parts if isinstance(part, Solid)):
                        corners = np.asarray(shape.surface()[0]) @ np.array(shape.rotation).T + shape.position
                        lows.append(float((corners @ X[:, :3].T + X[:, 3])[:, up].min()))
                normal = np.eye(3)[up]
                m.ground.add(Plane(tuple(normal.tolist()), float(min(lows))))

    @property
    def touching(self) -> bool:
        """Whether bodies meet each other."""
        return any(isinstance(element, Contact) for element in self.mechanism.elements)

    def set_contact(self, there: bool) -> None:
        """Let all bodies that have shapes meet each other and ground, or let nothing meet."""
        require("set_contact: there", there, bool, "True or False")
        with self._edit("contact") as m:
            if not there:
                for element in [each for each in m.elements if isinstance(each, Contact)]:
                    m.remove(element)
            elif not self.touching:
                m.add(Contact(free_name(m, "contact")))
