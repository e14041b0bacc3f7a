"""`linkwork demo`: the gallery."""

import argparse
import sys
from pathlib import Path

from linkwork.cli.parser import Commands, add_command


def add(commands: Commands) -> None:
    command = add_command(
        commands,
        "demo",
        "show a mechanism of the gallery in motion; the steam engine unless named",
        """
        linkwork demo
        linkwork demo --list
        linkwork demo flipping-box --for 20
        linkwork demo jansen --save leg.json --out leg.lwr
        linkwork demo steam-engine --sound engine.wav
        """,
        run,
    )
    command.add_argument("name", nargs="?", default="steam-engine", help="one of `linkwork demo --list`")
    command.add_argument("--list", action="store_true", help="list the mechanisms of the gallery")
    command.add_argument("--for", dest="duration", type=float, metavar="SECONDS", help="how long it moves")
    command.add_argument("--out", metavar="FILE.lwr", help="keep the run")
    command.add_argument("--save", metavar="FILE.json", help="keep the mechanism")
    command.add_argument("--html", metavar="FILE", default="demo.html", help="the page that plays the run")
    command.add_argument("--sound", metavar="FILE.wav", help="what is heard of it")
    command.add_argument("--view", action="store_true", help="watch it in the browser")


def run(options: argparse.Namespace) -> int:
    from linkwork import demonstration

    if options.list:
        demonstration.print_list(sys.stdout)
        return 0
    page = Path(options.html) if options.html else None
    wav = Path(options.sound) if options.sound else None
    motion = demonstration.run(sys.stdout, options.name, options.duration, options.save, page, wav)
    if options.out:
        motion.save(options.out)
        print(f"\n{options.out}: the run; linkwork view {options.out}, or lw.load in Python")
    if options.view:
        from linkwork.cli.view import show

        show(motion)
    return 0
