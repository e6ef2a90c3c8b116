"""`statecraft policy`: the policy in force, as TOML, and the policies that ship with the project."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from statecraft.cli import BadInput
from statecraft.cli.verbs import FLAG

from ..policy import DEFAULT
from ..policy_file import policy_toml, read_policy
from ..policy_shipped import head_of, name_in, names, title_of


def policy(
    file: Annotated[
        Path | None, Parameter(help="A policy file, or the name of one that ships; without one, the default policy.")
    ] = None,
    /,
    *,
    list: Annotated[bool, FLAG, Parameter(help="List the policies that ship, by name.")] = False,  # the option's name
) -> int:
    """Print the policy in force as TOML: every threshold, and what it is.

    What a file leaves out has its default. A limit that is switched off is written "unlimited". What is printed can be
    read again. A policy that ships is meant by its name where there is no such file; every --policy takes it too.

    Examples:
        statecraft policy > mine.toml
        statecraft policy mine.toml
        statecraft policy --list
        statecraft policy first-match
    """
    if list:
        if file is not None:
            raise BadInput(f"policy: found {file} beside --list, expected one of them")
        wide = max(map(len, names()))
        sys.stdout.write("".join(f"{name:<{wide}}  {title_of(name)}\n" for name in names()))
        return 0
    name = None if file is None else name_in(file)
    head = "" if name is None else f"{head_of(name)}\n"
    sys.stdout.write(head + policy_toml(DEFAULT if file is None else read_policy(file)))
    return 0
