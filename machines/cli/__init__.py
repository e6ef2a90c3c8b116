"""The console script: the verbs of an agent's machines, and the framework's own, on one command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run `statecraft`; answers the exit code. Imports what a verb needs only when that verb is run."""
    try:
        from statecraft.cli import run

        from .app import BAD, application
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
    return run(application(), argv, bad=BAD)
