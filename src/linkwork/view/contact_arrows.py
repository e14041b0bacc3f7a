"""Forces of contacts as arrows where bodies touch, the largest with their values at the tips."""

from typing import Any

import numpy as np

from linkwork.view import palette
from linkwork.view.arrows import LONGEST, Arrows
from linkwork.view.camera import projected
from linkwork.view.name_labels import LETTER, MARGIN, looking, readable
from linkwork.view.piece_poses import WorldPoses
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Moment

Array = np.ndarray

_LABELS = 12  # values that are written


class ContactArrows(Arrows):
    """The forces of contacts, each on the second of the two bodies, and the values of the largest [N].

    Of values that would lie over each other the largest is shown.
    """

    def __init__(self, server: Any, subject: Subject) -> None:
        def forces(moment: Moment, poses: WorldPoses) -> tuple[Array, Array]:
            return subject.contacts(moment)

        super().__init__(server, subject, "contact forces", "N", palette.CONTACT, forces)

    def nodes(self) -> list[Any]:
        self._labels = [
            self._server.scene.add_label(
                f"{self._node}/{k}", "", anchor="bottom-center", font_screen_scale=0.8, visible=False
            )
            for k in range(_LABELS)
        ]
        return super().nodes()

    def draw(self, points: Array, vectors: Array) -> None:
        super().draw(points, vectors)
        sizes = self._largest * np.linalg.norm(vectors, axis=1)
        largest = np.argsort(-sizes, kind="stable")[:_LABELS]
        tips = points[largest] + vectors[largest] * (LONGEST * self._size)
        texts = [f"{size:.3g} N" for size in sizes[largest]]
        view, size = looking(self._server)
        widths = np.array([LETTER * len(text) + MARGIN for text in texts])
        shown = readable(projected(tips, view, size)[0], widths, first=np.ones(len(tips), bool))
        for k, label in enumerate(self._labels):
            label.visible = k < len(tips) and bool(shown[k])
            if label.visible:
                label.position = tips[k]
                if label.text != texts[k]:
                    label.text = texts[k]
