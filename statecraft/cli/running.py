"""How a command line runs: what went wrong in one line on standard error, and the exit code.

0: done. 1: what was asked for was found (a stale diagram, a broken journal, a verdict that `--fail-on` names). 2: bad
input. A reader that goes away (`| head`) ends the program quietly; an interrupt ends it with 130, as shells expect.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError

from .. import BadTable
from ..codec import BadData


class BadInput(Exception):
    """Something given is wrong: the message says what, where, and what was expected, in one line."""


Known = type[Exception]


def run(app: App, argv: Sequence[str] | None = None, *, bad: tuple[Known, ...] = ()) -> int:
    """Run the command line; `bad` lists further exceptions that mean bad input. Answers the exit code."""
    try:
        found = app(argv, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except CycloptsError as error:
        return _bad(f"{_one_line(error)}; see {app.name[0]} --help")
    except BrokenPipeError:
        # Python flushes standard output once more when it ends; there is nobody left to read it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if isinstance(error, bad):
            return _bad(str(error))
        return _bad(f"{error.filename or 'input'}: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    except Exception as error:
        if isinstance(error, (BadInput, BadTable, BadData, *bad)):
            return _bad(str(error))
        raise
    return found if isinstance(found, int) else 0


def complain(problem: str) -> None:
    """One problem, on standard error, in one line."""
    sys.stderr.write(f"statecraft: {' '.join(problem.split(chr(10)))}\n")


def _bad(problem: str) -> int:
    for line in problem.splitlines():
        complain(line)
    return 2


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
