"""A wheel carries native code compiled ahead; for an editable install `make` compiles it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class AheadHook(BuildHookInterface):
    """Compiles loops and usual kernels before the files of a wheel are gathered."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        source = Path(self.root) / "src"
        subprocess.run(
            [sys.executable, "-m", "linkwork.ahead", "--for-a-wheel"],
            env={**os.environ, "PYTHONPATH": str(source), "LINKWORK_CACHE": ""},
            check=True,
        )
