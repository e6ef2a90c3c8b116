"""`statecraft detectors`: the roster, what was left out of it, and what each of it catches on recorded runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import attrs
from cyclopts import Parameter

from statecraft.cli import BadInput
from statecraft.cli.verbs import FLAG
from statecraft.codec import dump

from ..audit.caught import ESCALATION, Catches
from ..detectors.left_out import LEFT_OUT, UNSEEN
from ..detectors.listed import listed
from ..policy import DEFAULT
from ..policy_file import read_policy
from .inputs import inputs
from .judging import bad_of, check_format, for_each_run, rule_of
from .roster_shown import show_roster


def detectors(
    *,
    on: Annotated[
        tuple[Path, ...] | None,
        Parameter(
            help="Judge these recorded runs, files and folders, and say what each detector caught.",
            consume_multiple=True,
            negative=(),
        ),
    ] = None,
    policy: Annotated[
        Path | None, Parameter(help="The limits of this policy: a file, or the name of one that ships.")
    ] = None,
    format: Annotated[  # the option's name
        str | None, Parameter(help="Take every file to be in this format (statecraft audit --help lists them).")
    ] = None,
    json: Annotated[bool, FLAG, Parameter(help="JSON for programs: one object.")] = False,
) -> int:
    """List the detectors in the order in which they are asked: shape, incident, limits, on or off.

    Then the guards that were left out, with what covers them, and what no guard can see.

    With --on: in how many runs each nudged, stopped, spoke first, and was alone (without it the run is not stopped, or
    later), and which runs it would have stopped though a harness or a person judged them well, as far as their
    recordings say so (reward 1, is_resolved, CORRECT).

    To take one out of the roster is one line in a policy file, as in the last example; with --on, what that changes.

    Examples:
        statecraft detectors
        statecraft detectors --policy first-match
        statecraft detectors --on runs/ more/run.jsonl
        echo detectors.cycle.enabled=false | statecraft detectors --policy /dev/stdin
    """
    if on is None:
        if format is not None:
            raise BadInput("detectors: found --format without --on, expected both")
        rule, catches, bad = DEFAULT if policy is None else read_policy(policy), None, None
    else:
        if not on:
            raise BadInput("detectors: no file given after --on; expected one path or more, or - for standard input")
        check_format(format)
        rule = rule_of(policy)
        catches, bad = Catches(rule), bad_of(on)
        with inputs(on, bad.say) as given:
            for_each_run(given, format, bad, catches.add)
    roster = list(listed(rule))
    if json:
        entries: list[dict[str, Any]] = [attrs.asdict(each) for each in roster]
        if catches is not None:
            for entry in entries:
                entry["caught"] = attrs.asdict(catches.by_name[entry["name"]])
        plain = {
            "policy": None if policy is None else str(policy),
            "detectors": entries,
            "left_out": [attrs.asdict(each) for each in LEFT_OUT],
            "unseen": [attrs.asdict(each) for each in UNSEEN],
            "on": None if catches is None else _whole(catches),
        }
        sys.stdout.buffer.write(dump(plain) + b"\n")
    else:
        show_roster(roster, catches)
    return 2 if bad is not None and bad.count else 0


def _whole(catches: Catches) -> dict[str, Any]:
    """What was judged, and what no detector is alone to answer for."""
    return {
        "runs": catches.runs,
        "turns": catches.turns,
        "nudged": catches.nudged,
        "stopped": catches.stopped,
        "judged_well": catches.well,
        "judged_not_well": catches.not_well,
        "not_judged": dict(catches.unknown),
        "false_stops": len(catches.false_stops),
        ESCALATION: attrs.asdict(catches.by_name[ESCALATION]),
    }
