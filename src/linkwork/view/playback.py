"""The controls with which a recording is played on a page."""

from typing import Any

import numpy as np

from linkwork.view.player import Player
from linkwork.view.sound_panel import SoundPanel
from linkwork.view.subject import Subject

SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "4", "10")


class Playback:
    """The part of a page that plays; the page has what is declared here."""

    player: Player
    subject: Subject
    _sound: SoundPanel | None
    _stale: bool

    def show_message(self, text: str) -> None:
        """Say something in the panel."""
        raise NotImplementedError

    def controls(self, gui: Any) -> None:
        """Add what moves the mechanism."""
        player = self.player
        if player.end <= player.start:
            return
        span = player.end - player.start
        self._play = gui.add_button("Play", icon="player-play")
        self._play.on_click(lambda event: self.play_or_pause())
        steps = gui.add_button_group("Step", ("|<", "<", ">", ">|"))
        steps.on_click(lambda event: self._step(steps.value))
        gui.add_html('<span class="lw-track"></span>')  # what follows is as wide as the panel
        self._slider = gui.add_slider("Time [s]", player.start, player.end, _round_step(span), player.start)
        self._slider.on_update(lambda event: event.client and self.seek(self._slider.value))
        speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        speed.on_update(lambda event: setattr(player, "speed", float(speed.value)))
        loop = gui.add_checkbox("Loop", player.loop)
        loop.on_update(lambda event: setattr(player, "loop", loop.value))
        if self.subject.run is not None and self.subject.run.model is not None:
            self._sound = SoundPanel(gui, self.subject.run, player, self.show_message)
        player.changed = self._show_playing

    def _show_playing(self) -> None:
        playing = self.player.playing
        self._stale = True  # numbers are exact when it stands
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

    def play_or_pause(self) -> None:
        if self.player.playing:
            self.player.pause()
        else:
            self.player.play()


def _round_step(span: float) -> float:
    """Return a step of some thousandth of a span: 1, 2 or 5 times a power of ten."""
    rough = span / 5000.0
    power = 10.0 ** np.floor(np.log10(rough))
    return float(power * max(factor for factor in (1.0, 2.0, 5.0) if factor * power <= rough * 1.0001))
