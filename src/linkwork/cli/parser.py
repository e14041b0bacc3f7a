"""What can be typed: the commands and their options. Nothing else of Linkwork is imported here."""

import argparse
import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NoReturn

from linkwork.errors import unknown
from linkwork.version import __version__

# in the order in which help lists them
COMMANDS = ("demo", "run", "view", "mechanic", "check", "convert", "bench", "completion")

Commands = Any  # what argparse adds commands to


class Refused(SystemExit):
    """A command line that is not understood."""

    def __init__(self, text: str) -> None:
        super().__init__(2)
        self.text = text


class Parser(argparse.ArgumentParser):
    """A parser that reports mistakes in one line."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Let a command itself say that it does not know an option: it knows which there are."""
        self._given = [*(sys.argv[1:] if args is None else args)]
        found, extra = super().parse_known_args(args, namespace)
        if extra and " " in self.prog:
            self.error("unrecognized arguments: " + " ".join(extra))
        return found, extra

    def _unknown_option(self) -> str:
        """Return the complaint of an option that there is not: it may stand for one that is missing."""
        known = [word for action in self._actions for word in action.option_strings]
        options = [word.partition("=")[0] for word in getattr(self, "_given", ()) if word.startswith("--")]
        strange = [word for word in options if not any(each.startswith(word) for each in known)]
        return f"unrecognized arguments: {strange[0]}" if strange else ""

    def error(self, message: str) -> NoReturn:
        if found := re.search(r"argument COMMAND: invalid choice: '(.*?)'", message):
            message = unknown("command", found[1], COMMANDS)
        if message.startswith("the following arguments are required"):
            message = self._unknown_option() or message
        if found := re.match(r"unrecognized arguments: (--[\w-]+)", message):
            known = [word for action in self._actions for word in action.option_strings]
            message = unknown("option", found[1], known)
        text = f"{self.prog}: {message} (see {self.prog} --help)"
        self._print_message(text + "\n", sys.stderr)
        raise Refused(text)


def parser() -> Parser:
    """Return the parser of the whole command line."""
    root = Parser(
        prog="linkwork",
        description="Describe a mechanism in plain Python; simulate it as native code.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=f"linkwork {__version__}")
    commands = root.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    for name in COMMANDS:
        import_module(f"linkwork.cli.{name}").add(commands)
    return root


_EXAMPLES = """examples:
  linkwork demo                                   start a steam engine, and report
  linkwork demo --list                            what else there is to see
  linkwork demo four-bar --save fourbar.json      a mechanism to begin with
  linkwork run fourbar.json --for 10 --plot A     let it move, and draw what one joint does
  linkwork check fourbar.json                     what is in a file, and what is wrong with it
  linkwork COMMAND --help                         more on a command"""


def add_command(
    commands: Commands, name: str, summary: str, examples: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    """Return the parser of a new command, whose help ends with examples."""
    lines = "\n".join(f"  {line.strip()}" for line in examples.strip().splitlines())
    command = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"examples:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    return command


def add_robot_options(command: argparse.ArgumentParser) -> None:
    """Add what may be said about how a robot's file is read."""
    command.add_argument(
        "--base", choices=("fixed", "free"), help="how the root of a robot stands on ground (fixed)"
    )
    command.add_argument(
        "--repair", action="store_true", help="replace inertia tensors that no real body has, and say which"
    )
    command.add_argument(
        "--unphysical", action="store_true", help="keep inertia tensors that no real body has"
    )
