"""The page: a mechanism on a stage, and a panel to play it, choose what is shown, and plot."""

import sys
import threading
import time
import webbrowser
from typing import Any

import numpy as np

from linkwork.spelling import spelled_methods
from linkwork.view.body_appearance import Looks
from linkwork.view.camera import Camera, View
from linkwork.view.charts import Charts
from linkwork.view.edit_observer import Edits
from linkwork.view.edited_page import FollowingEdits
from linkwork.view.inspector import Inspector
from linkwork.view.overlays import Overlays
from linkwork.view.page_messages import listen
from linkwork.view.palette import hexadecimal
from linkwork.view.panels import Command, Panels, add_commands
from linkwork.view.picking import hit
from linkwork.view.playback import Playback
from linkwork.view.player import Player
from linkwork.view.server import Server
from linkwork.view.slider_folder import SliderFolder
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
_NONE = "(none)"


@spelled_methods
class Viewer(FollowingEdits, Playback):
    """A mechanism in the browser: `url` leads to it, until `close()`."""

    room = 1.0  # how much more is shown than the mechanism is known to pass through
    timed = True  # whether time passes on it: it has controls and curves along the bottom
    tabs: tuple[tuple[str, str], ...] = (("Inspector", "list-details"), ("Show", "eye"))  # at the right

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
        self.looks = Looks()
        self._lock = threading.RLock()  # round all that changes the page
        self._stale = True
        self._shown = float("nan")
        self._followed: str | None = None
        self._anchor = np.zeros(3)
        self._told = 0.0
        self._sound: SoundPanel | None = None
        self._ended = threading.Event()
        # by client: what it was last shown, at which aspect, and when
        self._fitted: dict[int, tuple[list[View], float, bool]] = {}
        moments = max(2, min(_LOOKED_AT, _CORNERS // max(len(drawing.pieces), 1)))
        self.camera = Camera(drawing, trajectory.passed(moments), self.room)
        with self.server.atomic():
            self.stage = Stage(self.server, drawing, self.camera)
            self._first_view(self.camera.view())
            self._panel()
            if self.camera.wanders:
                self.follow(drawing.bodies[int(drawing.masses.argmax())])
            self._refresh()
        self.stage.on_click(self._picked, self._hit)
        self.overlays.springs.on_click(self.select)
        listen(self.server, self.heard())
        self.server.on_client_connect(self._welcome)
        self.server.on_client_disconnect(lambda client: self._fitted.pop(client.client_id, None))
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
        self._note = gui.add_markdown("", visible=False)
        self._legend = gui.add_html("")
        self.tree = TreePanel(gui, self.drawing, self.looks)
        self.panels = Panels(gui, self.tabs, self.timed)
        add_commands(gui, self.commands())
        self.fill_panels()

    def fill_panels(self) -> None:
        """Put into the tabs what belongs to the subject."""
        gui, channels = self.server.gui, self.subject.channels
        with self.panels.right("Inspector"):
            self.inspector = Inspector(gui, self.subject)
            self.moved_by = self.hands(gui)
            self._look_controls(gui)
        with self.panels.right("Show"):
            self._show_tab(gui)
        self.charts = None
        if self.panels.bottom is None:
            return
        with self.panels.bottom:
            self.controls(gui)
            if channels:
                place = self.panels.bottom
                self.charts = Charts(gui, place, channels[:_LISTED], self.subject.curves, self.show_message)

    def hands(self, gui: Any) -> SliderFolder | None:
        """Add sliders for what can be moved by hand."""
        return None

    def fill_again(self) -> None:
        """Put into the panels what belongs to another subject."""
        self.panels.empty()
        self.tree.follow(self.drawing)
        self.fill_panels()

    def commands(self) -> list[Command]:
        """Return what can be done by keys."""
        found = [
            Command("Fit: show everything", "F", "maximize", lambda client: self._look(client, "")),
            *(
                Command(
                    f"View: {name}", str(k + 1), "camera", lambda client, name=name: self._look(client, name)
                )
                for k, name in enumerate(self.camera.names)
            ),
            Command(
                "Hide or show the selected body", "X", "eye-off", lambda client: self.hide(self.selected)
            ),
            Command("Show only the selected body", "I", "focus", lambda client: self.isolate(self.selected)),
            Command("Show all bodies", "A", "eye", lambda client: self.show_all()),
            Command("Select nothing", "escape", "x", lambda client: self.select(None)),
            Command("Names", "N", "tag", lambda client: self._toggle("names")),
            Command("Dark or light", "D", "moon", lambda client: self.show_dark(not self.server.dark)),
        ]
        if self.player.end > self.player.start:
            player = self.player
            found += [
                Command("Play or pause", "space", "player-play", lambda client: self.play_or_pause()),
                Command("Next sample", "arrowright", "player-skip-forward", lambda client: player.step(1)),
                Command("Sample before", "arrowleft", "player-skip-back", lambda client: player.step(-1)),
                Command("To the start", "home", "player-track-prev", lambda client: self.seek(player.start)),
                Command("To the end", "end", "player-track-next", lambda client: self.seek(player.end)),
            ]
        return found

    def heard(self) -> dict[str, Any]:
        """Return what is done when a page says something, by the first word."""
        return {
            "select": lambda client, name: self.select(self._named(name)),
            "hide": lambda client, name: self.hide(self._named(name)),
            "isolate": lambda client, name: self.isolate(self._named(name)),
            "plot": lambda client, channel: self.plot(channel),
            "drop": lambda client, name: self.plot_first(name),
        }

    def _named(self, name: str) -> str | None:
        """Return a name that a page has said, if it is one; None for ground, or nothing."""
        drawing = self.drawing
        known = {
            *drawing.bodies,
            *(mark.name for mark in drawing.joints),
            *(each.name for each in drawing.connections),
        }
        known |= {mark.name for mark in drawing.springs}
        return name if name in known else None

    def plot(self, channel: str) -> None:
        """Draw a curve of a channel, if there is such a one."""
        if self.charts is None:
            self.show_message("there are no curves yet: they are of what has run")
        elif self.subject.has(channel):
            self.charts.add(channel)
            self._stale = True  # its value has to be said

    def plot_first(self, name: str) -> None:
        """Draw a curve of an element: what is first known of it, its position or angle if it has one."""
        if (named := self._named(name)) is None:
            return
        found = [f"{named}.{word}" if word else named for word in self.subject.words_of(named)]
        for channel in [each for each in found if self.subject.has(each)][:1] or [named]:
            self.plot(channel)

    def _toggle(self, word: str) -> None:
        self.switches[word].value = not self.switches[word].value
        self.switch(word, self.switches[word].value)

    def show_dark(self, dark: bool) -> None:
        """Show all pages in dark colours, or in light ones."""
        with self._lock:
            self.server.show_dark(dark)
            self.stage.lay_floor(self.drawing, self.camera, dark)

    # what is shown

    def _show_tab(self, gui: Any) -> None:
        self.make_overlays()
        gui.add_html('<span class="lw-short"></span>')  # what follows has a short label
        views = gui.add_button_group("View", self.camera.names)
        views.on_click(lambda event: self._look(event.client, views.value))
        follow = gui.add_dropdown("Follow", (_NONE, *self.drawing.bodies[:_LISTED]), initial_value=_NONE)
        follow.on_update(lambda event: self.follow(None if follow.value == _NONE else follow.value))
        joints = gui.add_checkbox("joints", True)
        joints.on_update(lambda event: self.stage.show_joints(joints.value))
        in_space = self.drawing.space == "space"
        shadows = gui.add_checkbox("shadows", in_space, visible=in_space)
        shadows.on_update(lambda event: self.stage.show_shadows(shadows.value))
        through = gui.add_checkbox("see through", False)
        through.on_update(lambda event: self.stage.show_through(through.value))
        self.switches = {"joints": joints, "shadows": shadows, "see through": through}
        for word in self.overlays.switches:
            box = gui.add_checkbox(word, False)
            box.on_update(lambda event, word=word, box=box: self.switch(word, box.value))
            self.switches[word] = box

    def make_overlays(self) -> None:
        """Make what can be shown over the mechanism, all of it hidden."""
        self.overlays = Overlays(self.server, self.subject, self.show_message)

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
            self.selected = self.looks.selected = name
            self._dress()
            self.overlays.springs.highlight(name)
            self.overlays.traces.follow(name, point)
            self._look_folder.visible = name in self.drawing.bodies
            if name in self.drawing.bodies:
                own = next((piece.colour for piece in self.drawing.pieces if piece.name == name), None)
                self._colour.value = self.looks.colours.get(name, own or self._colour.value)
                self._clear.value = round(100 * self.looks.opacities.get(name, 1.0))
            self._choose_sliders(name)
            self._told, self._stale = 0.0, True

    def _choose_sliders(self, name: str | None) -> None:
        if self.moved_by is not None:
            self.moved_by.choose(name)

    def _picked(self, name: str, point: Any) -> None:
        self.select(name, point)

    def _hit(self, name: str, origin: Any, direction: Any) -> Any:
        """Return where a ray meets a body, in its frame; None for joints."""
        if name not in self.drawing.bodies:
            return None
        pose = self.now().poses[self.stage.numbers[name]]
        pieces = [piece for piece in self.drawing.pieces if piece.body == name]
        return hit(pieces, pose, np.array(origin), np.array(direction))

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
            self.subject.exact = not self.player.playing
            poses = moment.world
            with self.server.atomic():
                self.stage.place(poses)
                self.overlays.place(moment, poses)
            self._explain()
            self._go_along(poses)
            self.show_time(moment)

    def _explain(self) -> None:
        """Say what the arrows are that are shown, and how much the longest stands for."""
        lines = [
            f'<div><i style="background:{hexadecimal(colour)}"></i>{text}</div>'
            for text, colour in self.overlays.legend()
        ]
        text = f'<div class="lw-legend">{"".join(lines)}</div>' if lines else ""
        if text != self._legend.content:
            self._legend.content = text

    def show_time(self, moment: Moment) -> None:
        """Show the time in the panels and in charts; while playing not at every frame."""
        now = time.perf_counter()
        if self.player.playing and now - self._told < _SLOW:
            return
        self._told = now
        if self.player.end > self.player.start:
            self._slider.value = moment.t
        self.inspector.show(self.selected, moment)
        if self.charts is not None:
            names = self.charts.names
            exact = self.subject.exact and moment.sample is not None
            self.charts.move(moment.t, self.subject.instant(moment).traces(*names) if exact and names else ())


def _plain(text: str) -> str:
    """Return a text that Markdown shows as it is: names may come from a file."""
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+-.!<>|~&$" else sign for sign in text)
