"""Messages that no page of ours sends: none changes the mechanism, and the page goes on."""

import socket
import tempfile
import time
from pathlib import Path

import msgspec
import pytest
from raw_requests import cookie, frame, origin, request, succeeded, talk, upgrade

import linkwork as lw
from linkwork.errors import LinkworkError

BAD = "<img src=x onerror=alert(1)>"


def starts(upload):
    """Return announcements of files that are not to be taken."""
    for size, parts in (
        (-1, 1),
        (1 << 40, 1),
        (1 << 40, 1 << 40),
        (10, 1 << 40),
        (10, -1),
        (0, 0),
        (2**63, 2),
        (65 << 20, 99),
    ):
        yield {
            "type": "FileTransferStartUpload",
            "source_component_uuid": upload,
            "transfer_uuid": f"t{size}-{parts}",
            "filename": "../../part.stl",
            "mime_type": "model/stl",
            "part_count": parts,
            "size_bytes": size,
        }


def pieces(upload):
    """Return pieces of files that nobody has announced, or that do not fit."""
    for number in (-1, 0, 1, 1 << 40):
        for content in (b"", b"solid", b"\0" * 70_000):
            yield {
                "type": "FileTransferPart",
                "source_component_uuid": upload,
                "transfer_uuid": f"none {number}",
                "part_index": number,
                "content": content,
            }


def words():
    """Return what a page could say by clicks, and never does."""
    for do in (
        [],
        ["fix"],
        ["fix", "-1"],
        ["fix", "99"],
        ["fix", "0", "0"],
        ["fix", 0],
        ["select", "x" * 10_000],
        ["select", BAD],
        ["hide", BAD],
        ["isolate", BAD],
        ["plot", BAD],
        ["delete", "part"],
        ["exec", "1"],
        ["select"],
        ["plot", "../../etc/passwd"],
        "fix",
        None,
        {"do": 1},
        [["fix"]],
        ["", ""],
        ["undo"] * 9,
    ):
        yield {"type": "GuiUpdateMessage", "uuid": "linkwork", "updates": {"do": do}}
    yield {"type": "GuiUpdateMessage", "uuid": "linkwork", "updates": [1]}


def values(page):
    """Return values that fields cannot have."""
    for widget in (page.bodies_tab._place, page.bodies_tab._mass, page.files._size, page.joints_tab._kind):
        for value in ("x", [1], None, {"a": 1}, [float("nan")] * 3, BAD, float("inf")):
            yield {"type": "GuiUpdateMessage", "uuid": widget._impl.uuid, "updates": {"value": value}}
    yield {
        "type": "GuiUpdateMessage",
        "uuid": page.bodies_tab._call._impl.uuid,
        "updates": {"visible": False},
    }
    yield {"type": "GuiUpdateMessage", "uuid": page.bodies_tab._call._impl.uuid, "updates": {"_impl": 1}}


def strangers(server):
    """Return requests of those who have no cookie, a wrong one, or come from elsewhere."""
    own, good = origin(server), cookie(server)
    wrong = good.rsplit("=", 1)[0] + "=" + "A" * 43
    for path in (
        "/",
        "/index.html",
        "/?token=",
        "/?token=" + "A" * 43,
        "/../../etc/passwd",
        "/mechanism.json",
    ):
        yield request(server, path)
        yield request(server, path, Cookie=wrong)
        yield request(server, path, host="evil.example", Cookie=good)
        yield request(server, path, method="POST", Cookie=good)
        yield upgrade(server, path, Origin=own)
        yield upgrade(server, path, Origin=own, Cookie=wrong)
        yield upgrade(server, path, Origin="http://evil.example", Cookie=good)


def test_strangers_get_nothing_from_the_mechanic(page):
    page.editor.add_shape(lw.Box(0.1, 0.1, 0.1), "part")
    before = page.editor.text()
    answers = [talk(page.server, data, wait=2.0, until=b"\r\n\r\n") for data in strangers(page.server)]
    assert len(answers) == 42
    assert not any(map(succeeded, answers))
    assert page.editor.text() == before


def test_a_description_that_was_sent_reads_no_file_of_this_machine(page):
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    with tempfile.TemporaryDirectory() as beside:
        path = Path(beside, "secret.obj")
        path.write_text(corners + "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
        for named in (str(path), f"file://{path}", f"../{path.parent.name}/secret.obj", "../secret.obj"):
            robot = f'<robot name="x"><link name="a"><visual><geometry><mesh filename="{named}"/>'
            page.editor.open(lw.Mechanism("empty"))
            with pytest.warns(UserWarning, match="not drawn"):
                page.editor.add_sent("x.urdf", f"{robot}</geometry></visual></link></robot>".encode())
            with pytest.warns(UserWarning, match="not drawn"):
                pieces = page.drawn().drawing.pieces
            assert not any(len(piece.shell.corners) == 4 for piece in pieces)


def test_an_mjcf_file_that_was_sent_is_opened_and_reads_no_file_of_this_machine(page):
    model = (
        '<mujoco model="arm"><worldbody><body name="arm"><joint name="pin" axis="0 1 0"/>'
        '<geom type="box" size="0.1 0.02 0.02" contype="0" conaffinity="0"/></body></worldbody></mujoco>'
    )
    page.editor.add_sent("arm.xml", model.encode())
    assert list(page.editor.mechanism.bodies) == ["arm"]
    with tempfile.TemporaryDirectory() as beside:
        path = Path(beside, "secret.xml")
        path.write_text(model)
        before = page.editor.text()
        page.editor.open(lw.Mechanism("empty"))
        for named in (str(path), f"../{path.parent.name}/secret.xml"):
            with pytest.raises(LinkworkError):
                page.editor.add_sent("x.xml", f'<mujoco><include file="{named}"/></mujoco>'.encode())
            assert not page.editor.mechanism.bodies
        page.editor.undo()
        assert page.editor.text() == before


def test_messages_that_no_page_sends_change_nothing(page, capfd):
    page.editor.add_shape(lw.Box(0.1, 0.1, 0.1), BAD)
    page.show_and_select(BAD)
    before, server = page.editor.text(), page.server
    upload = page.files._upload._impl.uuid
    hostile = [*starts(upload), *pieces(upload), *words(), *values(page)]
    assert len(hostile) > 70
    for message in hostile:
        with socket.create_connection(("127.0.0.1", server.port), timeout=3.0) as link:
            link.sendall(upgrade(server, Origin=origin(server), Cookie=cookie(server)))
            link.recv(4096)
            link.sendall(frame(2, msgspec.msgpack.encode(message)))
            time.sleep(0.01)
    time.sleep(0.3)
    assert page.editor.text() == before
    assert not server.gui._current_file_upload_states
    assert succeeded(talk(server, request(server, Cookie=cookie(server))))  # others go on
    assert BAD not in page.tree._rows_shown.content  # a name is shown as a name
    capfd.readouterr()
