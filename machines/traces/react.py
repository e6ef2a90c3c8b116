"""`react-text-dump`: the transcripts of an agent that searches an encyclopedia, as text, grouped by how they ended.

A question, then `Thought n:`, `Action n:` and `Observation n:` for each turn, and the answer that was right. Only the
number that is next makes a line one of these; every other line goes on with the text above it. `Finish[...]` is how
the agent declares its answer, and the observation after it is the harness's judgement of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import define, field

from .bad_trace import BadTrace
from .lines import UNSEEN, CallSpec, EndLine, Line, ReplyLine, ResultLine, RunLine, UserLine
from .loose import args_text
from .recorded import Numbered, Recorded, runs
from .source import text_lines
from .tools import REACT

NAME: Final = "react-text-dump"

_TRIAL: Final = re.compile(r"BEGIN TRIAL ([0-9]+)\s*$")
_SECTION: Final = re.compile(r"-+ BEGIN (CORRECT|INCORRECT|HALTED) AGENTS -+\s*$")
_QUESTION: Final = "Question:"
_RIGHT: Final = "Correct answer:"
_STEP: Final = re.compile(r"(Thought|Action|Observation) ([0-9]{1,9}): ?(.*)", re.DOTALL)
_CALL: Final = re.compile(r"(Search|Lookup|Finish)\[(.*)\]\s*", re.DOTALL)
_ARGUMENTS: Final = {"Lookup": "keyword", "Search": "entity"}
_FINISH: Final = "Finish"
_THOUGHT: Final = "Thought"
_ACTION: Final = "Action"
_OBSERVATION: Final = "Observation"


def read(path: Path) -> Iterator[Recorded]:
    """The runs of a file: `t2.HALTED.0` is the first of trial 2 that was halted. In memory are the texts of one run.

    A run without the answer that was right breaks off, and has no end. Raises BadTrace for an observation without
    its action, and for a question outside every section.
    """
    return runs(path, NAME, _lines(path))


@define
class _Turn:
    """One turn as far as it is read; each part is the lines of its text, empty where it is not there."""

    line: int
    thought: list[str] = field(factory=list[str])
    action: list[str] = field(factory=list[str])
    observation: list[str] = field(factory=list[str])


@define
class _Run:
    """One run as far as it is read. `into` is the text that a line goes on with; `whole`: its last line was read."""

    id: str
    section: str
    line: int
    question: list[str]
    turns: list[_Turn] = field(factory=list[_Turn])
    into: list[str] = field(factory=list[str])
    whole: bool = False


@define
class _Place:
    """Where in the file reading is: the trial, the section, and how many runs of it were begun."""

    trial: str = "1"
    section: str | None = None
    runs: int = 0


def _lines(path: Path) -> Iterator[Numbered]:
    place = _Place()
    run: _Run | None = None
    blank, begun = True, False
    for number, text in text_lines(path):
        trial, section = _TRIAL.match(text), _SECTION.match(text)
        if trial or section or (text.startswith(_QUESTION) and (run is None or run.whole or blank)):
            if run is not None:
                yield from _told(run)
            run = None
        if trial:
            place = _Place(trial[1])
        elif section:
            place = _Place(place.trial, section[1])
        elif run is None and text.startswith(_QUESTION):
            run, begun = _begun(path, place, number, text), True
        elif run is not None and not run.whole:
            _take(path, run, number, text)
        blank = not text.strip()
    if run is not None:
        yield from _told(run)
    if not begun:
        raise BadTrace(path, found="no question", expected="the transcripts of a ReAct agent")


def _begun(path: Path, place: _Place, number: int, text: str) -> _Run:
    if place.section is None:
        raise BadTrace(path, line=number, found="a question outside every section", expected="a heading before it")
    question = [text.removeprefix(_QUESTION).strip()]
    run = _Run(f"t{place.trial}.{place.section}.{place.runs}", place.section, number, question, into=question)
    place.runs += 1
    return run


def _take(path: Path, run: _Run, number: int, text: str) -> None:
    """One line of a run: the beginning of the next part of it, or more of the part before."""
    run.whole = text.startswith(_RIGHT)
    step = _STEP.match(text)
    part = None if step is None else _part(path, run, number, step[1], int(step[2]))
    if step is not None and part is not None:
        run.into = part
        part.append(step[3])
    elif not run.whole:
        run.into.append(text)


def _part(path: Path, run: _Run, number: int, name: str, count: int) -> list[str] | None:
    """The part that begins with this name and number, or None where it is not the one that comes next."""
    turn = run.turns[-1] if run.turns else None
    if name != _OBSERVATION:
        if count == len(run.turns) + 1 and (turn is None or turn.action):
            turn = _Turn(number)
            run.turns.append(turn)
            return turn.thought if name == _THOUGHT else turn.action
        waits = name == _ACTION and turn is not None and not turn.action and count == len(run.turns)
        return turn.action if turn is not None and waits else None
    if count != max(1, len(run.turns)):
        return None
    if turn is None or not turn.action:
        raise BadTrace(path, line=number, found=f"Observation {count}", expected=f"Action {count} before it")
    return None if turn.observation else turn.observation


def _told(run: _Run) -> Iterator[Numbered]:
    """The lines of a run that was read."""
    yield run.line, RunLine(run.id, tools=dict(REACT))
    yield run.line, UserLine(_joined(run.question))
    judged = ""
    for count, turn in enumerate(run.turns, start=1):
        found = _CALL.fullmatch(_joined(turn.action))
        name, argument = (found[1], found[2]) if found else ("", "")
        thought, seen = _joined(turn.thought), _joined(turn.observation) if turn.observation else UNSEEN
        reply: Line
        after: Line | None = None
        if name in _ARGUMENTS:
            call = CallSpec(f"action-{count}", name, args_text({_ARGUMENTS[name]: argument}))
            reply, after = ReplyLine("tool_use", (call,), text=thought), ResultLine(call.id, seen)
        elif name == _FINISH and count == len(run.turns):
            reply = ReplyLine("end_turn", text=f"{thought}\n{argument}".strip(), kind="final")
            judged = "" if seen is UNSEEN else seen
        else:
            # Neither a call nor an end that was taken for one: the environment says so.
            reply = ReplyLine("other", text=f"{thought}\n{_joined(turn.action)}".strip())
            after = None if seen is UNSEEN else UserLine(seen, synthetic=True)
        yield turn.line, reply
        if after is not None:
            yield turn.line, after
    if run.whole:
        yield run.line, EndLine(run.section, judged)


def _joined(lines: list[str]) -> str:
    return "\n".join(lines).strip()
