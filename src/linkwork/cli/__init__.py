"""The command line: one file per command, imported when it runs, so that it starts at once.

Exit codes: 0 all is well, 1 a run that failed, 2 bad input, 130 interrupted with Ctrl-C. What is wrong is
reported in one line on standard error.
"""

import json
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from linkwork.cli.parser import Refused, parser
from linkwork.errors import AssemblyError, LinkworkError, NumericalError, SimulationError

SHOWN = 5  # mistakes that are shown of an error of many lines
FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        options = parser().parse_args(arguments)
    except Refused as refused:
        if "--json" in given:
            print_json({"ok": False, "mistakes": [refused.text]})
        raise
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *where: print_error(f"warning: {message}")
        try:
            code = options.run(options)
            sys.stdout.flush()  # what cannot be written is found out here, not when Python ends
            return code
        except BrokenPipeError:  # who reads has seen enough, as in `linkwork demo | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except KeyboardInterrupt:
            print_error("interrupted")
            return INTERRUPTED
        except (LinkworkError, OSError, ValueError, KeyError) as error:
            print_error(one_line(error))
            if getattr(options, "json", False):
                print_json({"ok": False, "mistakes": [one_line(error)]})
            failed = isinstance(error, AssemblyError | NumericalError | SimulationError)
            return FAILED if failed else BAD_INPUT


def print_json(data: Any) -> None:
    """Print a result for programs; what is not finite is null, which JSON has."""
    print(json.dumps(_plain(data), indent=2, allow_nan=False))


def _plain(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {str(word): _plain(value) for word, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    return None if isinstance(data, float) and not isfinite(data) else data


def print_error(message: str) -> None:
    """Say something that is no result."""
    print(f"linkwork: {message}", file=sys.stderr)


def one_line(error: Exception) -> str:
    """Return what an error says in one line, and of a long list the first few."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    first, *rest = (" ".join(line.split()) for line in text.splitlines() or [type(error).__name__])
    if not rest:
        return first
    more = [f"and {len(rest) - SHOWN} more"] if len(rest) > SHOWN else []
    return f"{first} {'; '.join(rest[:SHOWN] + more)}"
