"""A real browser, without a display and with software for a graphics card."""

import io
import tempfile
import time

import numpy as np
import pytest

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
]

# The numbers with which the page draws the pieces of a batch: 16 each, column by column.
_MATRICES = """name => {
    const node = window.__viserMutable?.nodeRefFromName?.[name];
    let mesh = null;
    node?.traverse(item => { if (item.isInstancedMesh2) mesh ??= item; });
    if (!mesh) return null;
    const texture = mesh.matricesTexture;
    return Array.from(texture._data ?? texture.image.data).slice(0, 16 * mesh._instancesCount);
}"""
_COLOURS = """name => {
    let mesh = null;
    const node = window.__viserMutable.nodeRefFromName[name];
    node.traverse(item => { if (item.isInstancedMesh2) mesh ??= item; });
    const texture = mesh.colorsTexture;
    return Array.from(texture._data ?? texture.image.data).slice(0, 4 * mesh._instancesCount);
}"""
_FRAMES = """count => new Promise(done => {
    const next = left => left ? requestAnimationFrame(() => next(left - 1)) : done();
    next(count);
})"""
_SETTLED = 5  # frames that a page has drawn when it is as it stays
# Over the picture a page would say that graphics are software: here it does not hear which they are.
_UNKNOWN_GRAPHICS = """for (const kind of [WebGLRenderingContext, WebGL2RenderingContext]) {
    const ask = kind.prototype.getExtension;
    kind.prototype.getExtension = function (name) {
        return name === "WEBGL_debug_renderer_info" ? null : ask.call(this, name);
    };
}"""
_VISIBLE = """name => {
    let node = window.__viserMutable?.nodeRefFromName?.[name];
    if (!node) return false;
    for (; node; node = node.parent) if (!node.visible) return false;
    return true;
}"""
# Where the page shows points of the world, as soon as all are in the picture, and it stands still.
_SEEN = """([points, patience]) => new Promise((done, late) => {
    const { camera, canvas, nodeRefFromName } = window.__viserMutable;
    let before = "", since = 0, frames = 0;
    const end = performance.now() + 60000;
    const next = () => {
        if (performance.now() > end) return late(new Error(`it moves, or shows not all: ${before}`));
        const box = canvas.getBoundingClientRect(), root = nodeRefFromName[""];
        const seen = points.map(point => {
            const place = camera.position.clone().set(...point).applyMatrix4(root.matrixWorld);
            place.project(camera);
            return [(0.5 + 0.5 * place.x) * box.width, (0.5 - 0.5 * place.y) * box.height];
        });
        const inside = seen.every(([x, y]) => 0 < x && x < box.width && 0 < y && y < box.height);
        const now = seen.flat().map(x => x.toFixed(1)).join();
        if (now !== before || !inside) [before, since, frames] = [now, performance.now(), 0];
        if (++frames <= 5 || performance.now() - since < patience) requestAnimationFrame(next);
        else done(seen.map(([x, y]) => [box.x + x, box.y + y]));
    };
    next();
})"""
_PLACE = """name => {
    const node = window.__viserMutable?.nodeRefFromName?.[name];
    return node ? node.position.toArray() : null;
}"""


class Tab:
    """A page, and what can be read off it."""

    def __init__(self, page):
        self.page = page
        self.asked = []  # addresses
        self.errors = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, address, node="/bodies"):
        """Go to an address, and wait until the mechanism is on the page."""
        self.page.goto(address)
        self.page.wait_for_selector("canvas", timeout=60_000)
        self.until(
            lambda: self.page.evaluate("name => !!window.__viserMutable?.nodeRefFromName?.[name]", node)
        )
        self.settle()
        return self

    def settle(self):
        """Wait until what the page knows is drawn."""
        self.page.evaluate(_FRAMES, _SETTLED)

    def pixels(self):
        """Return what the picture shows, without the panels beside it, (height, width, 3)."""
        image = pytest.importorskip("PIL.Image")
        self.settle()
        box = self.page.locator("canvas").first.bounding_box()
        shot = np.array(image.open(io.BytesIO(self.page.screenshot())).convert("RGB")).astype(int)
        x, y = int(box["x"]), int(box["y"])
        return shot[y : y + int(box["height"]), x : x + int(box["width"])]

    def draws(self, viewer, poses, tolerance=2e-5):
        """Return whether the page draws all bodies of a viewer at these poses."""
        for batch in viewer.stage.bodies:
            found, expected = self.matrices(batch.handle.name), _expected(viewer.drawing, batch, poses)
            if found is None or found.shape != expected.shape or np.abs(found - expected).max() > tolerance:
                return False
        return True

    def until(self, true, seconds=60.0):
        """Wait until something is so."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if true():
                return
            self.page.wait_for_timeout(30)
        raise AssertionError("it did not become so in time")

    def matrices(self, batch):
        """Return how the page draws the pieces of a batch, (N, 4, 4)."""
        numbers = self.page.evaluate(_MATRICES, batch)
        return None if numbers is None else np.array(numbers).reshape(-1, 4, 4).transpose(0, 2, 1)

    def colours(self, batch):
        return np.array(self.page.evaluate(_COLOURS, batch)).reshape(-1, 4)[:, :3]

    def visible(self, node):
        return self.page.evaluate(_VISIBLE, node)

    def seen(self, points, patience=0.3):
        """Return where the page shows points of the world, in pixels, once all are seen and nothing moves."""
        return np.array(self.page.evaluate(_SEEN, [np.asarray(points, float).tolist(), 1000.0 * patience]))

    def near(self, node, place):
        """Return whether the page has a node of the scene at a place."""
        found = self.page.evaluate(_PLACE, node)
        return found is not None and np.abs(np.array(found) - place).max() < 1e-6

    def pull(self, start, end, steps=8, release=True):
        """Take what is shown at a place, in pixels, and pull it to another one."""
        self.page.mouse.move(*start)
        self.settle()  # the page looks what is there when it draws
        self.page.mouse.down()
        for part in np.linspace(0.0, 1.0, steps + 1):
            self.page.mouse.move(*(np.asarray(start) + part * np.subtract(end, start)))
            self.page.evaluate(_FRAMES, 2)
        if release:
            self.page.mouse.up()

    def press(self, role, name):
        """Click a button or tab by its words."""
        self.page.get_by_role(role, name=name, exact=True).click(timeout=60_000)

    def tick(self, label, on=True):
        """Tick the box beside a label, or not: once it has stopped moving, as folders open slowly.

        The page may show it only when the server has answered. A click that missed is made again.
        """
        box, end = self.row(label), time.monotonic() + 60.0
        box.wait_for()
        while box.is_checked() != on:
            assert time.monotonic() < end, f"{label!r} is not {'on' if on else 'off'}"
            place = box.bounding_box()
            self.page.wait_for_timeout(150)
            if place != box.bounding_box():
                continue
            box.click(force=True)
            for _ in range(100):
                if box.is_checked() == on:
                    return
                self.page.wait_for_timeout(50)

    def row(self, label):
        """Return the input that stands beside a label."""
        row = "xpath=ancestor::div[contains(@class, 'mantine-Flex-root')][1]"
        return self.page.locator(f"label:text-is('{label}')").locator(row).locator("input:visible")


def _expected(drawing, batch, poses):
    """Return the matrices (N, 4, 4) of a batch's pieces when the bodies are at poses."""
    made = []
    for piece in batch.pieces:
        X = (
            np.vstack([poses[drawing.bodies.index(piece.body)], (0, 0, 0, 1)])
            if piece.body != "ground"
            else np.eye(4)
        )
        made.append(X @ np.vstack([piece.pose, (0, 0, 0, 1)]) @ np.diag([*piece.shell.scale, 1.0]))
    return np.array(made)


@pytest.fixture(scope="session")
def browser():
    """One browser for all tests of a process: to start one takes as long as many tests."""
    from playwright.sync_api import sync_playwright

    from conftest import CHROMIUM  # type: ignore[attr-defined]

    with sync_playwright() as player, tempfile.TemporaryDirectory() as profile:
        context = player.chromium.launch_persistent_context(
            profile,
            executable_path=CHROMIUM,
            headless=True,
            args=_FLAGS,
            viewport={"width": 1100, "height": 600},
        )
        context.add_init_script(_UNKNOWN_GRAPHICS)
        yield context
        context.close()


@pytest.fixture
def tab(browser):
    page = browser.new_page()
    yield Tab(page)
    page.close()


@pytest.fixture
def without_network(browser):
    """A function that opens a file in a page that no network answers; until the test ends none does."""
    pages = []

    def opened(path):
        browser.set_offline(True)
        pages.append(browser.new_page())
        return Tab(pages[-1]).open(path.as_uri())

    yield opened
    for page in pages:
        page.close()
    browser.set_offline(False)
