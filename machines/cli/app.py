"""The command line as a value: which verbs there are, and which exceptions mean bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from cyclopts import App

from statecraft import __version__
from statecraft.cli import add, add_verbs
from statecraft.journal import JournalError

from ..policy_file import BadPolicy, read_policy
from ..state import Run, under
from ..traces.bad_trace import BadTrace
from .audit import audit
from .demo import demo
from .detectors import detectors
from .pathing import traces_of
from .policy import policy
from .run import resume, run
from .waiting import answer, waiting

BAD: Final = (BadTrace, BadPolicy, JournalError)

HELP = """State machines whose runs end for a reason that can be read, replayed and proved.

Each command has a help of its own, with examples: statecraft COMMAND --help.

Exit codes: 0 done, 1 what was asked for was found, 2 bad input, 3 put down and waiting, 70 a fault of the program
itself."""


def application() -> App:
    """The console script's application."""
    app = App(name="statecraft", help=HELP, version=__version__, help_format="plaintext")
    add(app, audit, "audit")
    add(app, demo, "demo")
    add(app, detectors, "detectors")
    add(app, policy, "policy")
    add(app, run, "run")
    add(app, resume, "resume")
    add(app, waiting, "waiting")
    add(app, answer, "answer")
    add_verbs(
        app,
        journaled={"run": "machines.journaled:AGENT_RUN"},
        tables="machines",
        folder="diagrams",
        policies={"run": _under},
        tracers={"run": traces_of},
    )
    return app


def _under(file: Path, run: Run) -> Run:
    """A recorded run's beginning under the policy that it had, changed by a file."""
    return under(run, read_policy(file, run.policy))
