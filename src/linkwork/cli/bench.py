"""`linkwork bench`: speed against the peers."""

import argparse
import sys

from linkwork.cli.parser import Commands, add_command


def add(commands: Commands) -> None:
    command = add_command(
        commands,
        "bench",
        "measure speed against the peers that are installed, in one run",
        """
        pip install linkwork[peers]
        linkwork bench
        linkwork bench --quick
        linkwork bench --markdown
        """,
        run,
    )
    command.add_argument("--quick", action="store_true", help="fewer repetitions")
    command.add_argument("--markdown", action="store_true", help="print the table of the README")


def run(options: argparse.Namespace) -> int:
    from linkwork import peer_speed

    return peer_speed.run(sys.stdout, quick=options.quick, markdown=options.markdown)
