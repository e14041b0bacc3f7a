"""`linkwork convert`: a file in another form."""

import argparse
from pathlib import Path

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
    from linkwork.files import held, load
    from linkwork.formats.file_format import writer

    thing, target = load(options.source, options.base, repair=options.repair), Path(options.target)
    write = writer(target, held(thing)).write
    assert write is not None
    write(thing, target)
    print(f"{options.target}: {thing!r}")
    return 0
