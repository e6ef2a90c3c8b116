"""Where two rows of a cell both hold, the first is the rule: each pair that can, in one run that both would take."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import attrs
import pytest

from machines.commands import Tell
from machines.detectors.roster import ROSTER
from machines.escalation import Ladder, Rung
from machines.events import (
    Awaited,
    Call,
    Chunk,
    Clock,
    Condensed,
    Event,
    Refusal,
    RefusalKind,
    Reply,
    Signal,
    StopReason,
)
from machines.held import HELD, Held, HeldState
from machines.manifest import Tool
from machines.policy import DEFAULT, only
from machines.reply import REPLY, Mend, ReplyCase, ReplyState, mending
from machines.request import REQUEST, RequestState, Retry
from machines.run import RUN
from machines.state import Phase, Run
from machines.streaks import Streaks
from machines.turn import Turn
from machines.wait import OneWait, WaitState
from statecraft import Level
from statecraft.guards import name_of
from statecraft.testing import step_one

from .runs import ENDED, KEPT, NEW, READ, SAME, SPENT_UP, TEXT, THIRD, WIDE, acting, at, counting, reply

P = Phase
UNTOUCHED = {field.name: field.default for field in attrs.fields(Streaks)}
CLOSE = tuple(pairwise(WIDE))
BY_NAME = {detector.name: detector for detector in ROSTER}


def kept(name: str, level: Level) -> tuple[Turn, Streaks]:
    """What makes the detector's count stand at its limit, with a turn that other detectors can count too."""
    nudge, stop = WIDE[name]
    count = nudge if level is Level.NUDGE else stop or 1
    if name == "consecutive_duplicate":  # its calls were those of the turn before; this one has none
        return THIRD, Streaks(same=SAME, same_count=count, same_ok=count)
    return KEPT[name](count)


def both(one: str, other: str, level: Level) -> Run:
    """A run whose turn is in hand, in which both detectors stand at the level."""
    limits: dict[str, Any] = {}
    changed: dict[str, Any] = {}
    turn = THIRD
    for name in (one, other):
        own = getattr(DEFAULT.detectors, name)
        limits[name] = attrs.evolve(own, stop=None if level is Level.NUDGE else own.stop or 1)
        its_turn, streaks = kept(name, level)
        turn = turn if its_turn is THIRD else its_turn
        found = {field: getattr(streaks, field) for field in UNTOUCHED}
        changed |= {field: value for field, value in found.items() if not value == UNTOUCHED[field]}  # noqa: SIM201  # maps: != is always so
    detectors = only(attrs.evolve(DEFAULT.detectors, **limits), one, other)
    policy = attrs.evolve(NEW.policy, detectors=detectors)
    return acting(turn, streaks=Streaks(**changed), policy=policy, tools={"look": Tool(look=True)})


@pytest.mark.parametrize("level", [Level.NUDGE, Level.STOP])
@pytest.mark.parametrize(("one", "other"), CLOSE)
def test_of_two_detectors_the_one_that_stands_first_in_the_roster_speaks(one: str, other: str, level: Level) -> None:
    run = both(one, other, level)
    assert [BY_NAME[name].read(run, ENDED).level for name in (one, other)] == [level, level]
    step = step_one(RUN, run, ENDED)
    if level is Level.STOP:
        assert step.run.stop is not None
        assert step.run.stop.by == one
    else:
        assert [command.by for command in step.commands if isinstance(command, Tell)] == [one]


def test_circling_is_a_stop_before_words_without_an_end_are_a_rescue() -> None:
    run = attrs.evolve(both("family", "monologue", Level.STOP), requires=("a.txt",))
    assert effect(run, ENDED) == "stop_family"


def effect(run: Run, event: Event) -> str:
    """The name of the effect of the row that is taken."""
    return name_of(RUN.rows[step_one(RUN, run, event).row].effect)


TWICE = Ladder(Rung.NUDGED_TWICE, older=1, newer=2)
DOOMED = Call("1", "read", b"wrong", TEXT, empty=True)
AT_LIMIT = at(P.ASKING, spent=SPENT_UP)
WAITED = Held(READ, Awaited.ANSWER, "1", 2.0, 50.0)
POLLED = Turn(3, polls=1)
OVER = (OneWait(WaitState.EXPIRED),)
VAIN, NOTHING = Condensed(5.0, 0), Condensed(5.0, 0, nothing_left=True)
CHANTED = Chunk(5.0, "text", TEXT, 10, 50)
FILTERED = reply(StopReason.REFUSAL, text=TEXT, capped=True)
FILLED = reply(StopReason.CONTEXT_WINDOW, text=TEXT)
DOUBTED = reply(StopReason.TOOL_USE, DOOMED)


def vain(phase: Phase, count: int, **changes: Any) -> Run:
    """A run in which so many condensings were in vain before this one."""
    return at(phase, streaks=Streaks(vain=count), **changes)


def hopeless(**changes: Any) -> Run:
    """A run that asked, whose reply's calls can come to nothing: the same one was refused twice."""
    return attrs.evolve(counting("validation_error", 2), at=P.ASKING, turn=Turn(2), **changes)


PAIRS: list[tuple[str, Run, Event, str]] = [
    ("what is withheld is not recovered from", AT_LIMIT, FILTERED, "withhold"),
    ("at the limit no window is emptied", AT_LIMIT, FILLED, "stop_at_limit_in_reply"),
    ("a limit before a hopeless call", hopeless(spent=SPENT_UP), DOUBTED, "stop_at_limit_in_reply"),
    (
        "a held call before a stop",
        attrs.evolve(counting("validation_error", 3), turn=Turn(3, held=(WAITED,))),
        ENDED,
        "wait_outside",
    ),
    (
        "a detector's stop before the ladder's",
        attrs.evolve(counting("redundant_check", 1, stop=1), ladder=TWICE),
        ENDED,
        "stop_redundant_check",
    ),
    (
        "the ladder before a limit",
        attrs.evolve(counting("no_progress", 3), ladder=TWICE, spent=SPENT_UP),
        ENDED,
        "stop_escalated",
    ),
    ("a limit before a wait that is over", acting(Turn(3, waits_over=OVER), spent=SPENT_UP), ENDED, "stop_at_limit"),
    (
        "a wait that is over before one that goes on",
        acting(attrs.evolve(POLLED, waits_over=OVER, signal="result")),
        ENDED,
        "tell_wait_afresh",
    ),
    (
        "waiting before a nudge",
        attrs.evolve(counting("validation_error", WIDE["validation_error"][0], stop=None), turn=POLLED),
        ENDED,
        "wait",
    ),
    *(
        (
            f"at a limit a held call still waits, on {type(event).__name__}",
            at(P.WAITING, turn=Turn(3, held=(WAITED,)), spent=SPENT_UP),
            event,
            "hear_signal",
        )
        for event in (Signal(5.0, "2", answer="blue"), Clock(5.0))
    ),
    ("refused for good at a limit", AT_LIMIT, Refusal(5.0, 401, TEXT), "fail"),
    *(
        (
            f"in vain too often before a third nudge, {phase.value}",
            vain(phase, 2, ladder=TWICE),
            VAIN,
            "stop_condensing",
        )
        for phase in (P.ASKING, P.CONDENSING)
    ),
    *(
        (f"a third nudge before a nudge, {phase.value}", vain(phase, 1, ladder=TWICE), VAIN, "stop_third_vain")
        for phase in (P.RECOVERING, P.ACTING, P.WAITING)
    ),
    (
        "a third nudge before a limit",
        vain(P.CONDENSING, 1, ladder=TWICE, spent=SPENT_UP),
        VAIN,
        "stop_third_vain",
    ),
    ("a limit before a nudge", vain(P.CONDENSING, 1, spent=SPENT_UP), VAIN, "stop_at_limit"),
    *((f"chanting, {phase.value}", at(phase), CHANTED, "stop_chanting") for phase in (P.ASKING, P.RECOVERING)),
]


@pytest.mark.parametrize(("run", "event", "first"), [pytest.param(*pair[1:], id=pair[0]) for pair in PAIRS])
def test_of_two_rows_that_hold_the_first_is_taken(run: Run, event: Event, first: str) -> None:
    assert effect(run, event) == first


# Inside: what was done about a reply, a request and a held call


def bare(*budgets: Mend, open_items: int = 0) -> Any:
    """An incident with nothing left of these recoveries."""
    fresh = mending(DEFAULT.recovery)
    return attrs.evolve(fresh, left={**fresh.left, **dict.fromkeys(budgets, 0)}, open_items=open_items)


FULL: dict[str, Any] = {"usage": attrs.evolve(reply().usage, input=1_000), "window": 1_000}
REPLIES: list[tuple[str, Any, Reply, ReplyState | ReplyCase]] = [
    ("withheld in a full window", bare(), reply(StopReason.REFUSAL, capped=True, **FULL), ReplyState.WITHHELD),
    ("a call in a full window", bare(), reply(StopReason.LENGTH, READ, **FULL), ReplyCase.FULL),
    ("a call beside words", bare(), reply(StopReason.LENGTH, READ, text=TEXT), ReplyCase.CUT_CALL),
    ("cut as it paused", bare(Mend.TRUNCATED), reply(StopReason.PAUSE, capped=True), ReplyState.TRUNCATED),
    (
        "nothing to be read, and a plan",
        bare(Mend.MALFORMED, open_items=1),
        reply(StopReason.MALFORMED_CALL),
        ReplyState.MALFORMED,
    ),
    ("a full window, but nothing was cut", bare(), reply(**FULL), ReplyCase.NUDGED),
]


@pytest.mark.parametrize(("run", "event", "becomes"), [pytest.param(*case[1:], id=case[0]) for case in REPLIES])
def test_of_two_wrongs_in_a_reply_the_first_decides(run: Any, event: Reply, becomes: ReplyState | ReplyCase) -> None:
    after = step_one(REPLY, run, event).run
    assert becomes in (after.at, after.case)


def test_what_can_never_pass_is_not_made_shorter() -> None:
    refused = Refusal(5.0, 413, TEXT, kind=RefusalKind.BILLING, too_long=True)
    assert step_one(REQUEST, NEW.request, refused).target is RequestState.REFUSED


def test_a_transcript_that_is_too_long_as_well_is_shortened_first() -> None:
    refused = Refusal(5.0, 413, TEXT, kind=RefusalKind.TRANSCRIPT)
    spent = attrs.evolve(NEW.request, left={**NEW.request.left, Retry.SHRUNK: 0})
    assert step_one(REQUEST, spent, refused).target is RequestState.OVERFLOW


APPROVAL = attrs.evolve(WAITED, awaited=Awaited.CONSENT)


@pytest.mark.parametrize(
    ("held", "signal", "state"),
    [
        (APPROVAL, Signal(50.0, "1", answer="approve", consents_to="another"), HeldState.EXPIRED),
        (attrs.evolve(APPROVAL, lasts=1.0), Signal(9.0, "1", answer="deny", when=5.0), HeldState.DENIED),
    ],
    ids=["too late before for another call", "a no before a stale one"],
)
def test_of_two_reasons_against_an_answer_the_first_decides(held: Held, signal: Signal, state: HeldState) -> None:
    assert step_one(HELD, held, signal).target is state


def test_a_clock_that_is_early_leaves_the_held_call_waiting() -> None:
    assert step_one(HELD, WAITED, Clock(49.9)).target is HeldState.WAITING
