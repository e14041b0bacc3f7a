"""After a crash everything is there again, but for the last edit at most."""

import signal
import subprocess
import sys
import time

import linkwork as lw
from linkwork.mechanic import Editor
from linkwork.mechanic.autosave import draft_path, drafts


def test_a_session_that_is_killed_in_mid_edit_loses_the_last_edit_at_most(tmp_path):
    """Edits come as fast as they can; each is of a body and its joint, and none is kept by half."""
    code = f"""
import os, linkwork as lw
from pathlib import Path
from linkwork.mechanic import Editor
from linkwork.mechanic.autosave import draft_path
editor = Editor(autosave=draft_path(Path({str(tmp_path)!r})))
for k in range(12):
    with editor._edit("both"):
        name = editor.add_shape(lw.Box(0.1, 0.1, 0.1), f"part {{k}}")
        if k == 11:
            os.kill(os.getpid(), 9)
        editor.join("Revolute", "ground", name, (0, 0, 0), name=f"joint {{k}}")
    print(k, flush=True)
    if k == 5:
        input()
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert [process.stdout.readline() for _ in range(6)][-1] == "5\n"
    assert drafts(tmp_path) == []  # it is alive
    out, _ = process.communicate("\n")
    assert process.returncode == -signal.SIGKILL
    last = int(out.split()[-1])
    assert last == 10
    (draft,) = drafts(tmp_path)
    editor = Editor()
    editor.open_text(draft.read_bytes())
    kept = len(editor.mechanism.bodies)
    assert kept >= last  # bodies 0 to last - 1, and maybe the one of the last edit
    assert set(editor.mechanism.joints) == {f"joint {k}" for k in range(kept)}


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
