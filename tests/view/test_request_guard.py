"""Requests that must not succeed, on a real server, byte by byte; and those that must."""

import gc
import os
import socket
import struct
import time
import warnings
from pathlib import Path

import msgspec
import pytest
from raw_requests import cookie, frame, origin, request, succeeded, talk, upgrade

from linkwork.errors import LinkworkError
from linkwork.view.server import PORT, Server

SOCKETS = Path("/proc/net/tcp")


@pytest.fixture(scope="module")
def server():
    made = Server("guarded")
    yield made
    made.close()


# controls: the oracle sees what succeeds


def test_who_has_the_address_gets_the_page(server):
    answer = talk(server, request(server, Cookie=cookie(server)))
    assert succeeded(answer)
    head = answer.split(b"\r\n\r\n")[0].lower()
    for word in (
        b"content-security-policy",
        b"x-frame-options: deny",
        b"nosniff",
        b"no-referrer",
        b"no-store",
    ):
        assert word in head


def test_the_page_may_open_a_websocket(server):
    answer = talk(server, upgrade(server, Origin=origin(server), Cookie=cookie(server)), until=b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 101")


def test_the_cookie_is_for_this_page_only(server):
    answer = talk(server, request(server, f"/?token={server.guard.token}"))
    assert b"HttpOnly; SameSite=Strict" in answer
    assert f"linkwork-{server.port}=".encode() in answer


def test_the_name_localhost_will_do(server):
    own = f"localhost:{server.port}"
    assert succeeded(talk(server, request(server, f"/?token={server.guard.token}", host=own)))


# what must not succeed

WRONG = "A" * 43


def plain(**change):
    """Return a request without a secret."""
    return lambda server: request(server, **change)


def known(path="/", **change):
    """Return a request with the right cookie, and something else wrong."""

    def make(server):
        filled = {k: v(server) if callable(v) else v for k, v in change.items()}
        return request(server, path, **{"Cookie": cookie(server), **filled})

    return make


def socket_of(path="/", secret=True, **change):
    def make(server):
        filled = {k: v(server) if callable(v) else v for k, v in change.items()}
        return upgrade(server, path, **({"Cookie": cookie(server)} if secret else {}), **filled)

    return make


def with_lines(*lines, secret=True):
    """Return a request with these lines as they are."""

    def make(server):
        own = [line.format(port=server.port, token=server.guard.token) for line in lines]
        if secret:
            own.append(f"Cookie: {cookie(server)}")
        return ("\r\n".join(own) + "\r\n\r\n").encode("latin-1")

    return make


HOSTILE = {
    # without the secret
    "no token": plain(),
    "wrong token": plain(path=f"/?token={WRONG}"),
    "empty token": plain(path="/?token="),
    "token twice": lambda s: request(s, f"/?token={WRONG}&token={s.guard.token}"),
    "token in the path": lambda s: request(s, f"/{s.guard.token}"),
    "token in the fragment": lambda s: request(s, f"/#token={s.guard.token}"),
    "token in Referer": lambda s: request(s, Referer=f"{origin(s)}/?token={s.guard.token}"),
    "token in a header": lambda s: request(s, Authorization=f"Bearer {s.guard.token}"),
    "token as the cookie": lambda s: request(s, Cookie=f"linkwork-{s.port}={s.guard.token}"),
    "half of the token": lambda s: request(s, f"/?token={s.guard.token[:20]}"),
    "token in other letters": lambda s: request(s, f"/?token={s.guard.token.swapcase()}"),
    "many fields": lambda s: request(s, "/?" + "a=1&" * 5000 + f"token={s.guard.token}"),
    "wrong cookie": lambda s: request(s, Cookie=f"linkwork-{s.port}={WRONG}"),
    "cookie of another port": lambda s: request(s, Cookie=cookie(s).replace(str(s.port), str(s.port + 1))),
    "broken cookie": lambda s: request(s, Cookie='linkwork="\\'),
    # names bent to this address, and pages of others
    "foreign Host": known(host="evil.example"),
    "foreign Host with the port": lambda s: request(s, host=f"evil.example:{s.port}", Cookie=cookie(s)),
    "Host without port": known(host="127.0.0.1"),
    "Host with another port": known(host="127.0.0.1:80"),
    "Host that begins like ours": lambda s: request(
        s, host=f"127.0.0.1:{s.port}.evil.example", Cookie=cookie(s)
    ),
    "Host in other words": lambda s: request(s, host=f"0x7f.1:{s.port}", Cookie=cookie(s)),
    "foreign Host with the token": lambda s: request(
        s, f"/?token={s.guard.token}", host=f"evil.example:{s.port}"
    ),
    "no Host": with_lines("GET / HTTP/1.1"),
    "two Hosts": with_lines("GET / HTTP/1.1", "Host: 127.0.0.1:{port}", "Host: evil.example"),
    "an address for a path": with_lines("GET http://127.0.0.1:{port}/ HTTP/1.1", "Host: 127.0.0.1:{port}"),
    "foreign Origin": known(Origin="http://evil.example"),
    "Origin null": known(Origin="null"),
    "Origin that ends like ours": known(Origin=lambda s: f"http://localhost.evil.com:{s.port}"),
    "Origin of another port": known(Origin="http://127.0.0.1:1"),
    "Origin by https": known(Origin=lambda s: f"https://127.0.0.1:{s.port}"),
    "Origin localhost for 127.0.0.1": known(Origin=lambda s: f"http://localhost:{s.port}"),
    # WebSockets
    "socket without cookie": socket_of(secret=False, Origin=origin),
    "socket with the token instead": lambda s: upgrade(s, f"/?token={s.guard.token}", Origin=origin(s)),
    "socket without Origin": socket_of(),
    "socket of a foreign page": socket_of(Origin="http://evil.example"),
    "socket of a page without origin": socket_of(Origin="null"),
    "socket of another local server": socket_of(Origin="http://127.0.0.1:8888"),
    "socket of a page that ends like ours": socket_of(Origin=lambda s: f"{origin(s)}.evil.com"),
    "socket to a foreign name": lambda s: upgrade(s, host="evil.example", Origin=origin(s), Cookie=cookie(s)),
    "socket on another path": socket_of("/x", Origin=origin),
    "socket in two words": socket_of(Origin="http://evil.example", upgrade="WebSocket"),
    "socket of another viser": lambda s: upgrade(s, Origin=origin(s), Cookie=cookie(s)).replace(
        b"viser-v", b"viser-v0."
    ),
    # methods
    "POST": known(method="POST"),
    "PUT": known(method="PUT"),
    "DELETE": known(method="DELETE"),
    "PATCH": known(method="PATCH"),
    "OPTIONS": known(method="OPTIONS"),
    "TRACE": known(method="TRACE"),
    "CONNECT": known(method="CONNECT"),
    "HEAD": known(method="HEAD"),
    # paths
    "up and away": known("/../../../../etc/passwd"),
    "up and away, spelled": known("/%2e%2e/%2e%2e/etc/passwd"),
    "up and away, doubly spelled": known("/%252e%252e/etc/passwd"),
    "up and away, backwards": known("/..\\..\\etc\\passwd"),
    "two slashes": known("//etc/passwd"),
    "a null byte": known("/index.html%00.png"),
    "another file": known("/index.html"),
    "a folder": known("/static/"),
    "no slash": with_lines("GET etc/passwd HTTP/1.1", "Host: 127.0.0.1:{port}"),
    # what is no request
    "old HTTP": known(version="HTTP/1.0"),
    "future HTTP": known(version="HTTP/9.9"),
    "a body": with_lines("GET / HTTP/1.1", "Host: 127.0.0.1:{port}", "Content-Length: 100000000"),
    "chunks": with_lines("GET / HTTP/1.1", "Host: 127.0.0.1:{port}", "Transfer-Encoding: chunked"),
    "a long line": known("/" + "a" * 100_000),
    "many headers": with_lines(
        "GET / HTTP/1.1", "Host: 127.0.0.1:{port}", *(f"X-{k}: 1" for k in range(2000))
    ),
    "a folded header": with_lines("GET / HTTP/1.1", "Host: evil.example", "  127.0.0.1:{port}"),
    "binary": lambda s: os.urandom(4096) + b"\r\n\r\n",
    "TLS": lambda s: bytes.fromhex("16030100c8010000c40303") + os.urandom(193),
}


FRIENDLY = {  # from the same makers, with nothing wrong
    "token": lambda s: request(s, f"/?token={s.guard.token}"),
    "known": known(),
    "known, of our own page": known(Origin=origin),
    "socket": socket_of(Origin=origin),
    "lines": with_lines("GET / HTTP/1.1", "Host: 127.0.0.1:{port}"),
}


@pytest.mark.parametrize("name", FRIENDLY)
def test_a_friendly_request_succeeds(server, name):
    assert succeeded(talk(server, FRIENDLY[name](server), wait=3.0, until=b"\r\n\r\n"))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_request_does_not_succeed(server, name):
    assert not succeeded(talk(server, HOSTILE[name](server), wait=3.0))


@pytest.mark.parametrize("second", ["127.0.0.1:{port}", "evil.example"])
def test_a_request_with_two_hosts_is_a_bad_one(server, second):
    make = with_lines("GET / HTTP/1.1", "Host: 127.0.0.1:{port}", f"Host: {second}")
    assert talk(server, make(server), wait=3.0).startswith(b"HTTP/1.1 400 ")


def test_there_are_enough_hostile_requests():
    assert len(HOSTILE) >= 60


MESSAGES = {
    "a text": frame(1, b"hello"),
    "no msgpack": frame(2, b"\xc1\xff\xff"),
    "a message of no known kind": frame(2, b"\x81\xa4type\xa4Evil"),
    "too large a message": frame(2, b"\0" * (1 << 20) + b"\0"),
    "50 MB announced": frame(2, b"\0" * 1000, size=50 * 1024 * 1024),
    "depth 100000": frame(2, b"\x91" * 100_000 + b"\xc0"),
    "fragments without end": b"".join(frame(2 if k == 0 else 0, b"\0" * 65000, fin=False) for k in range(40)),
    "a wish to be shared": frame(2, b"\x81\xa4type\xafShareUrlRequest"),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_hostile_message_ends_its_own_connection_at_most(server, name):
    with socket.create_connection(("127.0.0.1", server.port), timeout=3.0) as link:
        link.sendall(upgrade(server, Origin=origin(server), Cookie=cookie(server)))
        link.recv(4096)
        try:
            link.sendall(MESSAGES[name])
            time.sleep(0.2)
        except ConnectionError:
            pass
    assert succeeded(talk(server, request(server, Cookie=cookie(server))))  # the others go on
    assert server._share_tunnel is None


def test_a_page_that_sends_nonsense_and_goes_away_is_one_line(capfd):
    """A hundred messages each that are well formed, with values that are none, then a cut line."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        server = Server("patient")
        try:
            slider = server.gui.add_slider("x", 0.0, 1.0, 0.1, 0.5)
            button = server.gui.add_button("press")
            button.on_click(lambda _: 1 / 0)
            change = {"type": "GuiUpdateMessage", "uuid": slider._impl.uuid}
            said = [
                {**change, "updates": {"value": "x"}},
                {**change, "updates": ["value"]},
                {"type": "GuiUpdateMessage", "uuid": button._impl.uuid, "updates": {"value": True}},
                {"type": "SceneNodeClickMessage", "name": ["x"], "ray_origin": [1.0], "screen_pos": "here"},
                {"type": "ViewerCameraMessage", "wxyz": "\n", "position": {}, "fov": "wide"},
                {"type": "FileTransferStartUpload", "source_component_uuid": {}, "size_bytes": "many"},
            ]
            for message in said:
                with socket.create_connection(("127.0.0.1", server.port), timeout=3.0) as link:
                    link.sendall(upgrade(server, Origin=origin(server), Cookie=cookie(server)))
                    link.recv(4096)
                    link.sendall(frame(2, msgspec.msgpack.encode(message)) * 100)
                    time.sleep(0.2)
                    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # cut
            slider.value = 0.25  # to pages that are gone
            time.sleep(0.5)
            gc.collect()  # tasks complain when they are forgotten
            time.sleep(0.2)
        finally:
            server.close()
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "viewer: a page sent what cannot be taken, or went away: ValueError" in lines[0]
    assert [str(w.message) for w in warned] == []


def test_so_many_sockets_and_no_more(server):
    links = []
    try:
        for _ in range(100):
            link = socket.create_connection(("127.0.0.1", server.port), timeout=5.0)
            link.sendall(upgrade(server, Origin=origin(server), Cookie=cookie(server)))
            links.append(link)
        first = [link.recv(12) for link in links]
    finally:
        for link in links:
            link.close()
    assert first.count(b"HTTP/1.1 101") <= 64
    assert first.count(b"HTTP/1.1 503") >= 36
    time.sleep(1.5)
    answer = talk(server, upgrade(server, Origin=origin(server), Cookie=cookie(server)), until=b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 101")  # who has gone leaves room


# where it listens


def test_other_machines_are_not_let_in_unless_told():
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(LinkworkError, match="expose=True"):
            Server("open", host)


def test_who_exposes_it_still_needs_the_token():
    server = Server("open", "0.0.0.0", expose=True)
    try:
        assert not succeeded(talk(server, request(server)))
        assert succeeded(talk(server, request(server, f"/?token={server.guard.token}")))
        assert not succeeded(
            talk(server, request(server, f"/?token={server.guard.token}", host="evil.example"))
        )
    finally:
        server.close()


@pytest.mark.skipif(not SOCKETS.exists(), reason="only Linux lists its sockets")
def test_it_listens_on_loopback_only(server):
    listening = [line.split() for line in SOCKETS.read_text().splitlines()[1:]]
    own = [row[1] for row in listening if row[3] == "0A" and int(row[1].split(":")[1], 16) == server.port]
    assert own == [f"0100007F:{server.port:04X}"]


def test_a_taken_port_is_not_shared_and_another_is_found(server):
    with pytest.raises(LinkworkError, match="leave port out"):
        Server("second", port=server.port)
    second = Server("second")
    try:
        assert second.port != server.port
        assert second.port >= PORT  # others may have let it go
    finally:
        second.close()


def test_every_server_has_its_own_token(server):
    second = Server("second")
    try:
        assert second.guard.token != server.guard.token
        assert not succeeded(talk(second, request(second, f"/?token={server.guard.token}")))
    finally:
        second.close()
