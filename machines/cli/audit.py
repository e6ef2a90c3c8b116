"""`statecraft audit`: judge recorded runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from statecraft.cli import BadInput
from statecraft.cli.verbs import FLAG

from ..audit.compare import Compared, compared, sides, worst
from ..audit.compare import as_json as sides_as_json
from ..audit.judge import RANK, Judged, first, judge
from ..audit.lines import Line, line_of
from ..audit.report import as_json
from ..journaled import RunJournal
from ..ledger.observe import both
from ..policy import DEFAULT, Policy
from ..recent import Recent
from ..traces.formats import FORMATS
from ..traces.recorded import Recorded
from .beside import show_beside
from .inputs import inputs
from .journaling import Journals, check_free, journals_at
from .judging import bad_of, check_format, for_each_run, rule_of
from .shown import show


def audit(
    *paths: Annotated[Path, Parameter(help="Recorded runs; of a folder, every file in it; `-` is standard input.")],
    json: Annotated[bool, FLAG, Parameter(help="One JSON object a run, one a line, and nothing else.")] = False,
    why: Annotated[bool, FLAG, Parameter(help="Show each verdict with its evidence beneath its run.")] = False,
    policy: Annotated[
        tuple[Path, ...],
        Parameter(
            help="Judge by this policy instead of the default: a file, or the name of one that ships; given more than "
            "once, the policies are shown side by side.",
            negative=(),
            show_default=False,
        ),
    ] = (),
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
    ran. The other thresholds are the policy's. Under several policies a run's line says what each would have done, and
    at which turn they part: the first at which one nudged or stopped and another did not.

    Examples:
        statecraft audit recordings/
        statecraft audit --why recording.jsonl
        statecraft audit --json --fail-on stop recording.jsonl
        statecraft audit --policy strict.toml --journal out/ recording.jsonl
        statecraft audit --policy default --policy first-match recordings/
        agent --output-format stream-json | statecraft audit -
    """
    if not paths:
        raise BadInput("audit: no file given; expected one path or more, or - for standard input")
    check_format(format)
    if replace and journal is None:
        raise BadInput("audit: found --replace without --journal, expected both")
    if journal is not None and len(policy) > 1:
        raise BadInput(f"audit: found --journal with {len(policy)} policies, expected one policy at most")
    if len(set(policy)) < len(policy):
        raise BadInput("audit: found one --policy twice, expected each once")
    rules = [(str(file), rule_of(file)) for file in policy]
    bad, reached = bad_of(paths), 0
    alone: list[Line] = []
    beside: list[Compared] = []
    with inputs(paths, bad.say) as given:
        journals = None if journal is None else journals_at(journal)
        if journals is not None and not replace:
            check_free(journals, given, format)

        def one(recorded: Recorded) -> None:
            nonlocal reached
            judged, recent = _judged(recorded, rules[0][1] if rules else DEFAULT, journals)
            reached = max(reached, RANK[judged.worst])
            if json:
                sys.stdout.buffer.write(as_json(judged, recent) + b"\n")
            else:
                alone.append(line_of(judged, why=why))

        def several(recorded: Recorded) -> None:
            nonlocal reached
            found = sides(recorded, rules)
            reached = max(reached, worst(found))
            if json:
                sys.stdout.buffer.write(sides_as_json(found) + b"\n")
            else:
                beside.append(compared(found, why=why))

        for_each_run(given, format, bad, several if len(rules) > 1 else one)
    show(alone)
    show_beside([name for name, _ in rules], beside)
    if bad.count:
        return 2
    return 1 if fail_on is not None and reached >= RANK[fail_on] else 0


def _judged(recorded: Recorded, policy: Policy, journals: Journals | None) -> tuple[Judged, Recent]:
    """One run judged, and its journal written where there is to be one."""
    recent = Recent()
    if journals is None:
        return judge(recorded, policy, keep=recent.keep), recent
    kept = RunJournal.begin(journals.store(recorded), first(recorded, policy), host="audit")
    try:
        judged = judge(recorded, policy, watch=kept.watch, keep=both(recent.keep, kept.keep))
    except BaseException:
        kept.close(None)
        raise
    kept.close(judged.run_now)
    return judged, recent
