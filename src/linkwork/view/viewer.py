"""The page: a mechanism on a stage, and a panel to play it, choose what is shown, and plot."""

import sys
import threading
import time
import webbrowser
from typing import Any

import numpy as np

from linkwork.mechanism.mechanism import Mechanism
from linkwork.view.camera import Camera, View
from linkwork.view.charts import Charts
from linkwork.view.edits import Edits
from linkwork.view.overlays import Overlays
from linkwork.view.picking import hit
from linkwork.view.piece_poses import WorldPoses
from linkwork.view.player import Player
from linkwork.view.server import Server
from linkwork.view.sound_panel import SoundPanel
from linkwork.view.stage import Stage
from linkwork.view.subject import Subject
from linkwork.view.trajectory import Moment
from linkwork.view.tree_panel import TreePanel

Array = np.ndarray

RATE = 60.0  # frames a second
_SLOW = 1.0 / 12.0  # between two changes of numbers and charts in the panel [s]
_LOOKED_AT = 200  # moments that the first view has in mind
_CORNERS = 40_000  # pieces times moments that it looks at
_LISTED = 2000  # names in a list: more take a browser long
SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "4", "10")
_NONE = "(none)"


class Viewer:
    """A mechanism in the browser: `url` leads to it, until `close()`."""

    room = 1.0  # how much more is shown than the mechanism is known to pass through

    def __init__(
        self,
        subject: Subject,
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
        expose: bool = False,
        edits: Edits | None = None,
    ) -> None:
        """Show a subject; with `edits` the page shows the mechanism as it is edited."""
        self._edits = edits
        self.subject, self.drawing = subject, subject.drawing
        drawing, trajectory = subject.drawing, subject.trajectory
        self.server = Server(drawing.name, host, port, expose=expose)
        self.url = self.server.url
        self.player = Player(trajectory.times)
        self.selected: str | None = None
        self._lock = threading.RLock()  # round all that changes the page
        self._stale = True
        self._shown = float("nan")
        self._followed: str | None = None
        self._anchor = np.zeros(3)
        self._told = 0.0
        self._sound: SoundPanel | None = None
        self._ended = threading.Event()
        moments = max(2, min(_LOOKED_AT, _CORNERS // max(len(drawing.pieces), 1)))
        self.camera = Camera(drawing, trajectory.passed(moments), self.room)
        with self.server.atomic():
            self.stage = Stage(self.server, drawing, self.camera)
            self._first_view(self.camera.view())
            self._panel()
            self._refresh()
        self.stage.on_click(self._picked, self._hit)
        self.overlays.springs.on_click(self.select)
        self.server.on_client_connect(lambda client: client.camera.on_update(self._looked))
        self._thread = threading.Thread(target=self._loop, name="linkwork viewer", daemon=True)
        self._thread.start()

    # life

    def close(self) -> None:
        """End the server; pages that are open say so."""
        if not self._ended.is_set():
            self._ended.set()
            if self._edits:
                self._edits.stop()
            self._thread.join(timeout=5.0)
            self.server.close()

    def wait(self) -> None:
        """Stay until Ctrl-C, then close."""
        try:
            print("Ctrl-C ends it", flush=True)
            while not self._ended.wait(0.5):
                pass
        except KeyboardInterrupt:
            print("\nviewer closed", file=sys.stderr)
        finally:
            self.close()

    def open(self) -> None:
        """Open the page in the user's browser, if there is one."""
        threading.Thread(target=webbrowser.open, args=(self.server.doorway,), daemon=True).start()

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Viewer of {self.drawing.name!r} at {self.url}>"

    # the page

    def _panel(self) -> None:
        gui = self.server.gui
        gui.main_panel.dock_right()
        gui.main_panel.set_width(340)
        self._note = gui.add_markdown("", visible=False)
        self.controls(gui)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Show"):
            self._show_tab(gui)
        with tabs.add_tab("Tree"):
            self.tree = TreePanel(gui, self.drawing, self.select)
        channels = self.subject.channels
        if channels:
            with tabs.add_tab("Plot"):
                self.charts = Charts(gui, channels[:_LISTED], self.subject.curves, self.show_message)
        else:
            self.charts = None

    # edits

    def _follow_edits(self) -> None:
        """Show the mechanism as it is now, if it was edited."""
        if self._edits is None or not self._edits.due:
            return
        try:
            found = self._edits.look(self.remade)
        except Exception as error:  # a mistake in the mechanism, or whatever a law of the user raises
            self.show_message(f"shown as it was before it was edited: {error}")
            return
        if found is not None:
            with self._lock, self.server.atomic():
                self.show_edited(found)
                self.show_message("")

    def remade(self, mechanism: Mechanism) -> Any:
        """Return what is shown of an edited mechanism, for `show_edited`."""
        raise NotImplementedError

    def show_edited(self, made: Any) -> None:
        """Show what `remade` has made."""
        raise NotImplementedError

    def show_subject(self, subject: Subject) -> None:
        """Show another subject in place of this one: what is the same by name stays as it is."""
        shown = {word: box.value for word, box in self.switches.items()}
        selected, self.selected = self.selected, None
        self.overlays.remove()
        self.subject, self.drawing = subject, subject.drawing
        self.camera = Camera(self.drawing, subject.trajectory.passed(2), self.room)
        self.stage.follow(self.drawing)
        self.server.gui.reset()
        self._panel()
        for word, visible in shown.items():
            self.switches[word].value = visible
            if word in self.overlays.switches:
                self.overlays.switch(word, visible)
        self.stage.show_joints(shown["joints"])
        self.stage.show_through(shown["see through"])
        self.overlays.springs.on_click(self.select)
        there = {*self.drawing.bodies, *(mark.name for mark in self.drawing.joints)}
        if self._followed not in there:
            self._followed = None
        if selected in there:
            self.select(selected)
        self._stale = True

    # controls

    def controls(self, gui: Any) -> None:
        """Add what moves the mechanism."""
        player = self.player
        if player.end <= player.start:
            return
        span = player.end - player.start
        self._slider = gui.add_slider("Time [s]", player.start, player.end, _round_step(span), player.start)
        self._slider.on_update(lambda event: event.client and self.seek(self._slider.value))
        self._play = gui.add_button("Play", icon="player-play")
        self._play.on_click(lambda event: player.pause() if player.playing else player.play())
        steps = gui.add_button_group("Step", ("|<", "<", ">", ">|"))
        steps.on_click(lambda event: self._step(steps.value))
        speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        speed.on_update(lambda event: setattr(player, "speed", float(speed.value)))
        loop = gui.add_checkbox("Loop", player.loop)
        loop.on_update(lambda event: setattr(player, "loop", loop.value))
        if self.subject.run is not None and self.subject.run.model is not None:
            self._sound = SoundPanel(gui, self.subject.run, player, self.show_message)
        player.changed = self._show_playing

    def _show_playing(self) -> None:
        playing = self.player.playing
        self._play.label = "Pause" if playing else "Play"
        self._play.icon = "player-pause" if playing else "player-play"

    def _step(self, word: str) -> None:
        match word:
            case "|<":
                self.seek(self.player.start)
            case ">|":
                self.seek(self.player.end)
            case _:
                self.player.step(1 if word == ">" else -1)

    def seek(self, t: float) -> None:
        """Pause, and go to a time."""
        if self.player.playing:
            self.player.pause()
        self.player.seek(t)

    def _show_tab(self, gui: Any) -> None:
        self.overlays = Overlays(self.server, self.subject, self.show_message)
        views = gui.add_button_group("View", self.camera.names)
        views.on_click(lambda event: self._look(event.client, views.value))
        follow = gui.add_dropdown("Follow", (_NONE, *self.drawing.bodies[:_LISTED]), initial_value=_NONE)
        follow.on_update(lambda event: self.follow(None if follow.value == _NONE else follow.value))
        joints = gui.add_checkbox("joints", True)
        joints.on_update(lambda event: self.stage.show_joints(joints.value))
        shadows = gui.add_checkbox("shadows", self.drawing.space == "space")
        shadows.on_update(lambda event: self.stage.show_shadows(shadows.value))
        through = gui.add_checkbox("see through", False)
        through.on_update(lambda event: self.stage.show_through(through.value))
        self.switches = {"joints": joints, "shadows": shadows, "see through": through}
        for word in self.overlays.switches:
            box = gui.add_checkbox(word, False)
            box.on_update(lambda event, word=word, box=box: self.switch(word, box.value))
            self.switches[word] = box

    def switch(self, word: str, visible: bool) -> None:
        """Show an overlay, or hide it."""
        with self._lock:
            self.show_message("")
            self.overlays.switch(word, visible)
            self._stale = True

    def show_message(self, text: str) -> None:
        """Say something in the panel."""
        self._note.content = _plain(text)
        self._note.visible = bool(text)

    # selection

    def select(self, name: str | None, point: Array | None = None) -> None:
        """Select a body or joint by name; `point`, of a body, is what is traced."""
        with self._lock:
            self.selected = name
            self.stage.highlight(name)
            self.overlays.springs.highlight(name)
            self.tree.show(name)
            self.overlays.traces.follow(name, point)
            self._stale = True

    def _picked(self, name: str, point: Any) -> None:
        self.select(name, point)

    def _hit(self, name: str, origin: Any, direction: Any) -> Any:
        """Return where a ray meets a body, in its frame; None for joints."""
        if name not in self.drawing.bodies:
            return None
        pose = self.now().poses[self.stage.numbers[name]]
        pieces = [piece for piece in self.drawing.pieces if piece.body == name]
        return hit(pieces, pose, np.array(origin), np.array(direction))

    # cameras

    def _first_view(self, view: View) -> None:
        camera = self.server.initial_camera
        camera.position, camera.look_at, camera.up = view.position, view.look_at, view.up
        camera.fov = view.fov
        camera.near, camera.far = view.depths

    def _look(self, client: Any, name: str) -> None:
        """Show a page the view of this name."""
        if client is None:
            return
        about = None
        if self._followed:
            about = self.now().poses[self.stage.numbers[self._followed], :, 3]
        view = self.camera.view(name, client.camera.aspect, about)
        with client.atomic():
            client.camera.up_direction = view.up
            client.camera.fov = view.fov
            client.camera.position, client.camera.look_at = view.position, view.look_at

    def _looked(self, camera: Any) -> None:
        """Look again which names can be read, when the camera has moved."""
        if self.overlays.switches["names"].visible:
            self._stale = True

    def follow(self, body: str | None) -> None:
        """Let all cameras go along with a body."""
        with self._lock:
            self._followed = body
            if body is not None:
                self._anchor = self.now().poses[self.stage.numbers[body], :, 3]

    def _go_along(self, poses: WorldPoses) -> None:
        if self._followed is None:
            return
        place = poses.positions[self.stage.numbers[self._followed]]
        shift, self._anchor = place - self._anchor, place
        if not shift.any():
            return
        for client in self.server.get_clients().values():
            with client.atomic():
                position, look_at = client.camera.position + shift, client.camera.look_at + shift
                client.camera.position, client.camera.look_at = position, look_at

    # time

    def now(self) -> Moment:
        """Return what is shown."""
        return self.subject.trajectory.at(self.player.t)

    def _loop(self) -> None:
        before = time.perf_counter()
        while not self._ended.wait(max(0.0, before + 1.0 / RATE - time.perf_counter())):
            now = time.perf_counter()
            self._follow_edits()
            self.advance(now - before)
            before = now
            self._refresh()
            if self._sound is not None:
                self._sound.follow()

    def advance(self, seconds: float) -> None:
        """Let real time pass [s]."""
        self.player.advance(seconds)

    def _refresh(self) -> None:
        """Move everything to where it is now, if that is somewhere else than before."""
        with self._lock:
            moment = self.now()
            if moment.t == self._shown and not self._stale:
                return
            self._shown, self._stale = moment.t, False
            poses = moment.world
            with self.server.atomic():
                self.stage.place(poses)
                self.overlays.place(moment, poses)
            self._go_along(poses)
            self.show_time(moment.t)

    def show_time(self, t: float) -> None:
        """Tell the time in the panel and in charts; while playing not at every frame."""
        now = time.perf_counter()
        if self.player.playing and now - self._told < _SLOW:
            return
        self._told = now
        if self.player.end > self.player.start:
            self._slider.value = t
        if self.charts is not None:
            self.charts.move(t)


def _round_step(span: float) -> float:
    """Return a step of some thousandth of a span: 1, 2 or 5 times a power of ten."""
    rough = span / 5000.0
    power = 10.0 ** np.floor(np.log10(rough))
    return float(power * max(factor for factor in (1.0, 2.0, 5.0) if factor * power <= rough * 1.0001))


def _plain(text: str) -> str:
    """Return a text that Markdown shows as it is: names may come from a file."""
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+-.!<>|~&$" else sign for sign in text)
