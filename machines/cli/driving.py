"""A run driven by the command line: shown while it goes on, ended by a signal, and what is said when it is over."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from statecraft.cli.running import harmless
from statecraft.codec import dump

from ..standing import Question, plain_question

if TYPE_CHECKING:  # these import the HTTP library, which takes a quarter of a second
    from ..agent.agent import Agent
    from ..agent.agent_run import AgentRun, PutDown
    from ..agent.result import RunResult
    from ..agent.wire import Provider

SIGNALS: Final = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
"""What ends a run from outside, and the reason that is written down."""

PATIENCE: Final = 60.0
"""Seconds that a wait may last in this process, where it was not asked to stay; a longer one puts the run down."""

DEFAULT_PLACE: Final = "runs"
"""Where journals lie if nobody says otherwise."""

DOWN: Final = 3
"""The exit code of a run that was put down."""


def drive(agent: Agent, under_way: AgentRun, provider: Provider, *, journal: str, stay: bool, json: bool) -> int:
    """Drive a run to its end, or to a wait that it is put down at. Gives the exit code."""
    import anyio

    async def whole() -> tuple[RunResult | PutDown, int | None]:
        try:
            return await _shown(agent, under_way, stay=stay)
        finally:
            with anyio.CancelScope(shield=True):
                await provider.aclose()

    found, number = anyio.run(whole)
    from ..agent.agent_run import PutDown

    if isinstance(found, PutDown):
        _tell_down(found, journal, json=json)
        return DOWN
    sys.stdout.write(_as_json(found) if json else f"{_lines(found.output)}\n")
    sys.stdout.flush()
    _tell_end(found)
    if number is not None:
        return 128 + number
    return 0 if found.ok else 1


async def _shown(agent: Agent, under_way: AgentRun, *, stay: bool) -> tuple[RunResult | PutDown, int | None]:
    """The run to its end, and the signal that ended it, if one did. What a signal ends has its result all the same."""
    import anyio

    from .live import shown

    signals: list[int] = []
    results: list[RunResult | PutDown] = []
    problems: list[Exception] = []
    async with anyio.create_task_group() as group:
        await group.start(_listen, under_way, signals, group.cancel_scope.cancel)
        try:
            with shown(agent.notices):
                found = await (under_way.result() if stay else under_way.burst(PATIENCE, outlives=False))
                results.append(found)
        except Exception as error:  # noqa: BLE001  # a group would wrap it, and what is told of it would not be its own
            problems.append(error)
        group.cancel_scope.cancel()
    if problems:
        raise problems[0]
    if not results:
        raise KeyboardInterrupt
    return results[0], signals[0] if signals else None


async def _listen(under_way: AgentRun, signals: list[int], give_up: Callable[[], None], *, task_status: Any) -> None:
    """End the run as cancelled at the first signal, and whatever holds it up at the second."""
    import anyio

    with anyio.open_signal_receiver(*SIGNALS) as arriving:
        task_status.started()
        async for number in arriving:
            signals.append(number)
            if len(signals) > 1:
                give_up()
            under_way.cancel(SIGNALS[number])


def _lines(text: str) -> str:
    """Text of a model as it may be shown: line by line, tabs as they are, nothing that moves a cursor."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(harmless(piece) for piece in line.split("\t")) for line in lines)


def _tell_end(result: RunResult) -> None:
    """How it ended and what it did, on standard error; where it did not complete, its account was the answer."""
    status, by = result.status.value, result.outcome.reason.by
    lines = [status if by == status else f"{status}: {by}", *(result.summary[1:] if result.ok else ())]
    with suppress(OSError):  # the answer is out, and the exit code says the rest
        for line in (*lines, f"journal: {result.journal}"):
            sys.stderr.write(f"{harmless(line)}\n")
        sys.stderr.flush()


def _as_json(result: RunResult) -> str:
    reason, usage = result.outcome.reason, result.usage
    whole = {
        "run": result.run,
        "status": result.status.value,
        "kind": result.kind.value,
        "reason": {"by": reason.by, **dict(reason.values)},
        "facts": [fact.value for fact in result.facts],
        "output": result.output,
        "error": result.error,
        "todos": list(result.todos),
        "turns": result.account.turns,
        "seconds": round(result.account.seconds, 3),
        "usage": {"input": usage.input, "output": usage.output, "cached": usage.cached, "usd": usage.usd or None},
        "journal": result.journal,
    }
    return line_of(whole)


def _tell_down(down: PutDown, journal: str, *, json: bool) -> None:
    """What a run that was put down waits for, and how it goes on."""

    if json:
        questions = [plain_question(one) for one in down.questions]
        plain = {"run": down.run, "status": "waiting", "until": down.until, "questions": questions}
        sys.stdout.write(line_of({**plain, "journal": down.journal}))
        sys.stdout.flush()
    until = "" if down.until is None else f", until {clock_time(down.until)}"
    lines = [f"waiting{until}; nothing runs meanwhile"]
    lines += [asked_line(one) for one in down.questions]
    answer = "ANSWER" if len(down.questions) == 1 else "ANSWER --to NAME"
    place = place_again(journal)
    if down.questions:
        lines.append(f"answer it: statecraft answer {down.run} {answer}{place}")
    lines += [f"go on:     statecraft resume {down.run}{place}", f"journal: {down.journal}"]
    with suppress(OSError):
        sys.stderr.write("".join(f"{harmless(line)}\n" for line in lines))
        sys.stderr.flush()


def line_of(plain: object) -> str:
    """One JSON object on a line of its own, whatever a model has put into it."""
    return dump(plain).decode("utf-8", "replace") + "\n"


def asked_line(one: Question) -> str:
    """What is asked, and what may be answered."""
    choices = f" ({' / '.join(one.choices)})" if one.choices else ""
    return f"{one.name}: {one.question or f'{one.awaited} to {one.tool}({one.args or str()})'}{choices}"


def place_again(journal: str) -> str:
    """The place as the next command is given it. Of a database on a server no more is said: a password may be in it."""
    if journal == DEFAULT_PLACE:
        return ""
    scheme, there, _ = journal.partition("://")
    return f" --journal {scheme}://..." if there else f" --journal {shlex.quote(journal)}"


def clock_time(at: float) -> str:
    """A time of the wall clock, where this machine is."""
    return datetime.fromtimestamp(at).astimezone().isoformat(sep=" ", timespec="seconds")
