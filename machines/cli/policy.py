"""`statecraft policy`: the policy in force, as TOML."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ..policy import DEFAULT
from ..policy_file import policy_toml, read_policy


def policy(
    file: Annotated[Path | None, Parameter(help="A policy file; without one, the default policy.")] = None, /
) -> int:
    """Print the policy in force as TOML: every threshold, and what it is.

    What a file leaves out has its default. A limit that is switched off is written "unlimited". What is printed can be
    read again.

    Examples:
        statecraft policy > mine.toml
        statecraft policy mine.toml
    """
    sys.stdout.write(policy_toml(DEFAULT if file is None else read_policy(file)))
    return 0
