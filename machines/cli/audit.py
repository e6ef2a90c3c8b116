"""`statecraft audit`: judge recorded runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import attrs
from cyclopts import Parameter
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from statecraft.cli import BadInput
from statecraft.cli.running import complain

from ..audit.journal import store_for
from ..audit.judge import RANK, Judged, first, judge
from ..audit.report import LEGEND, as_json, decided, ending, strip_of
from ..events import Text as Kept
from ..journaled import RunJournal
from ..ledger.observe import Keep
from ..policy import DEFAULT, Policy
from ..policy_file import read_policy
from ..recent import Recent
from ..traces.bad_trace import BadTrace
from ..traces.formats import FORMATS, open_trace

STYLES = {".": "dim", "n": "yellow", "S": "bold red", "-": "dim red", "+": "dim magenta"}


def audit(
    *paths: Annotated[Path, Parameter(help="Recorded runs; of a folder, every file in it.")],
    json: Annotated[bool, Parameter(help="One JSON object a run, one a line, and nothing else.", negative=())] = False,
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
) -> int:
    """Judge recorded runs of agents: where they would have been nudged or stopped, by which rule, on what evidence.

    Formats are recognised by content. Every input is judged; one that cannot be read is named on standard error, and
    the exit code is then 2.

    Examples:
        statecraft audit runs/
        statecraft audit --json --fail-on stop run.jsonl
        statecraft audit --policy strict.toml --journal journals/ run.jsonl
    """
    if not paths:
        raise BadInput("audit: no file given; expected one path or more")
    if format is not None and format not in FORMATS:
        raise BadInput(f"--format {format}: no such format; expected one of {', '.join(FORMATS)}")
    rule = DEFAULT if policy is None else read_policy(policy)
    bad = _Bad()
    found: list[Judged] = []
    reached = 0
    taken: set[str] = set()
    for path in _shown(list(_files(paths, bad.say))):
        try:
            for judged, line in _judged(path, format, rule, journal, taken):
                reached = max(reached, RANK[judged.worst])
                if json:
                    sys.stdout.buffer.write(line + b"\n")
                else:
                    found.append(attrs.evolve(judged, verdicts=judged.verdicts[:8], legs=()))
        except BadTrace as error:
            bad.say(str(error))
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            bad.say(f"{path}: {error.strerror or error}")
    if not json:
        _show(found)
    if bad.count:
        return 2
    return 1 if fail_on is not None and reached >= RANK[fail_on] else 0


class _Bad:
    """Inputs that could not be read: named at once, counted for the exit code."""

    def __init__(self) -> None:
        self.count = 0

    def say(self, problem: str) -> None:
        self.count += 1
        complain(problem)


def _judged(
    path: Path, format_name: str | None, policy: Policy, where: Path | None, taken: set[str]
) -> Iterator[tuple[Judged, bytes]]:
    for recorded in open_trace(path, format_name):
        recent = Recent()
        if where is None:
            judged = judge(recorded, policy, keep=recent.keep)
        else:
            kept = RunJournal(store_for(where, recorded, taken), first(recorded, policy), host="audit")
            try:
                judged = judge(recorded, policy, watch=kept.watch, keep=_both(recent.keep, kept.keep))
            except BaseException:
                kept.close(None)
                raise
            kept.close(judged.run_now)
        yield judged, as_json(judged, recent)


def _both(one: Keep, other: Keep) -> Keep:
    def both(text: Kept, content: str) -> None:
        one(text, content)
        other(text, content)

    return both


def _files(paths: Iterable[Path], bad: Callable[[str], None]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        inside = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
        if not inside:
            bad(f"{path}: the folder holds no file")
        yield from inside


def _shown(paths: list[Path]) -> Iterator[Path]:
    """The paths, with progress on standard error where somebody sees it."""
    console = Console(stderr=True)
    if len(paths) < 2 or not console.is_terminal:
        yield from paths
        return
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("judging", total=len(paths))
        for path in paths:
            progress.update(task, description=path.name)
            yield path
            progress.advance(task)


def _show(found: list[Judged]) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        for one in found:
            columns = (
                one.run,
                f"{one.turns} turns",
                decided(one),
                ending(one),
                f"saved {one.saved.turns}",
                strip_of(one.strip),
            )
            sys.stdout.write("  ".join(columns) + "\n")
            _problems(one, lambda text: sys.stdout.write(text + "\n"))
        sys.stdout.write(_sum(found) + "\n")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("run", "turns", "decided", "ended", "saved", "verdicts, turn by turn"):
        table.add_column(name, justify="right" if name in ("turns", "saved") else "left", no_wrap=name != "run")
    for one in found:
        strip = Text.assemble(*((mark, STYLES[mark]) for mark in strip_of(one.strip)))
        style = {"stop": "bold red", "nudge": "yellow"}.get(one.worst, "green")
        table.add_row(
            Text(one.run), str(one.turns), Text(decided(one), style), ending(one), str(one.saved.turns or ""), strip
        )
    console.print(table)
    for one in found:
        _problems(one, lambda text: console.print(Text(text, "dim")))
    console.print(Text(LEGEND, "dim"))
    console.print(_sum(found))


def _problems(one: Judged, say: Callable[[str], object]) -> None:
    for problem in one.problems[:3]:
        say(f"  {one.run}: {problem}")
    if len(one.problems) > 3:
        say(f"  {one.run}: and {len(one.problems) - 3} more")


def _sum(found: list[Judged]) -> str:
    turns = sum(one.turns for one in found)
    stopped = sum(one.worst == "stop" for one in found)
    nudged = sum(one.worst == "nudge" for one in found)
    saved = sum(one.saved.turns for one in found)
    return f"{len(found)} runs, {turns} turns: {nudged} nudged, {stopped} stopped, {saved} turns saved"
