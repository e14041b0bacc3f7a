"""The table of a sweep: a row per case, with its parameters and its numbers."""

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.atomic_files import write_atomically
from linkwork.errors import unknown
from linkwork.recording.samples import optional
from linkwork.simulation.case_outcome import CaseOutcome
from linkwork.simulation.sweep_cases import RESERVED, Case
from linkwork.spelling import Computed

_SHOWN = 12  # rows in the text of a table


class Table(Computed):
    """The outcome of a sweep: `table["period"]` is a column; `table.rows` are in the order of the cases."""

    columns: tuple[str, ...]  # the parameters, the measures, and what became of the case
    rows: list[dict[str, Any]]

    def __init__(self, cases: Sequence[Case], outcomes: Sequence[CaseOutcome]) -> None:
        measures = dict.fromkeys(name for outcome in outcomes for name in outcome.values)
        self.columns = (*cases[0], *measures, *RESERVED)
        self.rows = [
            {
                **case,
                **{name: outcome.values.get(name, math.nan) for name in measures},
                "status": outcome.status,
                "message": outcome.message,
            }
            for case, outcome in zip(cases, outcomes, strict=True)
        ]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> np.ndarray:
        if column not in self.columns:
            raise KeyError(unknown("column", column, self.columns))
        return np.array([row[column] for row in self.rows])

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The rows of cases that failed."""
        return [row for row in self.rows if row["status"] == "failed"]

    def __repr__(self) -> str:
        counts = f"Table: {len(self)} case{'' if len(self) == 1 else 's'}, {len(self.failed)} failed"
        shown = [list(self.columns)] + [
            [_cell(row[name]) for name in self.columns] for row in self.rows[:_SHOWN]
        ]
        widths = [max(len(line[k]) for line in shown) for k in range(len(self.columns))]
        lines = ["  ".join(word.rjust(width) for word, width in zip(line, widths)).rstrip() for line in shown]
        more = [f"... {len(self) - _SHOWN} more"] if len(self) > _SHOWN else []
        return "\n".join([counts, *lines, *more])

    def to_dataframe(self) -> Any:
        """Return a pandas.DataFrame with a row per case."""
        return optional("pandas", "export").DataFrame(self.rows, columns=list(self.columns))

    def save_csv(self, path: str | Path) -> None:
        """Write the table as comma-separated values, all or nothing; numbers are read back as they were."""
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        write_atomically(path, [text.getvalue().encode(errors="backslashreplace")])


def _cell(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
