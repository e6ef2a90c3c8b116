"""What replay, explain and deciding again found, in plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..codec import dump
from ..guards import Evidence, Finding, limits
from ..journal import Verified
from .again import Decided, Ending, Side
from .compare import Replayed
from .explain import Explanation
from .heard import Heard, RowHeard

SHOWN = 400  # characters of one side of a difference


Found = Verified | Replayed[Any] | Explanation | Decided[Any]


def told(found: Found) -> str:
    """What was found, as text of one or more lines without colour."""
    if isinstance(found, Verified):
        return _verified(found)
    if isinstance(found, Explanation):
        return "\n".join(_explained_lines(found, ""))
    return "\n".join(_replayed_lines(found) if isinstance(found, Replayed) else _decided_lines(found))


def _verified(found: Verified) -> str:
    name = f"{found.run or 'journal'}" + (f" ({found.machine})" if found.machine else "")
    if found.verdict == "whole":
        return f"{name}: whole, {found.lines} lines"
    where = f"line {found.line} (seq {found.seq})"
    return f"{name}: {found.verdict} at {where}, {found.why}: {found.detail}"


def _replayed_lines(found: Replayed[Any]) -> Iterator[str]:
    yield f"{found.name} ({found.machine}): {found.lines} lines stepped again, journal {found.verified.verdict}"
    difference = found.difference
    if difference is None:
        yield "  no difference"
        return
    yield f"  first difference at line {difference.seq + 1} (seq {difference.seq}), in {difference.what}"
    yield f"    recorded: {_json(difference.recorded)}"
    yield f"    replayed: {_json(difference.replayed)}"


def _explained_lines(found: Explanation, indent: str) -> Iterator[str]:
    at = f"{found.machine}, {found.source}" + (f" on {found.event}" if found.event else "")
    came = {
        "step": f"row {found.row} was taken, to {found.target}",
        "refused": "refused",
        "fault": "fault",
    }.get(found.kind, found.kind)
    asks = f", asks {', '.join(found.commands)}" if found.commands else ""
    yield f"{indent}line {found.seq + 1} (seq {found.seq}): {at}: {came}{asks}" + (
        f": {found.why}" if found.why else ""
    )
    for inner in found.inside:
        yield f"{indent}  first, inside:"
        yield from _explained_lines(inner, indent + "    ")
    for row in found.rows:
        yield from _row(row, found.row, indent + "  ")


def _row(row: RowHeard, taken: int | None, indent: str) -> Iterator[str]:
    became = {
        "taken": "taken",
        "refused": f"no, because of {row.said_no}",
        "not asked": "not asked" + ("" if taken is None else f", as row {taken} was taken"),
        "fault": "fault",
    }[row.outcome]
    yield f"{indent}row {row.row}: {row.text}: {became}"
    if row.outcome != "not asked":
        yield from (_heard(heard, indent + "  ") for heard in row.guards)


def _heard(heard: Heard, indent: str) -> str:
    answer = {True: "yes", False: "no ", None: "-  "}[heard.holds]
    values = _values(heard.values) if heard.holds is not None else "not asked"
    level = f" ({heard.level})" if heard.level else ""
    return f"{indent}{'  ' * heard.depth}{answer} {heard.guard}{level}" + (f": {values}" if values else "")


def _decided_lines(found: Decided[Any]) -> Iterator[str]:
    yield f"{found.name} ({found.machine}), decided again"
    if found.difference is not None:
        where = f"line {found.difference.seq + 1} (seq {found.difference.seq})"
        yield f"  the table no longer answers as recorded, from {where} on; both sides are its answers of today"
    parting = found.parting
    if parting is None:
        yield "  the two never part"
    else:
        yield f"  they part at line {parting.seq + 1} (seq {parting.seq}), on {parting.event}"
        for name, side in (("recorded", parting.recorded), ("again", parting.again)):
            yield f"    {name}: {_side(side)}"
            yield from (f"      {_finding(finding)}" for finding in side.seen)
    for leg, (one, two) in enumerate(zip(found.recorded, found.again, strict=True), 1):
        which = f"leg {leg} " if len(found.recorded) > 1 else ""
        yield f"  {which}recorded: {_ending(one)}"
        yield f"  {which}again:    {_ending(two)}"


def _side(side: Side) -> str:
    match side.kind:
        case "step":
            asks = f", asks {', '.join(side.commands)}" if side.commands else ""
            return f"row {side.row} ({side.row_text}){asks}"
        case "ended":
            return f"had ended in {side.source}"
        case _:
            return f"{side.kind} in {side.source}" + (f": {side.why}" if side.why else "")


def _finding(finding: Finding) -> str:
    if isinstance(finding, Evidence):
        return _heard(Heard(finding.name, finding.holds, finding.seen, "", 0), "")
    values = _values({**finding.seen, **limits(finding)})
    return f"{finding.name} ({finding.level.name.lower()}): {values}"


def _ending(ending: Ending) -> str:
    where = f"line {ending.seq + 1} (seq {ending.seq})"
    return f"ended in {ending.state} at {where}" if ending.final else f"open, in {ending.state} since {where}"


def _values(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {_json(value)}" for key, value in values.items())


def _json(value: Any) -> str:
    text = dump(value).decode("utf-8", "backslashreplace")
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
