"""The command line: `linkwork demo`, `linkwork check`, `linkwork bench`."""

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from linkwork.errors import AssemblyError, LinkworkError, NumericalError, SimulationError

SHOWN = 5  # mistakes that are told of an error of many lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 for a failed run, 2 for bad input."""
    options = _parser().parse_args(arguments)
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *where: _tell(f"warning: {message}")
        try:
            code = options.run(options)
            sys.stdout.flush()  # what cannot be written is found out here, not when Python ends
            return code
        except BrokenPipeError:  # who reads has seen enough, as in `linkwork demo | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except KeyboardInterrupt:
            _tell("interrupted")
            return 1
        except (AssemblyError, NumericalError, SimulationError) as error:
            _tell(_one_line(error))
            return 1
        except (LinkworkError, OSError, ValueError) as error:
            _tell(_one_line(error))
            return 2


def _tell(message: str) -> None:
    print(f"linkwork: {message}", file=sys.stderr)


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    first, *rest = (" ".join(line.split()) for line in str(error).splitlines() or [type(error).__name__])
    if not rest:
        return first
    more = [f"and {len(rest) - SHOWN} more"] if len(rest) > SHOWN else []
    return f"{first} {'; '.join(rest[:SHOWN] + more)}"


def _parser() -> argparse.ArgumentParser:
    from linkwork.version import __version__

    parser = argparse.ArgumentParser(
        prog="linkwork", description="Describe a mechanism in plain Python; simulate it as native code."
    )
    parser.add_argument("--version", action="version", version=f"linkwork {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="start a steam engine, and report")
    demo.set_defaults(run=_demo)

    check = commands.add_parser("check", help="read a mechanism file and say what is in it")
    check.add_argument("file", type=Path, help="a .urdf file")
    check.add_argument(
        "--base", choices=("fixed", "free"), default="fixed", help="how the root link stands on ground"
    )
    check.set_defaults(run=_check)

    view = commands.add_parser("view", help="show a mechanism or a recording in the browser")
    view.add_argument("file", type=Path, help="a .urdf or .lwr file")
    view.add_argument("--live", action="store_true", help="let a mechanism move, in real time")
    view.add_argument(
        "--host", default="127.0.0.1", help="the address to listen on, this machine unless told"
    )
    view.add_argument("--port", type=int, help="the port to listen on, a free one unless told")
    view.add_argument("--expose", action="store_true", help="allow a host that other machines can reach")
    view.add_argument("--no-browser", action="store_true", help="print the address, and open nothing")
    view.set_defaults(run=_view)

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


def _view(options: argparse.Namespace) -> int:
    from linkwork.files import load
    from linkwork.view import show

    show(
        load(options.file),
        live=options.live,
        host=options.host,
        port=options.port,
        expose=options.expose,
        open_browser=not options.no_browser,
        block=True,
    )
    return 0


def _bench(options: argparse.Namespace) -> int:
    from linkwork import bench

    return bench.run(sys.stdout, quick=options.quick)
