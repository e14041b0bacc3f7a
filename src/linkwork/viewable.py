"""What can be looked at, and what can be played: the methods by which users reach the viewer.

This module lies below all that is shown and imports the viewer when a method is called: the one place where
lower layers reach up to `linkwork.view`.
"""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any


class Viewable:
    """A mechanism, a model or what one of them did: it can be shown in the browser and drawn."""

    def show(self, state: Any = None, *, live: bool = False, **options: Any) -> Any:
        """Show it in the browser; see `linkwork.view.show`.

        A mechanism or model stands at `state` (a State, positions q, or as drawn if not given); with
        `live=True` it moves from there, in real time, and can be dragged. What has moved is played. The other
        options are `host`, `port`, `expose`, `open_browser` and `block`.
        """
        from linkwork.view import show

        return show(self, state, live=live, **options)

    def snapshot(self, t: float | None = None, **options: Any) -> Any:
        """Return a picture as drawn, or of what has moved at a time or at its end: `.save("x.svg")`.

        See `linkwork.view.snapshot`.
        """
        from linkwork.view import snapshot

        return snapshot(self, t, **options)


class Playable(Viewable, ABC):
    """What has moved: a number of samples, which can be played."""

    @abstractmethod
    def __len__(self) -> int: ...

    def save_html(self, path: str | Path, **options: Any) -> None:
        """Write a page that plays it from disk, without a network; see `linkwork.view.save_html`."""
        from linkwork.view import save_html

        save_html(self, path, **options)

    def save_video(self, path: str | Path, **options: Any) -> None:
        """Write a film, `.mp4` or `.gif`; see `linkwork.view.save_video`."""
        from linkwork.view import save_video

        save_video(self, path, **options)

    def save_sound(self, path: str | Path, listener: Any = None, **options: Any) -> None:
        """Write what a listener hears of it to a `.wav` file; see `lw.sound`."""
        from linkwork.view import save_sound

        save_sound(self, path, listener, **options)


def appearance(run: Any) -> tuple[Any, dict[str, Any]]:
    """Return how the bodies of a recording look, as its file keeps it: plain values, and arrays."""
    from linkwork.view import appearance

    return appearance(run)
