"""What the lines say. Each function gives one line's fields, which the writer numbers, chains and hashes.

Every line has `kind`, `seq` (from 0), `prev` and, last, `hash`. The kinds:

`open`     `format`, `run` (its id), `machine`, `table` (digest), `policy` (JSON or null), `version` (of the
           distribution), `host` (its kind), `durability`, `initial` (the run as it begins), `started` (the wall clock
           at the events' time 0, in seconds since 1970; null where the events have no clock)
`step`     `machine`, `event`, `source`, `row`, `target`, `readings`, `inside`, `commands`
`refused`  the same without `row`, `target` and `commands`, with `why` (empty where every guard said no)
`fault`    `machine`, `row` (or null), `part`, `problem`, `event` (null where it is not in the alphabet), `source`,
           `readings`
`leg`      the run was handed on: `source` and `target` (its state before and now), `digest` (of the run as JSON), and
           `run`, the run itself where it cannot be computed, else null
`resume`   the run was taken up by another process: `source` (its state), `by` (that process), `at` (the events' time),
           `in_flight` (what was asked for and has no answer: `kind`, `seq` of the line that asked, and `again`,
           whether it is sent again)
`end`      `lines` (how many stand before it), `state`

`readings` is `seen` (all evidence, and readings that are not at rest, in full), `rest` (how many are at rest) and
`digest` (8 bytes, in hex, over all of them). `inside` holds the answers of inner machines: `machine`, `source`, `row`,
`target`, `readings`, `inside`, and `commands`, which is their number (they stand among the step's own); or `why` in
place of a row. An event that the table ignores is not written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import Enum
from operator import attrgetter
from typing import Any

from ..codec import BadData, dump
from ..guards import Finding, Reading
from ..step import Answer, Fault, Ignored, Refused, Step, Unhandled
from .journaled import Journaled

FORMAT = "statecraft.journal/1"

_NUMBERS = attrgetter("name", "now", "nudge", "stop", "most")


def opening(
    of: Journaled[Any, Any, Any],
    run_id: str,
    run: Any,
    *,
    policy: Any,
    version: str,
    host: str,
    durability: str,
    started: float | None = None,
) -> dict[str, Any]:
    """The first line."""
    return {
        "kind": "open",
        "format": FORMAT,
        "run": run_id,
        "machine": of.table.name,
        "table": of.table.digest,
        "policy": None if policy is None else of.codec.to_plain(policy),
        "version": version,
        "host": host,
        "durability": durability,
        "initial": of.write_run(run),
        "started": started,
    }


def answered(of: Journaled[Any, Any, Any], event: Any, answer: Answer[Any, Any]) -> dict[str, Any] | None:
    """A step, a refusal, or an event from outside the alphabet; None for what is ignored, which is not written."""
    if isinstance(answer, Step):
        return {
            "kind": "step",
            "machine": answer.machine,
            "event": of.events.write(event),
            "source": answer.source.name,
            "row": answer.row,
            "target": answer.target.name,
            "readings": readings(of, answer.seen),
            "inside": [within(of, one) for one in answer.inside] if answer.inside else [],
            "commands": [of.commands.write(one) for one in answer.commands],
        }
    if isinstance(answer, Refused):
        return {
            "kind": "refused",
            "machine": answer.machine,
            "event": of.events.write(event),
            "source": answer.source.name,
            "why": answer.why,
            "readings": readings(of, answer.seen),
            "inside": [within(of, one) for one in answer.inside],
        }
    if isinstance(answer, Unhandled):
        problem = "is not in the machine's alphabet"
        return _fault(of, answer.machine, None, answer.event, problem, None, answer.source.name, ())
    return None


def faulted(of: Journaled[Any, Any, Any], event: Any, fault: Fault, source: str) -> dict[str, Any]:
    """A fault of the machine."""
    wrote = of.events.write(event)
    return _fault(of, fault.machine, fault.row, fault.part, fault.problem, wrote, source, fault.asked)


def _fault(
    of: Journaled[Any, Any, Any],
    machine: str,
    row: int | None,
    part: str,
    problem: str,
    event: Any,
    source: str,
    asked: Sequence[Finding],
) -> dict[str, Any]:
    return {
        "kind": "fault",
        "machine": machine,
        "row": row,
        "part": part,
        "problem": problem,
        "event": event,
        "source": source,
        "readings": readings(of, asked),
    }


def handed_on(of: Journaled[Any, Any, Any], source: str, run: Any) -> dict[str, Any]:
    """The next leg."""
    plain = of.write_run(run)
    return {
        "kind": "leg",
        "source": source,
        "target": of.table.at(run).name,
        "digest": short_digest(dump(plain)),
        "run": plain if of.hand_on is None else None,
    }


def taken_up(source: str, by: str, at: float, in_flight: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A run that another process takes up. `by` is of that process alone, so that of two who try only one can."""
    return {"kind": "resume", "source": source, "by": by, "at": at, "in_flight": list(in_flight)}


def ended(lines: int, state: Enum) -> dict[str, Any]:
    """The terminal record."""
    return {"kind": "end", "lines": lines, "state": state.name}


def readings(of: Journaled[Any, Any, Any], findings: Sequence[Finding]) -> dict[str, Any]:
    """The answers of the guards, as a line keeps them."""
    write = of.findings.write
    seen: list[Any] = []
    rest: list[Any] = []
    for finding in findings:
        try:
            if isinstance(finding, Reading) and finding.now < finding.nudge and finding.now < finding.stop:
                # At rest it mostly looked at nothing else: then its numbers are all of it, and quickly had.
                rest.append(write(finding) if finding.seen else _NUMBERS(finding))
            else:
                seen.append(write(finding))
        except BadData as error:
            raise BadData(error.under(f".readings.{finding.name}")) from None
    return {"seen": seen, "rest": len(rest), "digest": short_digest(dump([seen, rest]))}


def within(of: Journaled[Any, Any, Any], answer: Answer[Any, Any]) -> dict[str, Any]:
    """The answer of an inner machine, as a line keeps it."""
    found: dict[str, Any] = {"machine": answer.machine, "source": answer.source.name}
    if isinstance(answer, Ignored | Unhandled):
        return {**found, "why": answer.why if isinstance(answer, Ignored) else "is not in the machine's alphabet"}
    found["readings"] = readings(of, answer.seen)
    found["inside"] = [within(of, one) for one in answer.inside]
    if isinstance(answer, Step):
        return {**found, "row": answer.row, "target": answer.target.name, "commands": len(answer.commands)}
    return {**found, "why": answer.why}


def short_digest(data: bytes) -> str:
    """The first 8 bytes of the SHA-256, in hex."""
    return hashlib.sha256(data).hexdigest()[:16]


def looks_like_one(line: bytes) -> bool:
    """Whether a damaged first line was one, or is the beginning of one: its keys are sorted, `durability` first."""
    begin = b'{"durability":'
    return FORMAT.encode() in line or line.startswith(begin) or (line != b"" and begin.startswith(line))
