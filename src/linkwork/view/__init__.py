"""Looking at mechanisms: in the browser, live or recorded; as a page that plays offline, film, picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwork.spelling import checked_keywords

if TYPE_CHECKING:
    from linkwork.view.picture import Picture
    from linkwork.view.viewer import Viewer

__all__ = ["save_html", "save_sound", "save_video", "show", "snapshot"]


@checked_keywords
def show(
    thing: Any,
    state: Any = None,
    *,
    live: bool = False,
    host: str = "127.0.0.1",
    port: int | None = None,
    expose: bool = False,
    open_browser: bool = True,
    block: bool | None = None,
) -> "Viewer":
    """Show a recording, a model or a mechanism in the browser.

    A model stands at `state` (a State, positions, or as drawn); with `live=True` it moves from there. The
    page is for this machine alone, and for those who have the printed address; a `host` that others reach
    must be allowed by `expose=True`. Without `port` a free one is taken. Scripts wait until Ctrl-C, a Python
    prompt and notebooks do not, unless `block` says otherwise. The Viewer has `.url` and `.close()`.
    """
    from linkwork.view.subject_of import viewer_of

    viewer = viewer_of(thing, state, live=live, host=host, port=port, expose=expose)
    print(f"{viewer.drawing.name}: {viewer.url}", flush=True)
    if open_browser:
        viewer.open()
    if block or (block is None and not _interactive()):
        viewer.wait()
    return viewer


def appearance(run: Any) -> tuple[Any, dict[str, Any]]:
    """Return how the bodies of a recording look, as its file keeps it: plain values, and arrays."""
    from linkwork.view.stored_drawing import described
    from linkwork.view.subject_of import drawing_of

    return run.appearance if run.model is None else described(drawing_of(run))


def save_sound(run: Any, path: str | Path, listener: Any = None, **options: Any) -> None:
    """Write what a listener hears of a recording to a `.wav` file; see `lw.sound`."""
    from linkwork.acoustics.sound import sound

    sound(run, listener, **options).save(path)


@checked_keywords
def save_html(
    run: Any,
    path: str | Path,
    *,
    rate: float = 60.0,
    show: str | Sequence[str] = (),
    plot: str | Sequence[str] = (),
    trace: Any = None,
    sound: Any = False,
) -> None:
    """Write one file that plays a recording from disk, without a network, at `rate` frames a second.

    The page has switches for overlays and curves of what was recorded, in step with the picture. `show`
    names overlays that are on at first: "names", "frames", "joint axes", "reactions", "velocities",
    "traces", ...; `plot` curves: "crank.velocity", "energy"; `trace` is a body whose path is drawn, or a
    body and a point on it: `trace=("rod", (0.1, 0, 0))`. With `sound=True`, or what `lw.sound` returned, the
    page has a button that switches sound on.
    """
    from linkwork.errors import LinkworkError
    from linkwork.view import offline

    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise LinkworkError(f"{path}: cannot write {Path(path).suffix!r} as a page; give a name in .html")
    over = {"show": _names("save_html", "show", show), "plot": _names("save_html", "plot", plot)}
    offline.save(run, path, rate=rate, trace=trace, sound=sound, **over)


def _names(caller: str, word: str, given: Any) -> tuple[str, ...]:
    """Return one name, or several, as several."""
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{caller}: {word} {given!r}; give a name, or a list of names")
    return tuple(names)


@checked_keywords
def save_video(
    run: Any,
    path: str | Path,
    *,
    rate: float = 30.0,
    speed: float = 1.0,
    size: tuple[int, int] = (960, 600),
    view: str = "",
    show: str | Sequence[str] = (),
    plot: str | Sequence[str] = (),
    trace: Any = None,
    sound: Any = False,
) -> None:
    """Write a film of a recording, `.mp4` or `.gif`: no browser and no display is needed.

    `speed` is film time against real time, `size` in pixels, `view` is "isometric", "front", "side" or "top".
    `show`, `plot` and `trace` are what `save_html` takes: overlays, which a legend explains, curves below the
    picture in step with it, and the path of a body or of a point on it. With `sound=True`, or what
    `lw.sound` returned, an `.mp4` is heard, too.
    """
    from linkwork.view import video

    over = {"show": _names("save_video", "show", show), "plot": _names("save_video", "plot", plot)}
    video.save(run, path, rate=rate, speed=speed, size=size, view=view, sound=sound, trace=trace, **over)


@checked_keywords
def snapshot(
    thing: Any, t: float | None = None, *, size: tuple[int, int] = (960, 600), view: str = ""
) -> "Picture":
    """Return a picture of a recording at a time, by default its end, or of a model or mechanism as drawn.

    `.save("x.svg")` writes vector graphics, `.save("x.png")` pixels; a notebook shows it.
    """
    from linkwork.view import picture

    return picture.snapshot(thing, t, size=size, view=view)


def _interactive() -> bool:
    """Return whether this is an interactive session: a Python prompt or a notebook."""
    import sys

    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or "ipykernel" in sys.modules
