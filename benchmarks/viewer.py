"""What the viewer costs: the server's time for a frame and an edit, films, first pictures, offline pages.

Run with `python benchmarks/viewer.py`; the first picture needs Chromium and playwright. There is no peer in
this: viser with one node per body is what a frame is compared with.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any
from urllib.request import urlopen

import numpy as np

import linkwork as lw
from linkwork.view.camera import Camera
from linkwork.view.drawing import drawing
from linkwork.view.server import Server
from linkwork.view.stage import Stage
from linkwork.view.trajectory import recorded

FRAMES, REPEATS = 120, 5


def mixed(count: int) -> lw.Mechanism:
    """Return free bodies of ten different shapes."""
    shapes = [
        lambda: lw.Box(0.1, 0.2, 0.3),
        lambda: lw.Sphere(0.1),
        lambda: lw.Cylinder(0.1, 0.3),
        lambda: lw.Cone(0.1, 0.3),
        lambda: lw.Ellipsoid(0.1, 0.2, 0.3),
        *(lambda ratio=ratio: lw.Capsule(0.1, 0.1 * ratio) for ratio in (1, 2, 3, 4, 5)),
    ]
    return _free([shapes[k % 10]() for k in range(count)])


def alike(count: int) -> lw.Mechanism:
    return _free([lw.Box(0.1, 0.2, 0.3)] * count)


def _free(shapes: list) -> lw.Mechanism:
    m = lw.Mechanism(f"{len(shapes)} bodies", gravity=(0, 0, 0))
    side = int(np.ceil(len(shapes) ** 0.5))
    for k, shape in enumerate(shapes):
        body = m.add(lw.Body(f"b{k}", shape, mass=1.0, position=(0.5 * (k % side), 0.5 * (k // side), 0)))
        m.add(lw.Free(f"f{k}", m.ground, body))
    return m


def cost(server: Server, place: Callable[[float], None], times: np.ndarray) -> float:
    """Return the processor's time of a frame at 60 Hz, that of all threads [s]."""
    start = time.process_time()
    for t in times:
        with server.atomic():
            place(t)
        time.sleep(1.0 / 60.0)
    return (time.process_time() - start) / len(times)


CLIENT = """
import sys
from websockets.sync.client import connect
port, cookie, version = sys.argv[1:]
with connect(f"ws://127.0.0.1:{port}/", origin=f"http://127.0.0.1:{port}", subprotocols=[f"viser-v{version}"],
             additional_headers={"Cookie": cookie}, max_size=None, compression=None) as link:
    print("connected", flush=True)
    while True:
        link.recv()
"""


@contextmanager
def client(server: Server) -> Iterator[None]:
    """Let somebody listen, in another process."""
    import viser

    page = urlopen(server.url)
    cookie = page.headers["Set-Cookie"].split(";")[0]
    command = [sys.executable, "-c", CLIENT, str(server.port), cookie, viser.__version__]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)
        yield
    finally:
        process.terminate()
        process.wait()


def frame_cost(mechanism: lw.Mechanism) -> tuple[float, float]:
    """Return the server's cost of a frame [s]: ours, and with one node of viser per body."""
    model = mechanism.compile()
    v = np.tile(np.array([0.3, 0.5, 0.7, 0.1, 0.2, 0.3]), len(model.body_names))
    times = np.linspace(0.0, 1.0, FRAMES)
    poses = np.array([model.poses(model.q_drawn).array for _ in range(2)])
    server = Server("benchmark")
    try:
        drawn = drawing(model)
        stage = Stage(server, drawn, Camera(drawn, poses))
        run = lw.simulate(model, 1.0, lw.State(model.q_drawn, v), every=0.02)
        motion = recorded(run)
        handles = [server.scene.add_box(f"/plain/{k}") for k in range(len(model.body_names))]

        def batched(t: float) -> None:
            stage.place(motion.at(t).world)

        def one_by_one(t: float) -> None:
            world = motion.at(t).world
            for k, handle in enumerate(handles):
                handle.position, handle.wxyz = world.positions[k], world.quaternions[k]

        with client(server):
            ours = min(cost(server, batched, times) for _ in range(REPEATS))
            plain = min(cost(server, one_by_one, times[:10]) for _ in range(2))
        return ours, plain
    finally:
        server.close()


def page_cost(mechanism: lw.Mechanism, seconds: float = 4.0) -> float:
    """Return the server's time of a frame while a whole page plays: inspector, two curves, a listener [s]."""
    model = mechanism.compile()
    v = np.tile(np.array([0.3, 0.5, 0.7, 0.1, 0.2, 0.3]), len(model.body_names))
    run = lw.simulate(model, 2.0, lw.State(model.q_drawn, v), every=0.02)
    with run.show(block=False, open_browser=False) as page, client(page.server):
        page.select("b0")
        for channel in ("b0.position", "b1.velocity"):
            page.plot(channel)
        shown: list[None] = []
        place = page.stage.place

        def counted(poses: Any) -> None:
            shown.append(None)
            place(poses)

        page.stage.place = counted
        page.player.loop = True
        page.play_or_pause()
        found = []
        for _ in range(3):
            shown.clear()
            start = time.process_time()
            time.sleep(seconds)
            found.append((time.process_time() - start) / max(len(shown), 1))
        return min(found)


def boxes_in_a_row(count: int) -> lw.Mechanism:
    """Return a chain of boxes on hinges."""
    m = lw.Mechanism(f"{count} boxes")
    before = m.ground
    for k in range(count):
        body = m.add(
            lw.Body(f"b{k}", lw.Box(0.1, 0.02, 0.02), density=1000.0, position=(0.1 * k + 0.05, 0, 0))
        )
        m.add(lw.Revolute(f"j{k}", before, body, at=(0.1 * k, 0, 0), axis=(0, 1, 0)))
        before = body
    return m


def edit_cost(count: int) -> dict[str, float]:
    """Return the longest processor's time from an edit to the page that shows it, by kind of edit [s]."""
    from linkwork.mechanic import Editor, mechanic

    page = mechanic(Editor(boxes_in_a_row(count)))
    editor = page.editor
    try:
        body, joint = list(editor.mechanism.bodies)[count // 2], list(editor.mechanism.joints)[count // 2]
        edits: dict[str, Callable[[], Any]] = {
            "place a joint": lambda: editor.place_joint(joint, editor.joint_pose(joint)[:, 3] + 1e-4),
            "damping": lambda: editor.change_joint(joint, "damping", 0.1),
            "density": lambda: editor.set_density(body, 1234.0),
            "add a body": lambda: editor.add_shape(lw.Box(0.1, 0.1, 0.1), "added"),
            "join it": lambda: editor.join("Revolute", body, "added", editor.body(body).position),
            "undo": editor.undo,
        }
        found: dict[str, float] = {}
        for _ in range(3):
            for word, edit in edits.items():
                start = time.process_time()
                edit()
                page.show_now()
                took = time.process_time() - start
                found[word] = min(took, found.get(word, took))
            editor.undo()
        return found
    finally:
        page.close()


FIRST = """
import sys, tempfile, time, subprocess
from playwright.sync_api import sync_playwright
flags = ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
         "--ignore-gpu-blocklist", "--disable-background-networking", "--no-first-run"]
with sync_playwright() as player:
    context = player.chromium.launch_persistent_context(
        tempfile.mkdtemp(), executable_path=sys.argv[1], headless=True, args=flags,
        viewport={"width": 1280, "height": 800})
    page = context.new_page()
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "linkwork", "view", sys.argv[2], "--no-browser"],
                               stdout=subprocess.PIPE, text=True)
    address = process.stdout.readline().split()[-1]
    print("address after", time.perf_counter() - start, file=sys.stderr)
    page.goto(address)
    page.wait_for_function("window.__viserMutable?.nodeRefFromName?.['/bodies']", polling=20)
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    print(time.perf_counter() - start)
    process.terminate()
    process.wait()
    context.close()
"""


def first_picture(path: Path) -> float | None:
    """Return the time from the command to the first picture, in software [s]."""
    browser = next(filter(None, map(which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        return None
    command = [sys.executable, "-c", FIRST, browser, str(path)]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = [
        subprocess.run(command, capture_output=True, text=True, check=True, env=environment) for _ in range(3)
    ]
    return min(float(run.stdout.split()[-1]) for run in done)


def main() -> None:
    for label, mechanism, goal in (
        ("100 bodies of 10 shapes", mixed(100), 2e-3),
        ("1000 bodies of one shape", alike(1000), 1e-3),
    ):
        ours, plain = frame_cost(mechanism)
        print(
            f"{label}: {1e3 * ours:.2f} ms a frame on the server (goal {1e3 * goal:g}), "
            f"one node a body {1e3 * plain:.1f} ms, {plain / ours:.0f} times as much"
        )
    page = page_cost(mixed(100))
    print(f"100 bodies, page with inspector and two curves: {1e3 * page:.2f} ms a frame (goal 2)")
    for count, goal in ((50, 0.1), (500, 0.3)):
        slowest, took = max(edit_cost(count).items(), key=lambda pair: pair[1])
        print(
            f"edits of {count} bodies, until the page shows them: {1e3 * took:.0f} ms at most "
            f"({slowest}; goal {1e3 * goal:.0f})"
        )
    pendulum = lw.examples.chain(2).compile()
    swing = lw.simulate(pendulum, 10.0, pendulum.state(pin0=1.5))
    whole: dict[str, Any] = {"show": ["reactions"], "plot": ["energy", "pin1.position"], "trace": "link1"}
    for label, over in (("", {}), (" with reactions, two curves and a path", whole)):
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            swing.save_video(Path(folder) / "film.mp4", **over)
            took = time.process_time() - start
        print(f"film of 10 s of a double pendulum{label}: {took:.1f} s of processor (goal 10)")
    run = lw.simulate(lw.examples.steam_engine(), 10.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.html"
        start = time.perf_counter()
        run.save_html(path)
        size = path.stat().st_size / 1e6
        took = time.perf_counter() - start
        print(f"10 s of the steam engine offline: {size:.2f} MB (goal 3), in {took:.1f} s")
        path = Path(folder) / "run.lwr"
        run.save(path)
        seconds = first_picture(path)
        if seconds is not None:
            print(f"first picture after `linkwork view run.lwr`: {seconds:.1f} s (goal 5)")


if __name__ == "__main__":
    main()
