"""What the verbs that judge recordings share: the policy of a file, and every run of what is given, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import attrs
from rich.console import Console
from rich.progress import Progress

from statecraft.cli import BadInput
from statecraft.cli.running import complain
from statecraft.codec import BadData
from statecraft.journal import JournalError

from ..policy import DEFAULT, Policy
from ..policy_file import keys_of, read_policy
from ..traces.bad_trace import BadTrace
from ..traces.formats import FORMATS, open_trace
from ..traces.recorded import Recorded
from .inputs import Bad, Input

OF_THE_RECORDING: Final = ("turns", "seconds", "tokens", "usd", "calls_per_turn", "reply_tokens", "unbounded")
"""Keys of a policy's budget that a recorded run does not take from a policy."""


def rule_of(file: Path | None) -> Policy:
    """The policy of a file, or the default; whoever sets a budget is told that no recorded run is judged by that."""
    if file is None:
        return DEFAULT
    policy = read_policy(file)
    unused = [key for key in keys_of(file) if key.partition("budget.")[2] in OF_THE_RECORDING]
    if unused:
        complain(f"{file}: {', '.join(unused)}: not used, as a recorded run is judged by its own budget or by none")
    return policy


def check_format(name: str | None) -> None:
    """Raise `BadInput` where no format has this name."""
    if name is not None and name not in FORMATS:
        raise BadInput(f"--format {name}: no such format; expected one of {', '.join(FORMATS)}")


def bad_of(paths: Iterable[Path]) -> Bad:
    """Nothing is bad yet of what is given."""
    given = list(paths)
    return Bad(several=len(given) > 1 or any(path.is_dir() for path in given))


def for_each_run(given: list[Input], format: str | None, bad: Bad, work: Callable[[Recorded], None]) -> None:
    """Do `work` on every run that was recorded. What cannot be read is told, and the others are still worked on."""
    for one in _shown(given):
        try:
            for recorded in open_trace(one.path, format):
                work(attrs.evolve(recorded, file=one.name))
        except BadTrace as error:
            bad.trace(one, error)
        except (JournalError, BadData) as error:  # of this run's journal
            bad.say(f"{one.name}: {error}")
        except OSError as error:
            if isinstance(error, BrokenPipeError) or error.filename is None:
                raise  # nobody reads what is written, or it cannot be written: no fault of the recording
            bad.say(f"{one.name}: {error.strerror or error}")
    bad.end()


def _shown(given: list[Input]) -> Iterator[Input]:
    """The inputs, with progress on standard error where somebody sees it."""
    console = Console(stderr=True)
    if len(given) < 2 or not console.is_terminal:
        yield from given
        return
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("judging", total=len(given))
        for one in given:
            progress.update(task, description=one.path.name)
            yield one
            progress.advance(task)
