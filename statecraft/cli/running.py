"""How a command line runs: what went wrong in one line on standard error, and the exit code.

0: done. 1: what was asked for was found (a stale diagram, a broken journal, a verdict that `--fail-on` names). 2: bad
input, or a place that cannot be written to. 70: a fault of the program itself (EX_SOFTWARE of sysexits.h), so that
nobody takes it for something found. A reader that goes away (`| head`) ends the program without a word and with 141, so
that no verdict is taken for given; an interrupt ends it with 130, as shells expect.
"""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from cyclopts import App, CycloptsError

from .. import BadTable
from ..codec import BadData
from .usage import usage

FAULT = 70
UNREAD = 141  # 128 + SIGPIPE
TRACEBACK = "STATECRAFT_TRACEBACK"
"""Set in the environment, it shows where a fault of the program happened."""


class BadInput(Exception):
    """Something given is wrong: the message says what, where, and what was expected, a line for each."""


Known = type[Exception]


def run(app: App, argv: Sequence[str] | None = None, *, bad: tuple[Known, ...] = ()) -> int:
    """Run the command line; `bad` lists further exceptions that mean bad input. Answers the exit code."""
    if not _streams():
        return _bad("standard output: is closed; expected a place to write to")
    # A dash alone is standard input, which the parser would take for an option without a name.
    words = [f"./{word}" if word == "-" else word for word in (sys.argv[1:] if argv is None else argv)]
    try:
        found = app(words, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except CycloptsError as error:
        return _bad(usage(error, app.name[0]))
    except BrokenPipeError:
        _no_more_output()
        return UNREAD
    except SystemExit as error:
        # What prints the help, and what runs the verb, each turn one of these two into an end of their own.
        if isinstance(error.__context__, BrokenPipeError):
            return UNREAD
        if isinstance(error.__context__, KeyboardInterrupt):
            return _interrupted()
        raise
    except OSError as error:
        _no_more_output()
        return _bad(str(error) if isinstance(error, bad) else _of_system(error))
    except KeyboardInterrupt:
        return _interrupted()
    except Exception as error:  # noqa: BLE001 - the last place in which a fault can be told in one line
        return _bad(str(error)) if isinstance(error, (BadInput, BadTable, BadData, *bad)) else _fault(error)
    return found if isinstance(found, int) else 0


def complain(problem: str) -> None:
    """One problem, on standard error, in one line."""
    sys.stderr.write(f"statecraft: {harmless(problem)}\n")


def harmless(text: str) -> str:
    """The text in one line, without what moves a terminal's cursor or changes its colours."""
    return text.translate(_CONTROLS)


# Controls; and what turns the direction of a line, or ends one, without being a control.
_TURNS = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = (
    {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
    | {code: f"\\u{code:04x}" for code in _TURNS}
    | {10: " ", 13: " ", 9: " "}
)


def _interrupted() -> int:
    sys.stderr.write("interrupted\n")
    return 130


def _bad(problem: str) -> int:
    for line in problem.splitlines():
        complain(line)
    return 2


def _of_system(error: OSError) -> str:
    """What the system refused; an error of writing names no file."""
    return f"{error.filename or 'output'}: {error.strerror or error}"


def _fault(error: Exception) -> int:
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    said = " ".join(f"{type(error).__name__}: {error}".split())
    complain(f"a fault of the program itself, {said}; {TRACEBACK}=1 in the environment shows where")
    return FAULT


def _streams() -> bool:
    """See to it that whatever is written can be; False where there is no standard output (`>&-`)."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open as long as the program runs
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a recording may name anything, lone surrogates too
    return sys.stdout is not None


def _no_more_output() -> None:
    """Python flushes standard output once more when it ends, and would fail there again."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
