"""Requests to a page's server, byte by byte."""

import base64
import os
import socket
import struct


def talk(server, data, *, wait=5.0, until=None):
    """Send bytes, and return what comes back until the other side closes, or is silent."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=wait) as link:
        answer = b""
        try:
            link.sendall(data)
            while until is None or until not in answer:
                part = link.recv(65536)
                if not part:
                    break
                answer += part
                if len(answer) > 200_000:
                    break
        except (TimeoutError, ConnectionError):
            pass
        return answer


def cookie(server):
    """Return the cookie that the printed address gives."""
    answer = talk(server, request(server, f"/?token={server.guard.token}"))
    assert answer.startswith(b"HTTP/1.1 200")
    (line,) = [line for line in answer.split(b"\r\n") if line.lower().startswith(b"set-cookie:")]
    return line.split(b":", 1)[1].split(b";")[0].strip().decode()


def request(server, path="/", method="GET", host=None, version="HTTP/1.1", **headers):
    lines = [f"{method} {path} {version}", f"Host: {host or f'127.0.0.1:{server.port}'}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def upgrade(server, path="/", host=None, **headers):
    key = base64.b64encode(os.urandom(16)).decode()
    return request(
        server,
        path,
        host=host,
        Connection="Upgrade",
        Upgrade="websocket",
        Sec_WebSocket_Version="13",
        Sec_WebSocket_Key=key,
        Sec_WebSocket_Protocol="viser-v1.1.1",
        **headers,
    )


def succeeded(answer):
    """Return whether somebody got the page, a WebSocket, or a cookie."""
    first = answer.split(b"\r\n", 1)[0]
    opened = first.startswith(b"HTTP/1.1 101")
    return opened or first.startswith((b"HTTP/1.1 2", b"HTTP/1.0 2")) or b"et-cookie" in answer.lower()


def origin(server):
    return f"http://127.0.0.1:{server.port}"


def frame(opcode, payload, fin=True, size=None):
    """Return a WebSocket frame of a client; `size` may lie."""
    length = len(payload) if size is None else size
    head = bytes([(0x80 if fin else 0) | opcode])
    if length < 126:
        head += bytes([0x80 | length])
    elif length < 65536:
        head += b"\xfe" + struct.pack(">H", length)
    else:
        head += b"\xff" + struct.pack(">Q", length)
    return head + b"\0\0\0\0" + payload
