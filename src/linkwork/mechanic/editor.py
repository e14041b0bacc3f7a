"""The editor: what is done to a mechanism by hand, each edit one entry of its journal. It knows no page."""

from pathlib import Path

import numpy as np

from linkwork.atomic_files import write_atomically
from linkwork.errors import LinkworkError
from linkwork.formats import save
from linkwork.formats.mechanism_json import mechanism_of_text
from linkwork.geometry import Mesh
from linkwork.mechanic import bodies
from linkwork.mechanic.body_edits import USUAL, BodyEdits
from linkwork.mechanic.dragging import pulled
from linkwork.mechanic.joint_edits import JointEdits, anchor
from linkwork.mechanic.part_files import read_part, read_sent, stem_of
from linkwork.mechanic.python_script import script
from linkwork.mechanic.world_edits import WorldEdits
from linkwork.mechanism.mechanism import Mechanism
from linkwork.spelling import require, spelled_methods

Array = np.ndarray


@spelled_methods
class Editor(BodyEdits, JointEdits, WorldEdits):
    """A mechanism, and all that can be done to it: `undo()` takes back whatever was done last.

    >>> editor = Editor()
    >>> from linkwork.geometry import Box
    >>> editor.add_shape(Box(0.1, 0.02, 0.02), "crank")
    'crank'
    >>> editor.join("Revolute", "ground", "crank", (0, 0, 0), axis=(0, 1, 0))
    'revolute'
    >>> editor.advice().summary
    '1 degree of freedom'
    """

    # parts of files

    def add_file(self, path: str | Path, *, scale: float | None = None) -> list[str]:
        """Add a part from a file, or all of a mechanism; return the names of the bodies."""
        path = Path(path)
        return self._take(read_part(path, scale), stem_of(path.name))

    def add_sent(self, name: str, content: bytes, *, scale: float | None = None) -> list[str]:
        """Add a part that a page has sent."""
        require("add_sent: content", content, bytes, "the bytes of a file")
        return self._take(read_sent(name, content, scale), stem_of(name))

    def _take(self, part: Mesh | Mechanism, name: str) -> list[str]:
        if isinstance(part, Mechanism):
            if self.mechanism.elements:
                raise LinkworkError(f"{name}: a whole mechanism; begin with it, and add parts to it")
            self.open(part)
            return list(part.bodies)
        with self._edit(f"add {name}") as m:
            centre = part.vertices.mean(axis=0) if part.problems() else part.centre
            mesh = part.like(part.vertices - centre, part.faces, ())
            body = bodies.weighed_body(bodies.free_name(m, name), mesh, USUAL, position=centre)
            return [m.add(body).name]

    # moving it by hand

    def pull(self, q: Array, body: str, point: Array, target: Array) -> Array:
        """Return the position in which a point of a body comes nearest to a place, from q on."""
        return pulled(self._whole(), q, self._own(body).name, point, target)

    def keep_pose(self, q: Array) -> None:
        """Draw the mechanism as it is at a position."""
        model = self._whole()
        poses, names = model.poses(q).array, model.body_names
        with self._edit("move the mechanism") as m:
            for joint in m.joints.values():
                anchor(joint)
            for name, pose in zip(names, poses, strict=True):
                body, size = m.bodies[name], pose.shape[0]
                if np.abs(pose - np.column_stack([body.rotation, body.position])).max() > 1e-15:
                    body.position, body.rotation = pose[:, size], _square(pose[:, :size])

    # files

    def open_text(self, text: bytes) -> None:
        """Edit the mechanism of a text, as `text()` returns it."""
        require("open_text: text", text, bytes, "the bytes of a file")
        self.open(mechanism_of_text(text))

    def save(self, path: str | Path) -> None:
        """Write the mechanism: `.json`, `.py` for a script, or any format that mechanisms are written in."""
        path = Path(path)
        with self.lock:
            if path.suffix.lower() == ".py":
                write_atomically(path, [self.script().encode("utf-8")])
            else:
                save(self.mechanism, path)
            self._saved = self._count

    @property
    def unsaved(self) -> bool:
        """Whether there is something that was not saved since it was changed."""
        return bool(self.mechanism.elements) and self._count != self._saved

    def script(self) -> str:
        """Return a Python script that builds the same mechanism, bit for bit."""
        with self.lock:
            return script(self.mechanism)


def _square(rotation: Array) -> Array:
    """Return the rotation nearest to a matrix that is one but for rounding."""
    left, _, right = np.linalg.svd(rotation)
    return left @ right
