"""The lane that checks bounds: an index out of range ends the process, where otherwise nobody notices."""

import os
import signal
import subprocess
import sys

LOOP = """
import numpy as np
from linkwork.native.numba_functions import entry, native

@native
def _at(x, k):
    return x[k]

@entry("float64", "float64[::1]", "int64")
def at(x, k):
    return _at(x, k)

print(at(np.arange(6.0)[:3], 2), flush=True)
print(at(np.arange(6.0)[:3], 4))
"""


def test_an_index_out_of_range_ends_the_process(tmp_path):
    (tmp_path / "loop.py").write_text(LOOP, encoding="utf-8")
    environment = os.environ | {"LINKWORK_CHECKED": "1", "LINKWORK_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "loop.py"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == -signal.SIGILL, done.stderr
    assert done.stdout == "2.0\n"
