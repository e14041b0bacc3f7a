"""Who may talk to the viewer: only the page that it opened itself.

Every request, and the opening of every WebSocket, must name this server exactly in `Host`; must come from its
own page if it names its `Origin` (a WebSocket must name it, and the protocol of the page); and must know a
secret, the token of the printed address, which is exchanged for a cookie at once. There is one page and no
other path. Pages of other sites, those of other servers on this machine, and host names that were bent to
this address are refused.
"""

import secrets
from collections.abc import Iterable
from hmac import compare_digest
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

_ENOUGH = 64  # WebSockets at once

# The page is one file that unpacks itself: it needs inline scripts, blobs, WebAssembly, and no other server.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob: data:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; worker-src blob: data:; "
    "media-src data:; connect-src 'self' {sockets} data: blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


class Guard:
    """Decides on requests; until the server listens and has an address, it refuses all."""

    def __init__(self, protocol: str) -> None:
        self._protocol = protocol  # that WebSockets of the page ask for
        self.token = secrets.token_urlsafe(32)
        self._cookie = secrets.token_urlsafe(32)
        self._hosts: frozenset[str] = frozenset()
        self._port = 0
        self._sockets: set[Any] = set()

    def listen(self, names: Iterable[str], port: int) -> None:
        """Learn under which names and port the server is reached."""
        self._port = port
        self._hosts = frozenset(_bracketed(name) + f":{port}" for name in names)

    @property
    def _name(self) -> str:
        return f"linkwork-{self._port}"  # ports share their cookies: viewers side by side have one each

    def refusal(self, connection: Any, request: Any) -> tuple[HTTPStatus, dict[str, str]] | None:
        """Return the answer to a request that goes no further; None if it may."""
        headers = request.headers
        if any(len(headers.get_all(name)) > 1 for name in ("Host", "Origin", "Upgrade")):
            return HTTPStatus.BAD_REQUEST, {}
        host, origin = headers.get("Host"), headers.get("Origin")
        if host not in self._hosts:
            return HTTPStatus.MISDIRECTED_REQUEST, {}
        socket = "Upgrade" in headers
        if (origin is None and socket) or origin not in (None, f"http://{host}"):
            return HTTPStatus.FORBIDDEN, {}
        address = urlsplit(request.path)
        if not request.path.startswith("/") or request.path.startswith("//") or address.path != "/":
            return HTTPStatus.NOT_FOUND, {}
        if socket and headers.get_all("Sec-WebSocket-Protocol") != [self._protocol]:
            return HTTPStatus.BAD_REQUEST, {}
        if self._has_cookie(headers):
            return self._seat(connection) if socket else None
        if not socket and self._has_token(address.query):
            cookie = f"{self._name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict"
            return HTTPStatus.OK, {"Set-Cookie": cookie, "Refresh": "0; url=/"}
        return HTTPStatus.FORBIDDEN, {}

    def headers(self, host: str) -> dict[str, str]:
        """Return what is said to the browser with every answer to a request for this host."""
        sockets = f"ws://{host}" if host in self._hosts else ""
        return {
            "Content-Security-Policy": _POLICY.format(sockets=sockets),
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }

    def _has_cookie(self, headers: Any) -> bool:
        try:
            cookies = SimpleCookie("; ".join(headers.get_all("Cookie")))
        except CookieError:
            return False
        return self._name in cookies and _same(cookies[self._name].value, self._cookie)

    def _has_token(self, query: str) -> bool:
        given = parse_qs(query, max_num_fields=8).get("token", []) if query.count("&") < 8 else []
        return len(given) == 1 and _same(given[0], self.token)

    def _seat(self, connection: Any) -> tuple[HTTPStatus, dict[str, str]] | None:
        """Admit a WebSocket, up to a fixed number of them."""
        self._sockets = {other for other in self._sockets if other.state.name in ("CONNECTING", "OPEN")}
        if len(self._sockets) >= _ENOUGH:
            return HTTPStatus.SERVICE_UNAVAILABLE, {}
        self._sockets.add(connection)
        return None


def _same(given: str, secret: str) -> bool:
    return compare_digest(given.encode("utf-8", "surrogateescape"), secret.encode())


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name.lower()
