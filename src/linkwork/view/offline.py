"""A page that plays from disk: the player and the frames in one file, which asks no network for anything."""

import html
import math
from pathlib import Path
from typing import Any

from linkwork.recording.container import write_atomically
from linkwork.view.camera import Camera
from linkwork.view.overlays import Overlays
from linkwork.view.server import Server
from linkwork.view.sound_panel import heard_of, sounding
from linkwork.view.stage import Stage
from linkwork.view.subject_of import moving_subject_of

RATE = 60.0  # frames a second
_MOST = 6000  # frames in a file

# The browser itself refuses whatever would leave the file.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob: data:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; worker-src blob: data:; "
    "connect-src data: blob:; media-src data:"
)


def page(run: Any, *, rate: float = RATE, show: tuple[str, ...] = (), sound: Any = False) -> str:
    """Return the page that plays a recording."""
    heard = heard_of(run, sound, "save_html")
    subject = moving_subject_of(run)
    if not (math.isfinite(rate) and rate > 0.0):
        raise ValueError(f"save_html: rate {rate!r}; give frames a second, above 0")
    drawing, trajectory = subject.drawing, subject.trajectory
    start, span = float(trajectory.times[0]), float(trajectory.times[-1] - trajectory.times[0])
    count = min(int(span * rate) + 1, _MOST)
    server = Server(drawing.name, port=0)  # its address is not printed; it only records the frames
    try:
        camera = Camera(drawing, trajectory.passed(200))
        stage = Stage(server, drawing, camera)
        overlays = Overlays(server, subject, lambda text: None)
        unknown = [word for word in show if word not in overlays.switches]
        if unknown:
            raise ValueError(
                f"save_html: unknown overlay {unknown[0]!r}; available are {', '.join(overlays.switches)}"
            )
        for word in show:
            overlays.switch(word, True)
        view = camera.view(aspect=1.5)
        first = server.initial_camera
        first.position, first.look_at, first.up, first.fov = view.position, view.look_at, view.up, view.fov
        first.near, first.far = view.depths

        def place(t: float) -> None:
            moment = trajectory.at(t)
            poses = moment.world
            stage.place(poses)
            overlays.place(moment, poses)

        place(start)
        serializer = server.get_scene_serializer()
        for k in range(1, count):
            serializer.insert_sleep(span / (count - 1))
            place(start + span * k / (count - 1))
        text = serializer.as_html()
    finally:
        server.close()
    title = f"<title>{html.escape(drawing.name)}</title>"
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}" />'
    text = text.replace("<title>Viser</title>", f"{policy}{title}", 1)
    return text if heard is None else sounding(text, heard)


def save(
    run: Any, path: str | Path, *, rate: float = RATE, show: tuple[str, ...] = (), sound: Any = False
) -> None:
    """Write that page to a file, all or nothing."""
    write_atomically(path, [page(run, rate=rate, show=show, sound=sound).encode()])
