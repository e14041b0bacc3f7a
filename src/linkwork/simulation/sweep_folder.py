"""The folder of a sweep: one file per case, named by a digest of all that it depends on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import FormatError
from linkwork.fingerprint import digest, spelled, spelled_code
from linkwork.recording import array_file
from linkwork.simulation.case_outcome import CaseOutcome
from linkwork.simulation.sweep_cases import Case, plain_value


class Store:
    """Outcomes on disk, one file per case; equal cases write equal files, so sweeps may share a folder."""

    def __init__(
        self, folder: Path, build: Callable[..., Any], measure: Callable[..., Any], options: dict[str, Any]
    ) -> None:
        from linkwork.version import __version__

        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        plain = {name: plain_value(name, x) for name, x in options.items()}
        self._common = digest([__version__, spelled_code(build), spelled_code(measure), spelled(plain)])

    def _key(self, case: Case) -> str:
        return digest([self._common, spelled(case)])

    def load(self, case: Case) -> CaseOutcome | None:
        """Return what is known of a case; None if there is no file, or one that is damaged or of another."""
        key = self._key(case)
        try:
            header, arrays = array_file.read(self._folder / f"{key}.case")
        except FormatError:
            return None
        match header:
            case {
                "key": str(found),
                "status": "done" | "failed" as status,
                "message": str(message),
                "columns": list(columns),
            } if found == key and arrays.keys() == {"values"} and arrays["values"].shape == (len(columns),):
                return CaseOutcome(status, message, dict(zip(columns, arrays["values"].tolist())))
        return None

    def save(self, case: Case, outcome: CaseOutcome) -> None:
        key = self._key(case)
        header = {
            "key": key,
            "case": case,
            "status": outcome.status,
            "message": outcome.message,
            "columns": list(outcome.values),
        }
        values = np.array(list(outcome.values.values()), dtype=float)
        array_file.write(self._folder / f"{key}.case", header, {"values": values})
