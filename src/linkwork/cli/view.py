"""`linkwork view`: the browser."""

import argparse
from typing import Any

from linkwork.cli.parser import Commands, add_command, add_robot_options


def add(commands: Commands) -> None:
    command = add_command(
        commands,
        "view",
        "look at a mechanism, or play a run, in the browser",
        """
        linkwork view engine.json
        linkwork view run.lwr
        linkwork view robot.urdf --base free
        linkwork view part.stl
        """,
        run,
    )
    command.add_argument(
        "file", help="a mechanism (.json, .urdf, .xml), a run (.lwr) or a mesh (.stl, .obj, ...)"
    )
    add_robot_options(command)
    command.add_argument("--live", action="store_true", help="let a mechanism move, in real time")
    command.add_argument(
        "--host",
        default="127.0.0.1",
        help="the address to listen on (default: this machine)",
    )
    command.add_argument("--port", type=int, help="the port to listen on (default: a free one)")
    command.add_argument("--expose", action="store_true", help="allow a host that other machines can reach")
    command.add_argument("--no-browser", action="store_true", help="print the address, and open nothing")


def run(options: argparse.Namespace) -> int:
    from linkwork.files import load

    show(
        load(options.file, options.base, repair=options.repair, unphysical=options.unphysical),
        live=options.live,
        host=options.host,
        port=options.port,
        expose=options.expose,
        open_browser=not options.no_browser,
    )
    return 0


def show(thing: Any, **options: Any) -> None:
    """Open a mechanism or a run in the browser, until Ctrl-C."""
    from linkwork import view

    view.show(thing, block=True, **options)
