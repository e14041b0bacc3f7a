"""The page of a scene that goes on: it shows every step that somebody takes, and can hold the next."""

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.scene.rigid_frames import composed
from linkwork.scene.scene_recording import SceneNow
from linkwork.view.drawing import Drawing, drawing
from linkwork.view.drawn_pieces import JointMark
from linkwork.view.joint_drawing import joint_mark
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Moment, moment
from linkwork.view.viewer import RATE, Viewer

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

Array = np.ndarray

_DEEP = 5.0  # how far below bodies the ground is looked for [m]
_SLOW = 0.25  # between two changes of numbers in the panel [s]


class _Now:
    """Where bodies were after the last step that was seen."""

    def __init__(self, scene: "Scene") -> None:
        self.there, self.times = SceneNow(scene), np.array([0.0])  # there is nothing to play
        self.look()
        poses = dict(zip(self.there.model.body_names, self.moment.poses, strict=True))
        self.joints = tuple(_joint_marks(scene, poses))

    def look(self) -> None:
        state = self.there.state
        self.moment = moment(self.there.model, state.q, state.v, state.t)

    def at(self, t: float) -> Moment:
        return self.moment

    def passed(self, count: int) -> Array:
        """Return where bodies are, and where they would lie below: that is in sight, too."""
        below = self.moment.poses.copy()
        for pose in below:
            pose[2, 3] = min(pose[2, 3], max(self.there.height(*pose[:2, 3]), pose[2, 3] - _DEEP))
        return np.array([self.moment.poses, below])


def _joint_marks(scene: "Scene", poses: Mapping[str, Array]) -> Iterator[JointMark]:
    """Yield the joints of all mechanisms, by their paths; those to ground are where their children are."""
    for actor in scene.actors:
        loops = actor.model.loop_names
        for name, handle in actor.joints.items():
            mark = joint_mark(handle.joint, name in loops)
            if mark.kind == "Free":
                continue
            ends = [end if end == "ground" else f"{actor.path}/{end}" for end in (mark.parent, mark.child)]
            frames = [mark.on_parent, mark.on_child]
            for k, end in enumerate(ends):
                if end == "ground":
                    frames[k] = composed(poses[ends[1 - k]], frames[1 - k])
            name, (parent, child), (on_parent, on_child) = f"{actor.path}/{name}", ends, frames
            at = {"on_parent": on_parent, "on_child": on_child}
            yield replace(mark, name=name, parent=parent, child=child, **at)


class SceneViewer(Viewer):
    """A page of a scene while it is stepped.

    Steps are seen where they are taken, by an observer: it notes where bodies are, no more often than pages
    show it. What was added, came off or left is drawn anew by the page's own thread.
    """

    room = 1.4  # its way is not known beforehand

    def __init__(self, scene: "Scene", **where: Any) -> None:
        self._scene, self._seen, self._drawn_at = scene, 0.0, 0.0
        self._going = threading.Event()
        self._going.set()
        self._now = _Now(scene)
        super().__init__(self._subject(None), **where)
        self._leave = scene.observe(self._look_on)

    def _subject(self, before: Drawing | None) -> Subject:
        model = self._now.there.model
        return Subject(replace(drawing(model, before), joints=self._now.joints), self._now, model)

    def close(self) -> None:
        """End the server; the scene goes on."""
        if not self._ended.is_set():
            self._leave()
        self._going.set()
        super().close()

    def _look_on(self, scene: "Scene") -> None:
        """Note where bodies are after a step, and wait while the page holds the scene."""
        if time.perf_counter() - self._seen >= 1.0 / RATE or not self._going.is_set():
            self._note_step()
        self._going.wait()

    def _note_step(self) -> None:
        """Note where bodies are, if that is elsewhere, or there are others."""
        self._seen = time.perf_counter()
        if self._now.there.version != self._scene.arrays.version:
            self._now = _Now(self._scene)
        elif self._now.moment.t != self._scene.time:
            self._now.look()

    def advance(self, seconds: float) -> None:
        """Look at a scene that is not being stepped: the last steps, and edits, are shown."""
        if self._scene.lock.acquire(blocking=False):
            try:
                self._note_step()
            finally:
                self._scene.lock.release()

    def _follow_edits(self) -> None:
        """Show other bodies, if there are others."""
        if self._now is not self.subject.trajectory:
            with self._lock, self.server.atomic():
                self.show_subject(self._subject(self.drawing))

    def controls(self, gui: Any) -> None:
        """Add a clock, and what holds the scene."""
        self._clock = gui.add_text("Time", "0 s", disabled=True)
        self._hold = gui.add_button("Pause", icon="player-pause", hint="the next step of the scene waits")
        self._hold.on_click(lambda event: self.hold(self._going.is_set()))
        self._tell_held()

    def hold(self, held: bool) -> None:
        """Let the next step of the scene wait, or go on."""
        (self._going.clear if held else self._going.set)()
        self._tell_held()

    def _tell_held(self) -> None:
        going = self._going.is_set()
        self._hold.label, self._hold.icon = ("Pause", "player-pause") if going else ("Go on", "player-play")

    def show_time(self, moment: Moment) -> None:
        """Show the time and the numbers of what is selected, not at every step."""
        now = time.perf_counter()
        if now - self._drawn_at < _SLOW and self._going.is_set():
            return
        self._drawn_at = now
        slow = self._scene.slowdown
        self._clock.value = f"{moment.t:.2f} s" + (
            f", {slow:.1f} times slower than real time" if slow > 1.05 else ""
        )
        self.inspector.show(self.selected, moment)
