"""Forces of contacts as arrows where bodies touch, the largest with their values."""

from typing import Any

import numpy as np

from linkwork.view import palette
from linkwork.view.arrows import Arrows
from linkwork.view.piece_poses import WorldPoses
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Moment

Array = np.ndarray

_LABELS = 12  # values that are written


class ContactArrows(Arrows):
    """The forces of contacts, each on the second of the two bodies, and the values of the largest [N]."""

    def __init__(self, server: Any, subject: Subject) -> None:
        super().__init__(server, subject, "contact forces", "N", palette.CONTACT, self._forces)
        self._subject = subject

    def _forces(self, moment: Moment, poses: WorldPoses) -> tuple[Array, Array]:
        return self._subject.contacts(moment)

    def nodes(self) -> list[Any]:
        self._labels = [
            self._server.scene.add_label(
                f"{self._node}/{k}", "", anchor="center-left", font_screen_scale=0.8, visible=False
            )
            for k in range(_LABELS)
        ]
        return super().nodes()

    def place(self, moment: Moment, poses: WorldPoses) -> None:
        super().place(moment, poses)
        points, forces = self._forces(moment, poses)
        sizes = np.linalg.norm(forces, axis=1)
        largest = np.argsort(-sizes, kind="stable")[:_LABELS]
        for k, label in enumerate(self._labels):
            label.visible = k < len(largest)
            if k < len(largest):
                text, n = f"{sizes[largest[k]]:.3g} N", largest[k]
                label.position = points[n] + self._above
                if label.text != text:
                    label.text = text
