"""`linkwork view`: the browser."""

import argparse
from importlib import import_module
from importlib.util import find_spec
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
        """,
        run,
    )
    command.add_argument("file", help="a mechanism (.json, .urdf) or a run (.lwr)")
    add_robot_options(command)


def run(options: argparse.Namespace) -> int:
    from linkwork.files import load

    show(load(options.file, options.base, repair=options.repair))
    return 0


def show(thing: Any) -> None:
    """Open a mechanism or a run in the browser."""
    if find_spec("linkwork.view") is None:
        from linkwork.errors import LinkworkError

        raise LinkworkError("this version has no viewer yet; `linkwork run FILE --plot NAME` draws curves")
    import_module("linkwork.view").show(thing)
