"""What can be looked at, recordings and motions alike: in the browser, as a page, a film, a picture."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any


class Viewable(ABC):
    """Something that has moved, at so many times, and can be shown."""

    @abstractmethod
    def __len__(self) -> int: ...

    def show(self, **options: Any) -> Any:
        """Play it in the browser; the options are those of `linkwork.view.show`."""
        from linkwork.view import show

        return show(self, **options)

    def save_html(self, path: str | Path, **options: Any) -> None:
        """Write a page that plays it from disk, without a network; see `linkwork.view.save_html`."""
        from linkwork.view import save_html

        save_html(self, path, **options)

    def save_video(self, path: str | Path, **options: Any) -> None:
        """Write a film, `.mp4` or `.gif`; see `linkwork.view.save_video`."""
        from linkwork.view import save_video

        save_video(self, path, **options)

    def snapshot(self, t: float | None = None, **options: Any) -> Any:
        """Return a picture at a time, or of the end: `.save("x.svg")`; see `linkwork.view.snapshot`."""
        from linkwork.view import snapshot

        return snapshot(self, t, **options)
