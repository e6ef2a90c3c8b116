"""Judging one recorded run: the verdicts, turn by turn, and the outcome that the run would have had.

A recorded run cannot heed a nudge: it goes on. A stop ends its leg: what comes after is counted as saved and not
judged, until a person speaks again. The last reply that a stop asks for was never recorded, so the account speaks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from statecraft import Refused, Scalar
from statecraft.evolve import evolve

from ..events import Chunk, Condensed, Ended, Event, NoReply, Reply, Said
from ..ledger.candidates import Candidates
from ..ledger.observe import Keep, forget
from ..outcome import Outcome
from ..policy import DEFAULT, Policy, problems_of
from ..run import RUN
from ..state import Phase, Run, new_run
from ..supervisor import Fed, Moved, NewLeg, ended, feed, settle
from ..traces.bad_trace import BadTrace
from ..traces.lines import Budget as BudgetLine
from ..traces.recorded import Recorded
from ..verdicts import decided
from .translate import Translated, tools_of, translate, work_of

RANK = {"continue": 0, "nudge": 1, "stop": 2}

Watch = Callable[[Moved | NewLeg], None]


@attrs.frozen
class Verdict:
    """What was decided at the end of a turn (counted in replies from 1): `nudge` or `stop`, by which rule, on what."""

    turn: int
    verdict: str
    by: str
    evidence: Mapping[str, Scalar]


@attrs.frozen
class Saved:
    """What a stop would have saved: turns that were recorded after it, and their tokens."""

    turns: int = 0
    tokens: int = 0


@attrs.frozen
class Judged:
    """What judging a recorded run answers; field by field as the trace format says.

    `candidates` are fields that change on every otherwise equal answer, `TOOL.FIELD`: perhaps volatile ones. `strip`
    has one mark a turn (`report.LEGEND`), `calls` counts all calls, `run_now` is the run as it stands at the end.
    """

    run: str
    file: str
    format: str
    turns: int
    worst: str
    verdicts: tuple[Verdict, ...]
    first_nudge: int | None
    first_stop: int | None
    outcome: Outcome | None
    legs: tuple[Outcome | None, ...]
    recorded_end: str | None
    saved: Saved
    problems: tuple[str, ...]
    candidates: tuple[str, ...]
    strip: str
    calls: int
    run_now: Run = attrs.field(eq=False, repr=False)


def policy_for(recorded: Recorded, policy: Policy = DEFAULT) -> Policy:
    """The policy that a recorded run is judged by: its own budget or none, all other thresholds as given.

    How much a reply may cost was not recorded, so a request is checked by what is known of it.
    """
    own = recorded.run.budget or BudgetLine()
    bounded = evolve(
        policy.budget,
        turns=own.turns,
        seconds=own.seconds,
        tokens=own.tokens,
        usd=own.usd,
        reply_tokens=None,
        calls_per_turn=MOST_CALLS,
        unbounded=own.turns is None and own.tokens is None,
    )
    return evolve(policy, budget=bounded)


def first(recorded: Recorded, policy: Policy = DEFAULT) -> Run:
    """The run as it stands before its first event."""
    judged_by = policy_for(recorded, policy)
    if problems := problems_of(judged_by):
        field, _, rest = problems[0].partition(": found ")
        found, _, expected = rest.partition(", expected ")
        raise BadTrace(recorded.file, line=recorded.line, field=field, found=found, expected=expected)
    return new_run(
        recorded.run.id,
        judged_by,
        tools=tools_of(recorded),
        work=work_of(recorded.run),
        requires=recorded.run.requires,
        agent=recorded.run.agent if isinstance(recorded.run.agent, str) else None,
    )


def clamped(run: Run) -> list[str]:
    """The declared waits that are longer than the run's own time allows."""
    whole = run.policy.budget.seconds
    if whole is None:
        return []
    most = max(0.0, whole - run.policy.waiting.hold_back_seconds)
    return [
        f"the wait of {name}, {tool.wait.max_wait_seconds:g} s, is longer than the run allows: taken as {most:g} s"
        for name, tool in run.tools.items()
        if tool.wait is not None and (tool.wait.max_wait_seconds or 0.0) > most
    ]


class _Tally:
    """What has been seen so far; the one thing here that changes."""

    def __init__(self, run: Run, watch: Watch) -> None:
        self.run, self.watch = run, watch
        self.replies = self.calls = self.saved_turns = self.saved_tokens = 0
        self.stopped = False
        self.early = ""  # the mark of the turn whose reply has yet to come
        self.verdicts: list[Verdict] = []
        self.strip: list[str] = []
        self.legs: list[Outcome | None] = []
        self.problems: list[str] = clamped(run)
        self.recorded_end: str | None = None

    def take(self, fed: Fed, line: int | None) -> None:
        for move in fed.moves:
            self.watch(move)
            if isinstance(move, NewLeg):
                self.legs.append(self.run.outcome)
                self.stopped = False
                continue
            if isinstance(move.event, Reply):
                self.replies += 1
                self.strip.append(self.early or ".")
                self.early = ""
            for found in decided(move):
                self._add(found.verdict, found.by, found.evidence, early=isinstance(move.event, Chunk | Condensed))
            if isinstance(move.answer, Refused):
                self._problem(line, f"{type(move.event).__name__} changed nothing: {_why(move.answer)}")
        self.run = fed.run

    def _add(self, verdict: str, by: str, evidence: Mapping[str, Scalar], *, early: bool) -> None:
        """Note a verdict; one that comes before its reply does (`early`) has the turn that the reply will have."""
        self.verdicts.append(Verdict(self.replies + early, verdict, by, evidence))
        mark = "S" if verdict == "stop" else "n"
        if early:
            self.early = mark
        elif self.strip and self.strip[-1] != "S":
            self.strip[-1] = mark
        self.stopped = self.stopped or verdict == "stop"

    def _problem(self, line: int | None, text: str) -> None:
        where = "" if line is None else f"line {line}: "
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(where + text)

    def skip(self, event: Event, line: int | None) -> None:
        """An event after the run's leg was over: what a stop would have saved."""
        if isinstance(event, Reply):
            cut = self.early  # the reply that was stopped while it streamed: it was paid for
            self.early = ""
            self.replies += 1
            self.strip.append(cut or ("-" if self.stopped else "+"))
            self.calls += len(event.calls)
            if cut:
                return
            if self.stopped:
                self.saved_turns += 1
                self.saved_tokens += event.usage.input + event.usage.output
            else:
                self._problem(line, "a reply after the run had ended by itself; it is not judged")


MOST_CALLS = 1_000_000
"""Calls of a recorded turn that are judged; they were run, however many they were."""

MOST_PROBLEMS = 20
"""Problems listed for one run; a recording that is odd in one place is often odd in all."""


def judge(recorded: Recorded, policy: Policy = DEFAULT, *, watch: Watch | None = None, keep: Keep = forget) -> Judged:
    """Judge one recorded run: `watch` is shown every step, `keep` every text. Raises what reading it raises."""
    tally = _Tally(first(recorded, policy), watch or _unwatched)
    candidates = Candidates()
    events = translate(recorded, keep, candidates)
    here = next(events, None)
    while here is not None:
        then = next(events, None)
        _one(tally, here, None if then is None else then.event)
        here = then
    legs = (*tally.legs, tally.run.outcome)
    worst = max((v.verdict for v in tally.verdicts), key=RANK.__getitem__, default="continue")
    return Judged(
        run=recorded.run.id,
        file=recorded.file,
        format=recorded.format,
        turns=tally.replies,
        worst=worst,
        verdicts=tuple(tally.verdicts),
        first_nudge=next((v.turn for v in tally.verdicts if v.verdict == "nudge"), None),
        first_stop=next((v.turn for v in tally.verdicts if v.verdict == "stop"), None),
        outcome=legs[-1],
        legs=legs,
        recorded_end=tally.recorded_end,
        saved=Saved(tally.saved_turns, tally.saved_tokens),
        problems=tuple(tally.problems),
        candidates=candidates.found(),
        strip="".join(tally.strip),
        calls=tally.calls,
        run_now=tally.run,
    )


def _one(tally: _Tally, translated: Translated, then: Event | None) -> None:
    event, line = translated.event, translated.line
    if isinstance(event, Ended):
        tally.recorded_end = event.status
    if ended(tally.run) and not (isinstance(event, Said) and not event.synthetic):
        tally.skip(event, line)
        return
    tally.take(settle(tally.run, event), line)
    _conclude(tally, event.at, line)
    if ended(tally.run) and not isinstance(event, Said):
        tally.skip(event, line)
        return
    if isinstance(event, Reply):
        tally.calls += len(event.calls)
    tally.take(feed(tally.run, event, then=then), line)
    _conclude(tally, event.at, line)


def _conclude(tally: _Tally, at: float, line: int | None) -> None:
    """The stop asked for a last reply, which nobody recorded."""
    if tally.run.at is Phase.CONCLUDING:
        tally.take(feed(tally.run, NoReply(at, "the recording holds no reply to this request")), line)


def _why(answer: Refused[Run]) -> str:
    if answer.why:
        return answer.why
    no = ", ".join(f"{e.name} ({', '.join(f'{k}={v}' for k, v in e.seen.items())})" for e in answer.seen)
    return f"no row of {RUN.name} takes it: {no}"


def _unwatched(move: Moved | NewLeg) -> None:
    """Nobody watches."""
