"""`statecraft demo`: runs on a scripted model, or recordings judged; what was decided and why; where to look."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from statecraft.cli.journals import walked
from statecraft.cli.running import BadInput
from statecraft.cli.verbs import FLAG
from statecraft.diagrams import mermaid
from statecraft.journal import FileStore, remove, verify

from ..audit.judge import Judged, first, judge
from ..audit.report import decided, strip_of, told
from ..commands import Tell
from ..journaled import RunJournal
from ..ledger.observe import both
from ..outcome import message_of
from ..policy import DEFAULT
from ..recent import Recent
from ..run import RUN
from ..traces.formats import open_trace
from ..words import words_of
from .inputs import is_journal

RECORDINGS: Final = ("healthy", "stuck", "edit-and-revert", "only-narrates")
"""The recordings that ship with the project, in the order in which they are shown."""

LIVE: Final = ("well", "stuck", "narrates", "waits", "asks")
"""The runs on the scripted model."""


def demo(
    *,
    into: Annotated[
        Path, Parameter(help="The folder for journals and diagrams; what an earlier demo wrote is replaced.")
    ] = Path("demo-runs"),
    recorded: Annotated[
        bool, FLAG, Parameter(help="Judge four recorded runs that ship with the project instead.")
    ] = False,
    serve: Annotated[
        bool, FLAG, Parameter(help="Only serve the scripted model until interrupted, for statecraft run without a key.")
    ] = False,
) -> int:
    """Run an agent on a scripted model, over real HTTP: five runs, each told as it goes on.

    One is well, one stuck, one only talks, one waits for a deploy, and one for a person while nothing runs.

    Says of each what was decided and why, how it ended, and its account. Writes NAME.jsonl (the journal) and NAME.mmd
    (the run drawn over its machine) for each, and verifies the journals. No model and no network are needed.

    Examples:
        statecraft demo
        statecraft demo --recorded
        statecraft demo --into /tmp/demo
        statecraft demo --serve
    """
    if serve and recorded:
        raise BadInput("demo: found --serve and --recorded, expected one of them")
    if serve:
        from .demo_live import serve as serve_only

        return serve_only()
    into.mkdir(parents=True, exist_ok=True)
    _make_room(into, RECORDINGS if recorded else LIVE)
    say = sys.stdout.write
    if recorded:
        worst = 0
        for name in RECORDINGS:
            with as_file(files("machines.cli") / "recordings" / f"{name}.jsonl") as path:
                worst = max(worst, _one(name, path, into))
    else:
        from .demo_live import live_demo  # the HTTP library takes a quarter of a second to import

        worst = live_demo(into)
    say(f"Each journal tells its run again: statecraft explain {into / 'stuck.jsonl'}\n")
    say(f"Each picture shows the rows that its run took: {into / 'stuck.mmd'} (Mermaid)\n")
    return worst


def _make_room(into: Path, names: Sequence[str]) -> None:
    """Remove what an earlier demo wrote under these names; what is no journal is nobody's to remove."""
    journals = [into / f"{name}.jsonl" for name in names]
    for path in journals:
        if path.exists() and not is_journal(path):
            raise BadInput(f"{path}: found something that is no journal, expected a folder of the demo's own (--into)")
    for path in journals:
        if path.exists():
            remove(path, path.stem)


def _one(name: str, path: Path, into: Path) -> int:
    target = into / f"{name}.jsonl"
    say = sys.stdout.write
    for recorded in open_trace(path):
        recent = Recent()
        journal = RunJournal.begin(FileStore(target), first(recorded, DEFAULT), host="audit")
        judged = judge(recorded, DEFAULT, watch=journal.watch, keep=both(recent.keep, journal.keep))
        journal.close(judged.run_now)
        say(f"{name}: {recorded.run.title}\n")
        say(f"  turns    {strip_of(judged.strip)}   {decided(judged)}\n")
        say("".join(f"  {line}\n" for line in _why(judged)))
        if judged.outcome is not None:
            message = message_of(judged.outcome, recent.text_of).splitlines()
            say(f"  ended    {judged.outcome.status.value}, {judged.outcome.kind.value.replace('_', ' ')}\n")
            say("".join(f"    | {line}\n" for line in message))
    drawing = into / f"{name}.mmd"
    drawing.write_text(mermaid(RUN, walked(target, None, RUN)), encoding="utf-8")
    with closing(FileStore(target)) as store:
        found = verify(store)
    say(f"  journal  {target}: {found.verdict}, {found.lines} lines\n  diagram  {drawing}\n\n")
    return 0 if found.verdict == "whole" else 1


def _why(judged: Judged) -> list[str]:
    lines: list[str] = []
    for verdict in judged.verdicts:
        lines.append(told(verdict))
        if verdict.verdict == "nudge":
            lines.append(f"  the model is told: {words_of(Tell(verdict.by, tuple(verdict.evidence.items())))}")
    return lines
