"""After a crash everything is there again, but for the last edit at most."""

import os
import signal
import subprocess
import sys
import time

import linkwork as lw
from linkwork.mechanic import Editor
from linkwork.mechanic.autosave import draft_path, drafts


def test_a_session_that_is_killed_leaves_a_draft(tmp_path):
    code = f"""
import time, linkwork as lw
from pathlib import Path
from linkwork.mechanic import Editor
from linkwork.mechanic.autosave import draft_path
editor = Editor(autosave=draft_path(Path({str(tmp_path)!r})))
for k in range(1000):
    editor.add_shape(lw.Box(0.1, 0.1, 0.1), f"part {{k}}")
    print(k, flush=True)
    time.sleep(0.4)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    last = [process.stdout.readline() for _ in range(4)][-1]
    assert drafts(tmp_path) == []  # it is alive
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    (draft,) = drafts(tmp_path)
    editor = Editor()
    editor.open_text(draft.read_bytes())
    assert len(editor.mechanism.bodies) >= int(last)


def test_what_is_closed_leaves_nothing_unless_it_is_to_be_kept(tmp_path):
    for keep in (False, True):
        path = draft_path(tmp_path)
        editor = Editor(autosave=path)
        editor.add_shape(lw.Box(1, 1, 1))
        end = time.monotonic() + 20
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.02)
        editor.close(keep_draft=keep)
        assert path.exists() is keep
