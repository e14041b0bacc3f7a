"""`linkwork convert`: a file in another form."""

import argparse
from pathlib import Path

from linkwork.cli.parser import Commands, add_command, add_robot_options


def add(commands: Commands) -> None:
    command = add_command(
        commands,
        "convert",
        "write a mechanism as .json, .urdf or .xml (MJCF), or a run as a .csv table",
        """
        linkwork convert robot.urdf robot.json
        linkwork convert robot.urdf robot.json --base free --repair
        linkwork convert scene.xml scene.json
        linkwork convert robot.sdf robot.urdf
        linkwork convert run.lwr run.csv --degrees
        """,
        run,
    )
    command.add_argument("source", help="a mechanism (.json, .urdf, .sdf, .xml) or a run (.lwr)")
    command.add_argument("target", help="a file that ends in .json, .urdf, .xml or .mjcf; in .csv for a run")
    command.add_argument("--degrees", action="store_true", help="angles of a .csv table in degrees")
    add_robot_options(command)


def run(options: argparse.Namespace) -> int:
    from linkwork.errors import LinkworkError
    from linkwork.files import held, load
    from linkwork.formats.file_format import writer
    from linkwork.recording.run_table import write_table

    thing = load(options.source, options.base, repair=options.repair, unphysical=options.unphysical)
    target = Path(options.target)
    if options.degrees:
        if target.suffix.lower() != ".csv" or held(thing) != "run":
            raise LinkworkError(
                f"--degrees is for runs as .csv tables, not for {options.target}; leave it out"
            )
        write_table(thing, target, degrees=True)
    else:
        write = writer(target, held(thing)).write
        assert write is not None
        write(thing, target)
    print(f"{options.target}: {thing!r}")
    return 0
