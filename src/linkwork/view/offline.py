"""A page that plays from disk: the player and the frames in one file, which asks no network for anything."""

import math
from pathlib import Path
from typing import Any

from linkwork.errors import LinkworkError
from linkwork.recording.array_file import write_atomically
from linkwork.view.camera import Camera
from linkwork.view.offline_data import script
from linkwork.view.overlays import Overlays
from linkwork.view.page import heading, part
from linkwork.view.server import Server
from linkwork.view.sound_panel import heard_of, sounding
from linkwork.view.stage import Stage
from linkwork.view.subject_of import moving_subject_of

RATE = 60.0  # frames a second
_MOST = 6000  # frames in a file
_OVER = 30.0  # times a second that forces and names follow, of up to _BODIES bodies; of more, less often
_BODIES = 40
_MEASURED = 20  # moments at which arrows are measured beforehand

# The browser itself refuses whatever would leave the file.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob: data:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; worker-src blob: data:; "
    "connect-src data: blob:; media-src data:"
)


def page(
    run: Any,
    *,
    rate: float = RATE,
    show: tuple[str, ...] = (),
    plot: tuple[str, ...] = (),
    trace: Any = None,
    sound: Any = False,
) -> str:
    """Return the page that plays a recording."""
    heard = heard_of(run, sound, "save_html")
    subject = moving_subject_of(run)
    if not (math.isfinite(rate) and rate > 0.0):
        raise ValueError(f"save_html: rate {rate!r}; give frames a second, above 0")
    drawing, trajectory = subject.drawing, subject.trajectory
    start, span = float(trajectory.times[0]), float(trajectory.times[-1] - trajectory.times[0])
    count = min(int(span * rate) + 1, _MOST)
    over = max(1, round(rate / _OVER)) * (1 + len(drawing.bodies) // _BODIES)
    server = Server(drawing.name, port=0)  # its address is not printed; it only records the frames
    try:
        camera = Camera(drawing, trajectory.passed(200))
        stage = Stage(server, drawing, camera)
        said: list[str] = []
        overlays, show = _overlays(server, subject, show, trace, said)
        overlays.measure(trajectory.at(start + span * k / _MEASURED) for k in range(_MEASURED + 1))
        _look(server, camera.view(aspect=1.5))

        def place(t: float, whole: bool) -> None:
            moment = trajectory.at(t)
            poses = moment.world
            with server.atomic():
                stage.place(poses)
                if whole:
                    overlays.place(moment, poses)

        place(start, True)
        if lost := [word for word in show if not overlays.switches[word].visible]:
            raise LinkworkError(f"save_html: {next(text for text in said if text.startswith(lost[0]))}")
        for word, overlay in overlays.switches.items():
            if word not in show:
                overlay.hide()
        data = script(subject, camera, overlays, show, plot)
        serializer = server.get_scene_serializer()
        for k in range(1, count):
            serializer.insert_sleep(span / (count - 1))
            place(start + span * k / (count - 1), k % over == 0)
        text = serializer.as_html()
    finally:
        server.close()
    return _with_scripts(text, drawing.name, data, heard, drawing.space == "plane")


def _with_scripts(text: str, title: str, data: str, heard: Any, flat: bool) -> str:
    """Return the page of Viser with our title, security policy, sounds, curves and controls."""
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}" />'
    text = text.replace("<title>Viser</title>", policy + heading(title, "page", "offline"), 1)
    if heard is not None:
        text = sounding(text, heard)
    head, end, rest = text.rpartition("</body>")
    paper = '<span class="lw-plane"></span>' if flat else ""
    scripts = "".join(f"<script>{part(name)}</script>" for name in ("page.js", "offline.js"))
    return f"{head}{paper}{data}{scripts}{end}{rest}"


def _overlays(
    server: Server, subject: Any, show: tuple[str, ...], trace: Any, said: list[str]
) -> tuple[Overlays, tuple[str, ...]]:
    """Return the overlays of a page, all switched on, and the words of those that are shown at first."""
    overlays = Overlays(server, subject, said.append)
    overlays.show("save_html", show, trace)
    shown = tuple(word for word, overlay in overlays.switches.items() if overlay.visible)
    for overlay in overlays.switches.values():
        overlay.switch(True)
    return overlays, shown


def _look(server: Server, view: Any) -> None:
    """Begin with a view."""
    first = server.initial_camera
    first.position, first.look_at, first.up, first.fov = view.position, view.look_at, view.up, view.fov
    first.near, first.far = view.depths


def save(run: Any, path: str | Path, **options: Any) -> None:
    """Write that page to a file, all or nothing."""
    write_atomically(path, [page(run, **options).encode()])
