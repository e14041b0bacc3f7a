"""Sound on pages: in the viewer from where a recording is, in offline pages in step with the timeline."""

import time
from typing import Any

from linkwork.acoustics.sound import Sound, audio, sound
from linkwork.view.player import Player

_LATE = 0.15  # by which sound may be out of step before it begins anew [s]

# Follows the timeline of the page, whose slider says where it is: sets off, stops and goes where it goes.
_FOLLOW = """
<style>#lw-sound {position: fixed; right: 1em; top: 1em; z-index: 50; padding: .4em .9em; cursor: pointer;
font: 14px sans-serif; border: 1px solid #bbb; border-radius: 6px; background: #fff}</style>
<button id="lw-sound" aria-pressed="false">Sound off</button>
<script>
(() => {
  const heard = document.getElementById("lw-audio"), button = document.getElementById("lw-sound");
  let on = false, before = null, at = 0, moved = 0, rate = 1;
  button.onclick = () => {
    on = !on;
    button.textContent = on ? "Sound on" : "Sound off";
    button.setAttribute("aria-pressed", on);
    if (!on) heard.pause();
  };
  setInterval(() => {
    const slider = document.querySelector("[role=slider]");
    if (!slider || !on) return;
    const now = performance.now() / 1000, t = parseFloat(slider.getAttribute("aria-valuenow"));
    if (before === null) { before = t; at = now; return; }
    if (t !== before) {
      const pace = (t - before) / (now - at);
      if (pace > 0 && pace < 20) rate += 0.2 * (pace - rate);
      before = t; at = moved = now;
    }
    if (now - moved > 0.25) { heard.pause(); return; }
    const wanted = Math.min(Math.max(Math.round(rate * 20) / 20, 0.1), 8);
    if (Math.abs(heard.playbackRate - wanted) > 0.1) heard.playbackRate = wanted;
    if (!(t < heard.duration)) return;
    if (Math.abs(heard.currentTime - t) > 0.15 * Math.max(wanted, 1)) heard.currentTime = t;
    if (heard.paused) heard.play().catch(() => {});
  }, 30);
})();
</script>
"""


def heard_of(run: Any, said: Any, where: str) -> Sound | None:
    """Return the sound that an option `sound=` means: none, that of the run, or one that was made before."""
    if said is False:
        return None
    if said is True:
        return sound(run)
    if isinstance(said, Sound):
        return said
    raise ValueError(f"{where}: sound {said!r}; give True, or what lw.sound(run) returned")


def sounding(page: str, heard: Sound) -> str:
    """Return a page that is played from disk with a button for its sound, which is in the page."""
    added = audio(heard, 'id="lw-audio" preload="auto"') + _FOLLOW
    head, end, rest = page.rpartition("</body>")
    return head + added + end + rest


class SoundPanel:
    """A switch of the viewer: what is played at its own speed is heard."""

    def __init__(self, gui: Any, run: Any, player: Player, report: Any) -> None:
        self._run, self._player, self._report = run, player, report
        self.box = gui.add_checkbox("Sound", False)
        self._element = gui.add_html("")
        self._heard: Sound | None = None
        self._began: tuple[float, float] | None = None  # times of the run and of the clock
        self._failed = False

    def follow(self) -> None:
        """Begin, or stop, as the player does; called again and again."""
        player = self._player
        audible = self.box.value and player.playing and player.speed == 1.0 and not self._failed
        if not audible:
            if self._began is not None:
                self._element.content, self._began = "", None
            return
        now = time.perf_counter()
        if self._began is not None and abs(player.t - self._began[0] - (now - self._began[1])) < _LATE:
            return
        heard = self._made()
        if heard is not None:
            t = player.t
            self._element.content = audio(heard.since(t), "autoplay")
            self._began = t, time.perf_counter()

    def _made(self) -> Sound | None:
        if self._heard is None:
            try:
                self._heard = sound(self._run)
            except Exception as error:  # a run from a file has no bodies; whatever a law of the user raises
                self._failed = True
                self._report(str(error))
        return self._heard
