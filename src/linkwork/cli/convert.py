"""`linkwork convert`: a file in another form."""

import argparse
from pathlib import Path
from typing import Any

from linkwork.cli.parser import Commands, add_command, add_robot_options


def add(commands: Commands) -> None:
    command = add_command(
        commands,
        "convert",
        "write a mechanism as .json, or a run as a .csv table",
        """
        linkwork convert robot.urdf robot.json
        linkwork convert robot.urdf robot.json --base free --repair
        linkwork convert run.lwr run.csv
        """,
        run,
    )
    command.add_argument("source", help="a mechanism (.json, .urdf) or a run (.lwr)")
    command.add_argument("target", help="a file that ends in .json, or in .csv for a run")
    add_robot_options(command)


def run(options: argparse.Namespace) -> int:
    from linkwork.errors import FormatError
    from linkwork.files import load
    from linkwork.mechanism.mechanism import Mechanism

    thing = load(options.source, options.base, repair=options.repair)
    wanted = ".json" if isinstance(thing, Mechanism) else ".csv"
    if Path(options.target).suffix.lower() != wanted:
        what = "a mechanism" if wanted == ".json" else "a run"
        raise FormatError(f"{options.target}: {what} is written as {wanted}; give a name that ends so")
    if isinstance(thing, Mechanism):
        thing.save(options.target)
    else:
        write_table(thing, options.target)
    print(f"{options.target}: {thing!r}")
    return 0


def write_table(run: Any, path: str) -> None:
    """Write the curves of a run as a table, names and units in its first line."""
    import csv
    import io

    from linkwork.atomic import write_atomically
    from linkwork.errors import LinkworkError
    from linkwork.recording.batch import Recordings

    if isinstance(run, Recordings):
        raise LinkworkError("a batch of runs is not a table; take one of them in Python: lw.load(...)[0]")
    traces = run.traces()
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["time [s]", *(f"{trace.label} [{trace.unit or '1'}]" for trace in traces)])
    for k, t in enumerate(run.time):
        table.writerow([repr(float(t)), *(repr(float(trace.values[k])) for trace in traces)])
    write_atomically(path, [text.getvalue().encode()])
