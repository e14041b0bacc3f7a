"""A browser is led to the page by a private file: no secret stands on its command line."""

import os
import stat
import time
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import linkwork as lw
from linkwork.view.page_access import Doorway

URL = "http://127.0.0.1:8470/?token=a-b_c&x=<y>"


def path_of(address: str) -> Path:
    return Path(url2pathname(urlsplit(address).path))


def test_only_its_owner_can_read_it():
    door = Doorway(URL)
    path = path_of(door.address)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.stat().st_uid == os.getuid()
    text = path.read_text()
    assert "url=http://127.0.0.1:8470/?token=a-b_c&amp;x=&lt;y&gt;" in text
    assert "<y>" not in text
    door.close()
    assert not path.parent.exists()


def test_the_mask_of_the_user_does_not_open_it():
    before = os.umask(0)
    try:
        door = Doorway(URL)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path_of(door.address).stat().st_mode) == 0o600
    door.close()


def test_the_browser_is_not_told_the_secret(tmp_path, monkeypatch):
    """With a browser that writes down what it was called with."""
    said, browser = tmp_path / "said", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\ntr "\\0" " " < /proc/$$/cmdline > {said}.part\nmv {said}.part {said}\n')
    browser.chmod(0o700)
    import webbrowser

    monkeypatch.setattr(webbrowser, "_tryorder", None)  # it is chosen once in a process
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    with lw.examples.cart_pole().compile().show(block=False) as viewer:
        for _ in range(200):
            if said.exists():
                break
            time.sleep(0.05)
        called = said.read_text()
        assert viewer.server.guard.token not in called
        (address,) = [word for word in called.split() if word.startswith("file:")]
        door = path_of(address)
        assert viewer.url in door.read_text()
    assert not door.exists()
