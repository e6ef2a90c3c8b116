"""The run's table, row by row: one call on a frozen run, with no history played to get there.

A long file, since every row of one table has its case here, and is read beside its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pytest
from rpds import HashTrieSet

from machines.commands import (
    AnswerCalls,
    Ask,
    Command,
    Condense,
    Discard,
    End,
    RunCalls,
    Show,
    Simplify,
    Tell,
    TellPerson,
    WaitUntil,
    Withdraw,
)
from machines.escalation import Ladder, Rung
from machines.events import (
    Awaited,
    Awaits,
    Begin,
    Call,
    Cancel,
    Chunk,
    Clock,
    Condensed,
    Declared,
    Event,
    Facts,
    GoalMeasured,
    Measured,
    NoReply,
    PlanChanged,
    PlanItem,
    Refusal,
    RefusalKind,
    Reply,
    Result,
    Said,
    Signal,
    StopReason,
)
from machines.held import Held
from machines.ledger.work import Ledger, digest8
from machines.manifest import Kind, Tool
from machines.outcome import Reason
from machines.reply import Mend
from machines.request import RequestState, Retry
from machines.run import RUN
from machines.state import ENDINGS, OPEN, Cause, Outside, Phase, Purse, Run, Spent, Waits
from machines.streaks import Streaks
from machines.turn import Turn
from machines.wait import OneWait, WaitState
from statecraft import Refused
from statecraft.guards import name_of
from statecraft.testing import step_one

from .runs import (
    AGAIN,
    ENDED,
    KEPT,
    NEW,
    OTHER,
    READ,
    SAME,
    SPENT_UP,
    TEXT,
    WIDE,
    acting,
    at,
    concluding,
    counting,
    left,
    reply,
    spent_up,
    without,
)

P = Phase
ASKING, RECOVERING, WAITING, AT_LIMIT = at(P.ASKING), at(P.RECOVERING), at(P.WAITING), at(P.ASKING, spent=SPENT_UP)
LAST_ASK = Ask(final=True)
TOO_LARGE, PASSING, FINAL = Refusal(5.0, 413, TEXT), Refusal(5.0, 529, TEXT, after=7.0), Refusal(5.0, 401, TEXT)

Case = tuple[str, Run, Event, Phase, Sequence[Command | type[Command]]]

BROKE, TIRED = attrs.evolve(NEW, spent=SPENT_UP), attrs.evolve(NEW, purse=left(TURN=0))
BEGINNING: list[Case] = [
    ("begins", NEW, Begin(0.0), P.ASKING, [Ask()]),
    ("begins with no budget for a request", BROKE, Begin(0.0), P.CONCLUDING, [LAST_ASK]),
    ("begins by a person's word", NEW, Said(0.0, TEXT), P.ASKING, [Ask()]),
    ("hears a person with no turn left", TIRED, Said(0.0, TEXT), P.CONCLUDING, [LAST_ASK]),
]

CUT_OFF = AnswerCalls(("1",), "the reply was cut off, so its calls may be incomplete")
NOT_RUN, NEITHER_RUN = (AnswerCalls(ids, "the run has reached its limit") for ids in (("1",), ("1", "2")))
CUT, PAUSED, EMPTY = reply(StopReason.LENGTH, READ), reply(StopReason.PAUSE), reply()
CALLS, SPOKEN = reply(StopReason.TOOL_USE, READ, OTHER), reply(text=TEXT)
HALF = attrs.evolve(READ, parsed=False, cut=True)
GO_ON, REMINDED = Tell("continued"), Tell("unfinished_plan", (("open_items", 1),))
CUT_THOUGHT = reply(StopReason.LENGTH, thinking=TEXT)
GO_ON_FULL = Tell("continued", (("full", True),))
FILLED = reply(StopReason.CONTEXT_WINDOW, text=TEXT)
UNREAD = reply(StopReason.MALFORMED_CALL)
OPEN_PLAN = Ledger(plan=(PlanItem(TEXT, "pending"), PlanItem(TEXT, "completed")))
PLANNED, PLANNED_AT_LIMIT = (attrs.evolve(run, ledger=OPEN_PLAN) for run in (ASKING, AT_LIMIT))
CAPPED_FINAL = reply(text=TEXT, kind=Declared.FINAL, capped=True)
DECLARED = {kind: reply(text=TEXT, kind=kind) for kind in Declared}

REPLIES: list[Case] = [
    ("the model refuses", ASKING, reply(StopReason.REFUSAL, text=TEXT), P.BLOCKED, [End]),
    ("a filter withholds the reply", RECOVERING, reply(StopReason.CONTENT_FILTER), P.BLOCKED, [End]),
    ("cut at the limit", AT_LIMIT, CUT, P.CONCLUDING, [NOT_RUN, LAST_ASK]),
    ("cut", ASKING, CUT, P.RECOVERING, [CUT_OFF, Tell("cut_call"), Ask()]),
    ("cut again", RECOVERING, CUT, P.RECOVERING, [CUT_OFF, Tell("cut_call"), Ask()]),
    ("cut as its budget was used up", ASKING, reply(text=TEXT, capped=True), P.RECOVERING, [GO_ON, Ask()]),
    ("cut in its call", ASKING, reply(StopReason.TOOL_USE, HALF), P.RECOVERING, [CUT_OFF, Tell("cut_call"), Ask()]),
    ("cut while it thought", ASKING, CUT_THOUGHT, P.RECOVERING, [Discard(), Tell("cut_thought"), Ask()]),
    ("a final answer that used up its budget", ASKING, CAPPED_FINAL, P.RECOVERING, [GO_ON, Ask()]),
    (
        "cut where the window is full",
        ASKING,
        FILLED,
        P.CONDENSING,
        [Tell("continued", (("full", True),)), Condense("full")],
    ),
    ("cut once too often", spent_up(Mend.TRUNCATED), CUT, P.CONCLUDING, [CUT_OFF, LAST_ASK]),
    ("paused", ASKING, PAUSED, P.RECOVERING, [Ask()]),
    ("paused once too often", spent_up(Mend.PAUSED), PAUSED, P.CONCLUDING, [LAST_ASK]),
    ("not to be read", ASKING, UNREAD, P.RECOVERING, [Discard(), Tell("malformed"), Ask()]),
    ("not to be read once too often", spent_up(Mend.MALFORMED), UNREAD, P.CONCLUDING, [Discard(), LAST_ASK]),
    ("empty", ASKING, EMPTY, P.RECOVERING, [Discard(), Tell("empty"), Ask()]),
    ("empty once too often", spent_up(Mend.EMPTY), EMPTY, P.CONCLUDING, [Discard(), LAST_ASK]),
    ("empty beside an open plan", PLANNED, EMPTY, P.RECOVERING, [Discard(), REMINDED, Ask()]),
    ("final beside an open plan", PLANNED, DECLARED[Declared.FINAL], P.RECOVERING, [REMINDED, Ask()]),
    ("final beside it at the limit", PLANNED_AT_LIMIT, DECLARED[Declared.FINAL], P.PARTIAL, [End]),
    ("calls", ASKING, CALLS, P.ACTING, [RunCalls(("1", "2"))]),
    ("calls with no room for what they lead to", AT_LIMIT, CALLS, P.CONCLUDING, [NEITHER_RUN, LAST_ASK]),
    ("calls with no turn left", without("TURN"), CALLS, P.CONCLUDING, [NEITHER_RUN, LAST_ASK]),
    ("a final answer", ASKING, DECLARED[Declared.FINAL], P.COMPLETED, [End]),
    ("a partial answer", ASKING, DECLARED[Declared.PARTIAL], P.PARTIAL, [End]),
    ("a failure report", ASKING, DECLARED[Declared.FAILURE], P.BLOCKED, [End]),
    ("a checkpoint", RECOVERING, SPOKEN, P.ACTING, [Show(TEXT)]),
    ("a checkpoint with no turn left", without("TURN"), SPOKEN, P.CONCLUDING, [LAST_ASK]),
]

TWICE, THRICE = (Streaks(same=SAME, same_count=n, same_ok=n) for n in (2, 3))
BARREN_TWICE, BARREN_THRICE = (Streaks(barren=n, barren_ok=n) for n in (2, 3))
OPENED = attrs.evolve(AGAIN, open=(OTHER,))
LATE = AnswerCalls(("2",), "no answer came before the turn was over")
THIRD_NUDGE = acting(AGAIN, streaks=TWICE, ladder=Ladder(Rung.NUDGED_TWICE, older=1, newer=2))
POLLED, LOOKED = (acting(Turn(3, polls=1, signal=new), waits=Waits(next_at=9.0)) for new in ("", "result"))
TWO_OPEN, EXPIRED, UNFORESEEN, NEWS = (
    acting(turn)
    for turn in (
        Turn(3, open=(READ, OTHER)),
        Turn(3, waits_over=(OneWait(WaitState.EXPIRED),)),
        Turn(3, waits_over=(OneWait(WaitState.UNRECOGNISED),)),
        Turn(3, signal="result"),
    )
)
HEARD = attrs.evolve(EXPIRED, turn=attrs.evolve(EXPIRED.turn, signal="result"))
WARNED = counting("validation_error", WIDE["validation_error"][0], stop=None)
"""A nudge is due."""
LEARNED = attrs.evolve(WARNED, turn=attrs.evolve(WARNED.turn, signal="result"), reply=spent_up(Mend.EMPTY).reply)
"""The same in a turn that brought something new, after something went wrong."""

TURNS: list[Case] = [
    ("an answer to an open call", TWO_OPEN, Result(5.0, "2", SAME), P.ACTING, []),
    ("a wait is over, and something new came", HEARD, ENDED, P.ASKING, [Tell, Ask()]),
    ("a nudge is due, and something new came", LEARNED, ENDED, P.ASKING, [Tell, Ask()]),
    ("the same outcome a fourth time", acting(AGAIN, streaks=THRICE), ENDED, P.CONCLUDING, [LAST_ASK]),
    ("nothing new for a fourth turn", acting(streaks=BARREN_THRICE), ENDED, P.CONCLUDING, [LAST_ASK]),
    ("a third nudge", THIRD_NUDGE, ENDED, P.CONCLUDING, [LAST_ASK]),
    ("no turn left", acting(purse=left(TURN=0)), ENDED, P.CONCLUDING, [LAST_ASK]),
    ("a wait that expired", EXPIRED, ENDED, P.ASKING, [Tell, Ask()]),
    ("a wait whose end nobody foresaw", UNFORESEEN, ENDED, P.ASKING, [TellPerson, Tell, Ask()]),
    ("only a look at a wait", POLLED, ENDED, P.WAITING, [WaitUntil(9.0)]),
    ("a look at a wait that shows something new", LOOKED, ENDED, P.WAITING, [WaitUntil(9.0)]),
    ("the same outcome a third time", acting(AGAIN, streaks=TWICE), ENDED, P.ASKING, [Tell, Ask()]),
    ("nothing new for a third turn", acting(streaks=BARREN_TWICE), ENDED, P.ASKING, [Tell, Ask()]),
    ("progress", NEWS, ENDED, P.ASKING, [Ask()]),
    ("a turn like many", acting(OPENED), ENDED, P.ASKING, [LATE, Ask()]),
]

NO_STOP = {"stop": 1}
"""For a detector that never stops by default: where it does, it does at once."""


def case(name: str, run: Run, event: Event, target: Phase, *commands: Command | type[Command]) -> Case:
    return name, run, event, target, commands


def unwritten(name: str) -> Run:
    """A run that this detector would stop, with something left that it has to write."""
    return attrs.evolve(counting(name, WIDE[name][1]), requires=("a.txt",))


DOOMED = Call("1", "read", b"wrong", TEXT, empty=True)
HOPELESS: list[Case] = [
    (
        f"{name} before its calls are run",
        attrs.evolve(counting(name, 2), at=P.ASKING, turn=Turn(2), tools={"read": Tool(kind=kind)}),
        reply(StopReason.TOOL_USE, DOOMED),
        P.CONCLUDING,
        [AnswerCalls(("1",), "not run: it could not have come to anything else than before"), LAST_ASK],
    )
    for name, kind in (("validation_error", Kind.OTHER), ("empty_thought", Kind.THINK))
]
DETECTED: list[Case] = [
    *HOPELESS,
    *(
        case(f"{name} speaks", counting(name, nudge, stop=None), ENDED, P.ASKING, Tell, Ask())
        for name, (nudge, _) in WIDE.items()
    ),
    *(
        case(f"{name} stops", counting(name, stop or 1, **NO_STOP if not stop else {}), ENDED, P.CONCLUDING, LAST_ASK)
        for name, (_, stop) in WIDE.items()
    ),
    *(
        case(f"{name} with a file to write", unwritten(name), ENDED, P.ASKING, Tell, Ask())
        for name in ("monologue", "no_progress", "stalled_work")
    ),
]

THIRD_VAIN = Streaks(vain=2)
VAIN, USEFUL = Condensed(5.0, 0), Condensed(5.0, 100_000)
CONDENSINGS: list[Case] = [
    (
        "condensed in vain, and told so too often",
        at(P.ASKING, streaks=Streaks(vain=1), purse=left(CONDENSED=0)),
        VAIN,
        P.ASKING,
        [],
    ),
    *(
        (f"condensed in vain twice while {phase.value}", at(phase, streaks=Streaks(vain=1)), VAIN, phase, [Tell])
        for phase in (P.ASKING, P.RECOVERING, P.ACTING, P.WAITING)
    ),
    *(
        (f"condensed by the host while {phase.value}", at(phase), USEFUL, phase, list[Command]())
        for phase in (P.ASKING, P.RECOVERING, P.ACTING, P.WAITING)
    ),
    ("condensed in vain twice", at(P.CONDENSING, streaks=Streaks(vain=1)), VAIN, P.RECOVERING, [Tell, Ask()]),
    ("condensed in vain a third time", at(P.CONDENSING, streaks=Streaks(vain=2)), VAIN, P.CONCLUDING, [LAST_ASK]),
    (
        "condensed in vain as a third nudge",
        at(P.CONDENSING, streaks=Streaks(vain=1), ladder=Ladder(Rung.NUDGED_TWICE, older=1, newer=2)),
        VAIN,
        P.CONCLUDING,
        [LAST_ASK],
    ),
    (
        "condensed in vain as a third nudge while a request is out",
        at(P.ASKING, streaks=Streaks(vain=1), ladder=Ladder(Rung.NUDGED_TWICE, older=1, newer=2)),
        VAIN,
        P.CONCLUDING,
        [Withdraw(), LAST_ASK],
    ),
    ("a piece of a reply", ASKING, Chunk(5.0, "text", TEXT, 9, 50), P.ASKING, []),
    ("a piece of a reply after another", RECOVERING, Chunk(5.0, "text", TEXT, 9, 50), P.RECOVERING, []),
    ("a reply that chants", ASKING, Chunk(5.0, "text", TEXT, 10, 50), P.CONCLUDING, [Withdraw(), LAST_ASK]),
    (
        "in vain a third time in a request",
        at(P.ASKING, streaks=Streaks(vain=2)),
        VAIN,
        P.CONCLUDING,
        [Withdraw(), LAST_ASK],
    ),
]

NOTES: list[tuple[str, Event]] = [
    ("the plan changes", PlanChanged(5.0, (PlanItem(TEXT, "pending"),))),
    ("the goal is measured", GoalMeasured(5.0, 1, 2)),
    ("somebody speaks", Said(5.0, TEXT)),
    ("an answer comes late", Result(5.0, "1", SAME)),
]
NOTED: list[Case] = [
    (f"{name} while {phase.value}", at(phase, unanswered=(READ,)), event, phase, [])
    for phase in OPEN
    for name, event in NOTES
]

WAITS: list[Case] = [
    ("the time has come", WAITING, Clock(5.0), P.ASKING, [Ask()]),
    ("the time has come too late", WAITING, Clock(1_000.0), P.CONCLUDING, [LAST_ASK]),
    ("a signal", WAITING, Signal(5.0, "approved"), P.ASKING, [Ask()]),
    ("a signal too late", WAITING, Signal(1_000.0, "approved"), P.CONCLUDING, [LAST_ASK]),
]

WAITED = Held(READ, Awaited.ANSWER, "1", 2.0, 50.0)
APPROVAL = attrs.evolve(WAITED, awaited=Awaited.CONSENT)
ASKED, TO_APPROVE = (at(P.WAITING, turn=Turn(3, held=(one,))) for one in (WAITED, APPROVAL))
ASKED_OUT, TO_APPROVE_OUT = (attrs.evolve(run, purse=left(HELD=0)) for run in (ASKED, TO_APPROVE))
ONCE = attrs.evolve(ASKED, outside=Outside(heard=HashTrieSet([digest8(b"1", b"\0", b"letter")])))
HELD_CALLS: list[Case] = [
    ("a call asks for something outside", TWO_OPEN, Awaits(5.0, "1", Awaited.ANSWER, "1"), P.ACTING, []),
    (
        "all that is left of the turn is held",
        acting(Turn(3, held=(WAITED,))),
        ENDED,
        P.WAITING,
        [TellPerson, WaitUntil(50.0, ("1",))],
    ),
    ("told once", acting(Turn(3, held=(attrs.evolve(WAITED, told=True),))), ENDED, P.WAITING, [WaitUntil]),
    ("the answer", ASKED, Signal(5.0, "1", answer="blue"), P.ACTING, [RunCalls(("1",))]),
    ("the answer heard before", ONCE, Signal(5.0, "1", answer="blue", id="letter"), P.WAITING, []),
    ("the answer to something else", ASKED, Signal(5.0, "2", answer="blue"), P.WAITING, []),
    ("an approval", TO_APPROVE, Signal(5.0, "1", answer="approve"), P.ACTING, [RunCalls(("1",))]),
    ("a denial", TO_APPROVE, Signal(5.0, "1", answer="deny"), P.ACTING, [AnswerCalls]),
    ("a withdrawal", ASKED, Signal(5.0, "1", withdrawn=True), P.ACTING, [AnswerCalls]),
    ("nobody answered yet", ASKED, Clock(49.9), P.WAITING, []),
    ("nobody answered", ASKED, Clock(50.0), P.ACTING, [AnswerCalls]),
    ("answered once too often", ASKED_OUT, Signal(5.0, "1", answer="blue"), P.CONCLUDING, [AnswerCalls, LAST_ASK]),
    ("denied once too often", TO_APPROVE_OUT, Signal(5.0, "1"), P.CONCLUDING, [AnswerCalls, LAST_ASK]),
    ("expired once too often", ASKED_OUT, Clock(50.0), P.CONCLUDING, [AnswerCalls, LAST_ASK]),
]


def worn_out(budget: Retry) -> Run:
    """A run that recovers and has nothing left of this recovery of its request."""
    sending = attrs.evolve(NEW.request, at=RequestState.RECOVERING, left={**NEW.request.left, budget: 0})
    return at(P.RECOVERING, request=sending)


def condensing(cause: Cause) -> Run:
    """A run whose history is being condensed for this reason."""
    return at(P.CONDENSING, cause=cause)


BUDGET = Refusal(5.0, 400, TEXT, kind=RefusalKind.REPLY_BUDGET, limit=8_192, budget=32_000)
SHORT = Refusal(5.0, 400, TEXT, kind=RefusalKind.PROMPT_TOO_LONG, estimate=31_999, window=128_000)
BROKEN, BAD_CALL = (Refusal(5.0, 400, TEXT, kind=kind) for kind in (RefusalKind.TRANSCRIPT, RefusalKind.BAD_CALL))
NOTHING = Condensed(5.0, 0, nothing_left=True)

REFUSALS: list[Case] = [
    ("refused for good", ASKING, FINAL, P.FAILED, [End]),
    ("refused at the limit", AT_LIMIT, PASSING, P.CONCLUDING, [LAST_ASK]),
    ("too long", RECOVERING, TOO_LARGE, P.CONDENSING, [Condense()]),
    ("too long, and condensed too often", worn_out(Retry.SHRUNK), TOO_LARGE, P.FAILED, [End]),
    ("refused for now", ASKING, PASSING, P.RECOVERING, [Ask(after=7.0)]),
    ("refused for now once too often", worn_out(Retry.RETRIED), PASSING, P.FAILED, [End]),
    ("its reply budget is too large", ASKING, BUDGET, P.RECOVERING, [Ask(reply_tokens=8_192)]),
    ("the same once too often", worn_out(Retry.FITTED), BUDGET, P.FAILED, [End]),
    ("a call that it could not read too often", worn_out(Retry.TOLD), BAD_CALL, P.FAILED, [End]),
    ("a short one refused as too long", ASKING, SHORT, P.RECOVERING, [Ask()]),
    ("the same again", worn_out(Retry.INSISTED), SHORT, P.CONDENSING, [Condense()]),
    ("its transcript is not taken", ASKING, BROKEN, P.RECOVERING, [Simplify(), Ask()]),
    ("a call that the server could not read", ASKING, BAD_CALL, P.RECOVERING, [Tell("bad_call"), Ask()]),
    ("it fits", ASKING, Measured(5.0, 800, 800), P.ASKING, []),
    ("it hardly fits", ASKING, Measured(5.0, 801, 800), P.CONDENSING, [Withdraw(), Condense("ahead", 801, 800)]),
    ("it hardly fits for ever", worn_out(Retry.AHEAD), Measured(5.0, 801, 800), P.RECOVERING, []),
    ("nothing is left to condense", condensing(Cause.REFUSED), NOTHING, P.FAILED, [End]),
    ("nothing is left for a full window", condensing(Cause.FULL), NOTHING, P.CONCLUDING, [LAST_ASK]),
    ("nothing is left, and it may still fit", condensing(Cause.AHEAD), NOTHING, P.RECOVERING, [Ask()]),
    ("refused as nobody knows why", ASKING, Refusal(5.0, 422, TEXT), P.FAILED, [End]),
    ("condensed", at(P.CONDENSING), Condensed(5.0, 100), P.RECOVERING, [Ask()]),
    ("condensed too late", at(P.CONDENSING), Condensed(1_000.0, 100), P.CONCLUDING, [LAST_ASK]),
    ("no reply", RECOVERING, NoReply(5.0, "gone"), P.FAILED, [End]),
    ("nothing to condense with", at(P.CONDENSING), NoReply(5.0, "gone"), P.FAILED, [End]),
]

OVER = AnswerCalls(("1",), "the run is over: its last reply has no tools")
GONE, CALLING = NoReply(5.0, "gone"), reply(StopReason.TOOL_USE, READ)

LAST: list[Case] = [
    ("last words after changes", concluding(1), SPOKEN, P.PARTIAL, [End]),
    ("last words with a call after changes", concluding(1), CALLING, P.PARTIAL, [OVER, End]),
    ("last words after nothing", concluding(), SPOKEN, P.BLOCKED, [End]),
    ("no last words after changes", concluding(1), GONE, P.PARTIAL, [End]),
    ("no last words after nothing", concluding(), GONE, P.BLOCKED, [End]),
    ("last words refused after changes", concluding(1), PASSING, P.PARTIAL, [End]),
    ("last words refused after nothing", concluding(), FINAL, P.BLOCKED, [End]),
]

CANCELLED: list[Case] = [
    (f"cancelled while {phase.value}", at(phase), Cancel(5.0), P.CANCELLED, [End]) for phase in (P.READY, *OPEN)
]

CASES = [
    *BEGINNING,
    *REPLIES,
    *TURNS,
    *DETECTED,
    *CONDENSINGS,
    *NOTED,
    *WAITS,
    *HELD_CALLS,
    *REFUSALS,
    *LAST,
    *CANCELLED,
]


@pytest.mark.parametrize(("run", "event", "target", "commands"), [pytest.param(*c[1:], id=c[0]) for c in CASES])
def test_one_call_takes_one_row(
    run: Run, event: Event, target: Phase, commands: Sequence[Command | type[Command]]
) -> None:
    step = step_one(RUN, run, event, target=target, commands=commands)
    assert step.run.at is target
    assert (step.run.outcome is not None) == (target in ENDINGS)
    assert (step.run.stop is None) == (run.stop is None and LAST_ASK not in step.commands)


@pytest.mark.parametrize("name", list(KEPT))
def test_each_detector_speaks_and_stops_at_its_own_limits_and_not_before(name: str) -> None:
    nudge, stop = WIDE[name]
    if name != "redundant_check":  # which counts no further than 1
        below = RUN.step(counting(name, nudge - 1), ENDED)
        assert below.run.at is Phase.ASKING
        assert not any(isinstance(command, Tell) for command in below.commands)
    if nudge != stop:
        told = RUN.step(counting(name, nudge), ENDED)
        assert [command.by for command in told.commands if isinstance(command, Tell)] == [name]
        assert RUN.step(counting(name, stop - 1 if stop else 9), ENDED).run.at is Phase.ASKING
    if stop:
        stopped = RUN.step(counting(name, stop), ENDED).run
        assert stopped.stop is not None
        assert (stopped.stop.by, dict(stopped.stop.values)["now"]) == (name, stop)


@pytest.mark.parametrize("name", list(KEPT))
def test_a_detector_that_has_spoken_in_its_streak_speaks_no_second_time(name: str) -> None:
    run = counting(name, WIDE[name][0], stop=None)
    spoken = attrs.evolve(run, streaks=attrs.evolve(run.streaks, nudged=(name,)))
    for before, told in ((run, [name]), (spoken, [])):
        after = RUN.step(before, ENDED)
        assert [command.by for command in after.commands if isinstance(command, Tell)] == told
        assert after.run.streaks.nudged == (name,)


@pytest.mark.parametrize("phase", [P.ASKING, P.RECOVERING, P.ACTING, P.WAITING, P.CONDENSING])
def test_condensing_in_vain_is_told_once(phase: Phase) -> None:
    run = at(phase, streaks=Streaks(vain=1, nudged=("vain_condensing",)))
    after = RUN.step(run, VAIN)
    assert not any(isinstance(command, Tell) for command in after.commands)
    assert after.run.streaks.nudged == ("vain_condensing",)
    assert RUN.step(run, USEFUL).run.streaks.nudged == ()


def test_a_rescue_is_given_twice_a_run_and_then_it_stops() -> None:
    ladder = Ladder(Rung.NUDGED, newer=2)
    run = attrs.evolve(counting("no_progress", 4), requires=("a.txt", "b.txt"), ladder=ladder)
    answer = RUN.step(run, ENDED)
    assert answer.run.purse[Purse.RESCUE] == 1
    (told,) = [command for command in answer.commands if isinstance(command, Tell)]
    assert told.by == "rescue"
    assert (dict(told.values)["instead_of"], dict(told.values)["unwritten"]) == ("no_progress", "a.txt, b.txt")
    assert (answer.run.streaks.barren, answer.run.ladder) == (0, Ladder())
    assert RUN.step(attrs.evolve(run, purse=left(RESCUE=0)), ENDED).run.at is Phase.CONCLUDING
    written = attrs.evolve(run, ledger=Ledger(written=HashTrieSet(["a.txt", "b.txt"])))
    assert RUN.step(written, ENDED).run.at is Phase.CONCLUDING


def test_no_rescue_is_given_once_a_limit_is_reached() -> None:
    run = attrs.evolve(counting("no_progress", 4), requires=("a.txt",))
    for spent, target in ((Spent(), Phase.ASKING), (SPENT_UP, Phase.CONCLUDING)):
        answer = RUN.step(attrs.evolve(run, spent=spent), ENDED)
        assert (answer.run.at, answer.run.purse[Purse.RESCUE]) == (target, 1 if target is Phase.ASKING else 2)


@pytest.mark.parametrize("phase", [P.CONDENSING, P.ASKING])
def test_condensing_in_vain_as_a_third_nudge_stops_for_that_reason(phase: Phase) -> None:
    run = at(phase, streaks=Streaks(vain=1), ladder=Ladder(Rung.NUDGED_TWICE, older=1, newer=2))
    stop = RUN.step(run, VAIN).run.stop
    assert stop is not None
    values = {"detector": "vain_condensing", "older": 1, "newer": 2, "turn": run.turn.number}
    assert (stop.by, dict(stop.values)) == ("escalation", values)


def test_every_row_is_taken_alone() -> None:
    taken = {RUN.step(run, event).row for _, run, event, _, _ in CASES}
    assert [str(row) for number, row in enumerate(RUN.rows) if number not in taken] == []


@pytest.mark.parametrize(("name", "run", "event", "target", "commands"), LAST, ids=[case[0] for case in LAST])
def test_a_forced_ending_keeps_the_reason_of_the_stop(
    name: str, run: Run, event: Event, target: Phase, commands: Sequence[Command | type[Command]]
) -> None:
    outcome = RUN.step(run, event).run.outcome
    assert outcome is not None
    assert outcome.reason == Reason("turns")
    assert outcome.status.value == target.value
    assert outcome.stands_alone is False


def test_an_answer_to_no_open_call_is_refused_with_what_is_open() -> None:
    answer = RUN.step(TWO_OPEN, Result(5.0, "3", SAME))
    assert isinstance(answer, Refused)
    assert answer.why == ""
    assert [(found.name, dict(found.seen)) for found in answer.seen] == [
        ("open_call", {"call": "3", "open": 2}),
        ("late_call", {"call": "3", "unanswered": 0}),
    ]
    assert answer.run is TWO_OPEN


def test_a_call_is_answered_once() -> None:
    once = RUN.step(TWO_OPEN, Result(5.0, "1", SAME)).run
    assert isinstance(RUN.step(once, Result(6.0, "1", SAME)), Refused)


def test_a_cancelled_run_answers_its_open_calls_and_lists_them() -> None:
    answer = RUN.step(TWO_OPEN, Cancel(5.0, "enough"))
    assert len(answer.commands) == 2
    first, last = answer.commands
    assert isinstance(first, AnswerCalls)
    assert first.calls == ("1", "2")
    assert isinstance(last, End)
    assert last.outcome.account.unanswered == ("1", "2")
    assert last.outcome.reason == Reason("cancelled", (("why", "enough"),))


def test_progress_makes_every_recovery_full_again_and_leaves_the_turns() -> None:
    spent = left(CONDENSED=0, TURN=4)
    mending = spent_up(Mend.EMPTY).reply
    news, none = (NEWS, LOOKED, HEARD, LEARNED), (acting(), POLLED, EXPIRED, WARNED)
    for run, progress in (*((one, True) for one in news), *((one, False) for one in none)):
        after = RUN.step(attrs.evolve(run, purse=spent, reply=mending), ENDED).run
        assert after.purse == (left(TURN=4) if progress else spent)
        assert after.reply == (NEW.reply if progress else mending)


def test_a_stop_at_a_limit_answers_the_calls_that_got_no_answer() -> None:
    assert RUN.step(acting(OPENED, purse=left(TURN=0)), ENDED).commands == (LATE, LAST_ASK)


def test_a_turn_that_looked_at_a_wait_and_left_a_call_without_an_answer_did_not_only_look() -> None:
    polled = attrs.evolve(POLLED, turn=Turn(3, open=(OTHER,), polls=1))
    step_one(RUN, polled, ENDED, target=P.ASKING, commands=[LATE, Ask()])


# Over the table: a checkpoint ends nothing.


def test_by_the_table_alone_only_what_is_more_than_a_checkpoint_ends_an_open_run() -> None:
    """A reply that is no forced candidate ends a run only as a kind of message that is an ending, or withheld."""
    for row in RUN.rows:
        if row.event is Reply and row.target in ENDINGS and Phase.CONCLUDING not in row.sources:
            (guard,) = map(name_of, row.guards)
            assert guard in ("is_final_answer", "is_partial_answer", "is_failure_report", "reply_withheld"), str(row)


def test_by_the_table_alone_no_forced_stop_is_completed() -> None:
    for row in RUN.rows:
        if Phase.CONCLUDING in row.sources and row.target in ENDINGS:
            assert row.target in (Phase.PARTIAL, Phase.BLOCKED, Phase.CANCELLED), str(row)
        if row.target is Phase.COMPLETED:
            assert list(map(name_of, row.guards)) == ["is_final_answer"], str(row)


@pytest.mark.parametrize("phase", [Phase.ASKING, Phase.RECOVERING])
@pytest.mark.parametrize("kind", [None, Declared.CHECKPOINT, Declared.FINAL])
def test_a_checkpoint_never_ends_a_run(phase: Phase, kind: Declared | None) -> None:
    # The last is declared final, but the host knows of no ground for it.
    facts = Facts(grounded=False) if kind is Declared.FINAL else Facts(grounded=True)
    step = step_one(RUN, at(phase), reply(text=TEXT, kind=kind, facts=facts), target=Phase.ACTING)
    assert step.run.purse == left(TURN=9)
