"""A sample of the seeded bugs: wrong formulas are found. `benchmarks/seeded_bugs.py` has all of them."""

import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "seeded_bugs.py"
PACKAGE = BENCHMARK.parents[1] / "src" / "linkwork"


def run(*options: str) -> str:
    command = [sys.executable, str(BENCHMARK), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_there_are_enough_and_all_are_in_the_formulas():
    lines = run("--list").splitlines()
    assert len(lines) >= 60
    assert len(set(lines)) == len(lines)
    for line in lines:
        place, old, _ = line.split(None, 1)[1].partition(": ")[0], *line.split(": ", 1)[1].split(" -> ")
        text = (PACKAGE / place).read_text(encoding="utf-8")
        assert old[1:-1].encode().decode("unicode_escape") in text, line


def test_a_composite_without_what_hangs_on_it_is_noticed():
    said = run("--only", "parent.Ic += link.X")
    assert "1 of 1 seeded bugs are caught, 100.0 %" in said, said
