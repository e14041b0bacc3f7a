"""The command line: `linkwork demo`, `linkwork check`, `linkwork bench`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from linkwork.errors import LinkworkError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 for a failed run, 2 for bad input."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (LinkworkError, OSError, ValueError) as error:
        print(f"linkwork: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("linkwork: interrupted", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    from linkwork import __version__

    parser = argparse.ArgumentParser(
        prog="linkwork", description="Describe a mechanism in plain Python; simulate it as native code."
    )
    parser.add_argument("--version", action="version", version=f"linkwork {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="let an acrobat swing from a bar, and report")
    demo.set_defaults(run=_demo)

    check = commands.add_parser("check", help="read a mechanism file and say what is in it")
    check.add_argument("file", type=Path, help="a .urdf file")
    check.add_argument(
        "--base", choices=("fixed", "free"), default="fixed", help="how the root link stands on ground"
    )
    check.set_defaults(run=_check)

    bench = commands.add_parser(
        "bench", help="measure speed against the peers that are installed, in one run"
    )
    bench.add_argument("--quick", action="store_true", help="fewer repetitions")
    bench.set_defaults(run=_bench)
    return parser


def _demo(options: argparse.Namespace) -> int:
    from linkwork import demo

    demo.run(sys.stdout)
    return 0


def _check(options: argparse.Namespace) -> int:
    from linkwork.formats import load

    mechanism = load(options.file, base=options.base)
    model = mechanism.compile()
    print(mechanism.summary())
    print(f"a tree of {len(model.body_names)} bodies, nq = {model.nq}, nv = {model.nv}")
    return 0


def _bench(options: argparse.Namespace) -> int:
    from linkwork import bench

    return bench.run(sys.stdout, quick=options.quick)
