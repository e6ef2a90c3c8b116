"""`statecraft audit`: judge recorded runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import attrs
from cyclopts import Parameter
from rich.console import Console
from rich.progress import Progress

from statecraft.cli import BadInput
from statecraft.cli.running import complain
from statecraft.cli.verbs import FLAG
from statecraft.codec import BadData
from statecraft.journal import JournalError

from ..audit.judge import RANK, Judged, first, judge
from ..audit.lines import Line, line_of
from ..audit.report import as_json
from ..journaled import RunJournal
from ..ledger.observe import both
from ..policy import DEFAULT, Policy
from ..policy_file import keys_of, read_policy
from ..recent import Recent
from ..traces.bad_trace import BadTrace
from ..traces.formats import FORMATS, open_trace
from .inputs import Bad, Input, inputs
from .journaling import Journals, check_free, journals_at
from .shown import show

OF_THE_RECORDING = ("turns", "seconds", "tokens", "usd", "calls_per_turn", "reply_tokens", "unbounded")
"""Keys of a policy's budget that a recorded run does not take from a policy."""


def audit(
    *paths: Annotated[Path, Parameter(help="Recorded runs; of a folder, every file in it; `-` is standard input.")],
    json: Annotated[bool, FLAG, Parameter(help="One JSON object a run, one a line, and nothing else.")] = False,
    why: Annotated[bool, FLAG, Parameter(help="Show each verdict with its evidence beneath its run.")] = False,
    policy: Annotated[Path | None, Parameter(help="Judge by this policy file instead of the default.")] = None,
    format: Annotated[  # the option's name
        str | None, Parameter(help=f"Take every file to be in this format: {', '.join(FORMATS)}.")
    ] = None,
    fail_on: Annotated[
        Literal["nudge", "stop"] | None, Parameter(help="Exit 1 if any run reached this verdict.")
    ] = None,
    journal: Annotated[
        Path | None, Parameter(help="Write each run's journal: into this folder, or into this SQLite file (NAME.db).")
    ] = None,
    replace: Annotated[bool, FLAG, Parameter(help="Write journals anew that are already there.")] = False,
) -> int:
    """Judge recorded runs of agents: where they would have been nudged or stopped, by which rule, on what evidence.

    Formats are recognised by content. Every input is judged; one that cannot be read is named on standard error, and
    the exit code is then 2.

    A recorded run is judged by the budget that its recording names, or by none: what it might spend was decided when it
    ran. The other thresholds are the policy's.

    Examples:
        statecraft audit recordings/
        statecraft audit --why recording.jsonl
        statecraft audit --json --fail-on stop recording.jsonl
        statecraft audit --policy strict.toml --journal out/ recording.jsonl
        agent --output-format stream-json | statecraft audit -
    """
    if not paths:
        raise BadInput("audit: no file given; expected one path or more, or - for standard input")
    if format is not None and format not in FORMATS:
        raise BadInput(f"--format {format}: no such format; expected one of {', '.join(FORMATS)}")
    if replace and journal is None:
        raise BadInput("audit: found --replace without --journal, expected both")
    rule = DEFAULT if policy is None else _rule(policy)
    bad = Bad(several=len(paths) > 1 or any(path.is_dir() for path in paths))
    reached = 0
    found: list[Line] = []
    with inputs(paths, bad.say) as given:
        journals = None if journal is None else journals_at(journal)
        if journals is not None and not replace:
            check_free(journals, given, format)
        for one in _shown(given):
            try:
                for judged, line in _judged(one, format, rule, journals):
                    reached = max(reached, RANK[judged.worst])
                    if json:
                        sys.stdout.buffer.write(line + b"\n")
                    else:
                        found.append(line_of(judged, why=why))
            except BadTrace as error:
                bad.trace(one, error)
            except (JournalError, BadData) as error:  # of this run's journal; the others are still judged
                bad.say(f"{one.name}: {error}")
            except OSError as error:
                if isinstance(error, BrokenPipeError) or error.filename is None:
                    raise  # nobody reads what is written, or it cannot be written: no fault of the recording
                bad.say(f"{one.name}: {error.strerror or error}")
    bad.end()
    show(found)
    if bad.count:
        return 2
    return 1 if fail_on is not None and reached >= RANK[fail_on] else 0


def _rule(file: Path) -> Policy:
    """The policy of a file; whoever sets a budget in it is told that no recorded run is judged by that."""
    policy = read_policy(file)
    unused = [key for key in keys_of(file) if key.partition("budget.")[2] in OF_THE_RECORDING]
    if unused:
        complain(f"{file}: {', '.join(unused)}: not used, as a recorded run is judged by its own budget or by none")
    return policy


def _judged(
    given: Input, format_name: str | None, policy: Policy, journals: Journals | None
) -> Iterator[tuple[Judged, bytes]]:
    for recorded in open_trace(given.path, format_name):
        called = attrs.evolve(recorded, file=given.name)
        recent = Recent()
        if journals is None:
            judged = judge(called, policy, keep=recent.keep)
        else:
            kept = RunJournal(journals.store(called), first(called, policy), host="audit")
            try:
                judged = judge(called, policy, watch=kept.watch, keep=both(recent.keep, kept.keep))
            except BaseException:
                kept.close(None)
                raise
            kept.close(judged.run_now)
        yield judged, as_json(judged, recent)


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
