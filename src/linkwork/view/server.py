"""The server: viser's, on this machine only, behind a guard that sees every request."""

import ipaddress
import logging
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from linkwork.errors import LinkworkError
from linkwork.view.page import Wardrobe
from linkwork.view.page_access import Doorway
from linkwork.view.request_guard import Guard

PORT = 8470  # tried first
_TRIED = 200  # ports after it
_LARGEST = 1 << 20  # bytes that a page may send in one message; it sends clicks and numbers

_UPLOADS = 8  # files that pages send at one time
_BRAND = (28, 111, 184)
_PATIENCE = 1.0  # with pages that do not say goodbye [s]
_PAUSE = 60.0  # between lines about what pages sent [s]
# What viser warns of when a page sends a value of a wrong type, or has gone before what is sent to it.
_WARNINGS = r"\[viser\] .* does not match annotation|Queued a \w+ on a closed connection"

_starting = threading.Lock()
_silent = logging.Logger("linkwork.view")  # without a parent: its records go nowhere
_silent.addHandler(logging.NullHandler())


def viser() -> Any:
    """Import viser, or say how to get it."""
    try:
        import viser
    except ImportError:
        raise LinkworkError("the viewer needs viser; pip install linkwork[view]") from None
    return viser


class Server:
    """A page in the browser: `.scene` and `.gui` are viser's, `.url` is the only way in.

    A browser of this user is given `.doorway`, which leads there.
    """

    def __init__(self, title: str, host: str = "127.0.0.1", port: int | None = None, *, expose: bool = False):
        names = _names(host, expose)
        package = viser()
        self.guard = Guard(f"viser-v{package.__version__}")
        warnings.filterwarnings("ignore", f"(?s){_WARNINGS}")
        with _starting, _quiet(), _guarded(self.guard, Wardrobe(title)) as self._serving:
            self._viser = package.ViserServer(
                host=host, port=_free_port(host, port), label=title, verbose=False
            )
        if not self._serving:
            self._viser.stop()
            raise LinkworkError(
                f"viser {package.__version__} starts its server in a way that cannot be guarded: nothing is "
                "shown; install viser 1.1, and report this"
            )
        _silence_sharing(self._viser)
        loop = self._viser.get_event_loop()
        self._complaints = _Complaints()
        loop.call_soon_threadsafe(loop.set_exception_handler, self._complaints)
        _hear_failures(self._viser._thread_executor, self._complaints)
        self.port = self._viser.get_port()
        self.guard.listen(names, self.port)
        name = names[0] if ":" not in names[0] else f"[{names[0]}]"
        self.url = f"http://{name}:{self.port}/?token={self.guard.token}"
        self._doorway: Doorway | None = None
        self._queue: ThreadPoolExecutor | None = None
        self.scene, self.gui = self._viser.scene, self._viser.gui
        self.show_dark(False)

    def show_dark(self, dark: bool) -> None:
        """Show pages in dark colours, or in light ones."""
        self.dark = dark
        self.gui.configure_theme(
            show_logo=False,
            show_share_button=False,
            dark_mode=dark,
            brand_color=_BRAND,
            control_width="large",
        )

    def on_message(self, kind: Any, heard: Callable[[int, Any], None]) -> None:
        """Call a function with the number of a page, and each message of a kind that it sends."""
        self._viser._websock_server.register_handler(kind, heard)

    def limit_uploads(self, most: int) -> None:
        """Take no file of more bytes from a page, and few at a time; without this none is asked for."""
        from viser import _messages

        def check(client_id: int, message: Any) -> None:
            waiting = self.gui._current_file_upload_states
            large = not 0 <= message.size_bytes <= most
            cut = not 0 <= message.part_count <= 2 + message.size_bytes // (_LARGEST // 4)
            if large or cut or len(waiting) > _UPLOADS:
                waiting.pop(message.transfer_uuid, None)

        self.on_message(_messages.FileTransferStartUpload, check)

    def in_background(self, call: Callable[..., None], *arguments: Any) -> None:
        """Do something outside the server's loop; what goes wrong is reported as for pages."""
        self._viser._thread_executor.submit(call, *arguments)

    def in_order(self, call: Callable[..., None], *arguments: Any) -> None:
        """Do something outside the server's loop, after all that was asked for before by this."""
        if self._queue is None:
            self._queue = ThreadPoolExecutor(1, "linkwork page")
            _hear_failures(self._queue, self._complaints)
        self._queue.submit(call, *arguments)

    def __getattr__(self, name: str) -> Any:
        """Offer what viser's server has: atomic, flush, get_clients, initial_camera, ..."""
        return getattr(self._viser, name)

    @property
    def doorway(self) -> str:
        """The address of a file that only this user can read, and that leads to `url`."""
        if self._doorway is None:
            self._doorway = Doorway(self.url)
        return self._doorway.address

    def close(self) -> None:
        """Say goodbye to all pages, let none come back, and end."""
        self.guard.listen([], 0)
        if self._queue is not None:
            self._queue.shutdown(cancel_futures=True)
        if self._doorway is not None:
            self._doorway.close()
        infra = self._viser._websock_server
        infra.disconnect_all_clients()
        end = time.monotonic() + 2.0 * _PATIENCE
        while infra._live_connections and time.monotonic() < end:
            time.sleep(0.01)
        self._viser.get_event_loop().call_soon_threadsafe(self._hang_up)
        with _quiet():
            self._viser.stop()

    def _hang_up(self) -> None:
        """End connections that browsers keep for later: the server would wait until they say something."""
        for serving in self._serving:
            for connection in list(serving.server.handlers):
                connection.transport.abort()


def _names(host: str, expose: bool) -> list[str]:
    """Return the names by which a browser reaches a host; refuse one that others reach unless `expose`."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = None
    if host == "localhost" or (address is not None and address.is_loopback):
        return [host, "localhost"] if host != "localhost" else ["localhost", "127.0.0.1"]
    if not expose:
        raise LinkworkError(
            f"host {host!r} can be reached from other machines; leave it out to stay on this one, or say "
            "expose=True (--expose) if you want that: everyone who has the printed address can then take part"
        )
    if address is None or not address.is_unspecified:
        return [host]
    own = {str(info[4][0]).partition("%")[0] for info in socket.getaddrinfo(socket.gethostname(), None)}
    return [socket.gethostname().lower(), *sorted(own), "localhost", "127.0.0.1"]


def _free_port(host: str, port: int | None) -> int:
    """Return the port asked for, which must be free, or a free one."""
    reason = ""
    if port is not None and not 0 <= port <= 65535:
        raise LinkworkError(f"port {port}; give one from 1 to 65535, or leave it out to take a free one")
    for tried in range(PORT, PORT + _TRIED) if port is None else [port]:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, tried))
                return probe.getsockname()[1]
            except OSError as error:
                reason = str(error.strerror)
    raise LinkworkError(
        f"port {port} on {host}: {reason}; leave port out to take a free one"
        if port is not None
        else f"no port from {PORT} to {PORT + _TRIED - 1} is free on {host}; give one: port=..."
    )


@contextmanager
def _guarded(guard: Guard, wardrobe: Wardrobe) -> Iterator[list[Any]]:
    """While a server of viser starts, put the guard before its own handler of requests.

    viser serves page and WebSocket by one call of websockets' `serve`, and has no door for this. What is
    served with the guard is listed; if there is nothing, viser has changed.
    """
    import websockets.asyncio.server as web
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    serve, installed = web.serve, []

    def answer(status: HTTPStatus, headers: dict[str, str]) -> Response:
        body = f"{status.value} {status.phrase}\n".encode()
        about = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body)), **headers}
        return Response(status.value, status.phrase, Headers(about), body)

    def guarded(handler: Any, *args: Any, **options: Any) -> Any:
        if not handler.__qualname__.startswith("WebsockServer.") or "process_request" not in options:
            return serve(handler, *args, **options)  # not the viewer's
        inner = options["process_request"]

        def process_request(connection: Any, request: Any) -> Any:
            refused = guard.refusal(connection, request)
            response = answer(*refused) if refused else inner(connection, request)
            if response is not None and not refused:
                wardrobe.dress(response)
            if response is not None:
                hosts = request.headers.get_all("Host")
                for name, value in guard.headers(hosts[0] if len(hosts) == 1 else "").items():
                    response.headers[name] = value
            return response

        options |= {"process_request": process_request, "max_size": _LARGEST, "close_timeout": _PATIENCE}
        options["logger"] = _silent  # what is refused needs no line on the user's terminal
        installed.append(serve(handler, *args, **options))
        return installed[-1]

    web.serve = guarded
    try:
        yield installed
    finally:
        web.serve = serve


class _Complaints:
    """What goes wrong with what pages send, or with pages that go away: each kind once, a minute apart."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._next = 0.0  # when there may be a line again

    def __call__(self, loop: Any, context: dict[str, Any]) -> None:
        error = context.get("exception")
        kind = type(error).__name__ if error is not None else str(context.get("message", ""))
        now = time.monotonic()
        if kind not in self._said and now >= self._next:
            self._said.add(kind)
            self._next = now + _PAUSE
            words = " ".join(f"{kind}: {error}".split() if error is not None else kind.split())
            print(f"viewer: a page sent what cannot be taken, or went away: {words:.200}", file=sys.stderr)


def _hear_failures(executor: ThreadPoolExecutor, complaints: _Complaints) -> None:
    """Let what fails in the threads of an executor be a complaint: viser would print a traceback for each."""
    submit = executor.submit

    def heard(call: Callable[..., Any], *arguments: Any) -> None:
        try:
            call(*arguments)
        except Exception as error:
            complaints(None, {"exception": error})

    executor.submit = lambda call, *arguments: submit(heard, call, *arguments)


def _silence_sharing(server: Any) -> None:
    """Let no page ask for a public address."""
    from viser import _messages

    for message in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)


@contextmanager
def _quiet() -> Iterator[None]:
    """Let viser say nothing on the terminal: the address it would print is not the one to use."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
