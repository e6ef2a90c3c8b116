"""What replay, explain and deciding again found, in plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..codec import dump
from ..diagrams.labels import ranges
from ..guards import Evidence, Finding, Scalar
from ..journal import Verified
from ..spelled import shortened, spelled
from .again import Decided, Ending, Side
from .compare import Replayed
from .explain import Explanation
from .heard import Heard, RowHeard, values_of
from .standing import Standing

NOT_ASKED = 3  # rows below the one taken that are told one by one
UNBOUNDED = 10**9  # no count of a run comes near it: a larger `most` stands for no limit

Found = Verified | Replayed[Any] | Explanation | Standing | Decided[Any]


def told(found: Found) -> str:
    """What was found, as text of one or more lines without colour."""
    if isinstance(found, Verified):
        return _verified(found)
    if isinstance(found, Explanation):
        return "\n".join(_explained_lines(found, ""))
    if isinstance(found, Standing):
        return "\n".join(_standing_lines(found))
    return "\n".join(_replayed_lines(found) if isinstance(found, Replayed) else _decided_lines(found))


def _verified(found: Verified) -> str:
    name = f"{found.run or 'journal'}" + (f" ({found.machine})" if found.machine else "")
    if found.verdict == "whole":
        return f"{name}: whole, {found.lines} lines"
    return f"{name}: {found.verdict} at seq {found.seq}, {found.why}: {found.detail}"


def _replayed_lines(found: Replayed[Any]) -> Iterator[str]:
    yield f"{found.name} ({found.machine}): {found.lines} lines stepped again, journal {found.verified.verdict}"
    difference = found.difference
    if difference is None:
        yield "  no difference"
        return
    yield f"  first difference at seq {difference.seq}, in {difference.what}"
    yield f"    recorded: {_json(difference.recorded)}"
    yield f"    replayed: {_json(difference.replayed)}"


def _explained_lines(found: Explanation, indent: str) -> Iterator[str]:
    # What happened inside stands in the same line of the journal.
    line = "" if found.seq is None or indent else f"seq {found.seq}: "
    at = f"{found.machine}, {found.source}" + (f" on {found.event}" if found.event else "")
    came = f"row {found.row} was taken, to {found.target}" if found.kind == "step" else found.kind
    asks = f", asks {', '.join(found.commands)}" if found.commands else ""
    yield f"{indent}{line}{at}: {came}{asks}" + (f": {found.why}" if found.why else "")
    for inner in found.inside:
        yield f"{indent}  first, inside{'' if found.kind == 'step' else ', undone as no row was taken'}:"
        yield from _explained_lines(inner, indent + "    ")
    for row in found.rows:
        if row.outcome != "not asked":
            yield from _row(row, indent + "  ")
    yield from _not_asked([row for row in found.rows if row.outcome == "not asked"], found.row, indent + "  ")


def _row(row: RowHeard, indent: str) -> Iterator[str]:
    became = f"no, because of {row.said_no}" if row.outcome == "refused" else row.outcome
    yield f"{indent}row {row.row}: {row.text}: {became}"
    yield from (_heard(heard, indent + "  ") for heard in row.guards)


def _not_asked(rows: Sequence[RowHeard], taken: int | None, indent: str) -> Iterator[str]:
    """The rows below: a few with the guards that they would have asked, many in one line."""
    why = "not asked" + ("" if taken is None else f", as row {taken} was taken")
    if len(rows) > NOT_ASKED:
        yield f"{indent}rows {ranges([row.row for row in rows])}: {why}"
        return
    for row in rows:
        guards = ", ".join(heard.guard for heard in row.guards if heard.depth == 0)
        yield f"{indent}row {row.row}: {row.text}{f' [{guards}]' if guards else ''}: {why}"


def _heard(heard: Heard, indent: str) -> str:
    answer = {True: "yes", False: "no ", None: "-  "}[heard.holds]
    values = _values(heard.values, heard.level) if heard.holds is not None else "not asked"
    level = f" ({heard.level})" if heard.level else ""
    return f"{indent}{'  ' * heard.depth}{answer} {heard.guard}{level}" + (f": {values}" if values else "")


def _standing_lines(found: Standing) -> Iterator[str]:
    where = f"ended in {found.state}" if found.ended else f"has not ended; it stands in {found.state}"
    yield f"{found.run}: {where}{_brought(found)}"
    for step in (found.came, found.last):
        if step is not None:
            yield from _explained_lines(step, "")


def _brought(found: Standing) -> str:
    """Which rows brought the run to where it stands; a stop first, as what comes after it only carries it out."""
    came, last = found.came, found.last
    if last is None:
        return ", where it began"
    if last.kind == "fault":
        return f"; the machine is at fault: {last.why} (seq {last.seq})"
    if not found.ended:
        step = last if last.target not in (None, last.source) else came
        return "" if step is None else f" since {_by(step)}"
    if last.kind != "step":
        return f"; {last.why}"
    if came is not None and _stopped(came):
        return f", stopped by {_by(came)}, then by {_by(last)}"
    after = "" if came is None else f", after {_by(came)}"
    return f"{', stopped' if _stopped(last) else ''} by {_by(last)}{after}"


def _by(step: Explanation) -> str:
    guards = ", ".join(heard.guard for heard in _answered(step) if heard.holds)
    return f"row {step.row}{f' [{guards}]' if guards else ''} on {step.event} (seq {step.seq})"


def _stopped(step: Explanation) -> bool:
    return any(heard.holds and heard.level == "stop" for heard in _answered(step))


def _answered(step: Explanation) -> list[Heard]:
    """The guards of the row that was taken."""
    return [heard for row in step.rows if row.outcome == "taken" for heard in row.guards if heard.depth == 0]


def _decided_lines(found: Decided[Any]) -> Iterator[str]:
    yield f"{found.name} ({found.machine}), decided again"
    if found.difference is not None:
        where = f"seq {found.difference.seq}"
        yield f"  the table no longer answers as recorded, from {where} on; both sides are its answers of today"
    parting = found.parting
    if parting is None:
        yield "  the two never part"
    else:
        yield f"  they part at seq {parting.seq}, on {parting.event}"
        for name, side in (("recorded", parting.recorded), ("again", parting.again)):
            yield f"    {name}: {_side(side)}"
            yield from (f"      {_finding(finding)}" for finding in side.seen)
        yield "  from here the recorded events are the other run's; what follows is no forecast"
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
    level = finding.level.name.lower()
    return f"{finding.name} ({level}): {_values(values_of(finding), level)}"


def _ending(ending: Ending) -> str:
    if not ending.fits:
        return f"not known; it stands in {ending.state} since seq {ending.seq}, and no further recorded event fits it"
    where = f"seq {ending.seq}"
    return f"ended in {ending.state} at {where}" if ending.final else f"open, in {ending.state} since {where}"


def _values(values: Mapping[str, Scalar], level: str) -> str:
    """The values, each with its name; of a reading not the most that it can reach where nothing bounds that."""
    return spelled(
        {
            key: value
            for key, value in values.items()
            if not (level and key == "most" and isinstance(value, int) and value > UNBOUNDED)
        }
    )


def _json(value: Any) -> str:
    return shortened(dump(value).decode("utf-8", "backslashreplace"))
