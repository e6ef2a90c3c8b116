"""What the turns of a leg have left of every streak, and how one more turn changes it.

The rules of what clears a streak:

* a new external state, an item of the plan closed, or a better count of the goal clears all of them, with whatever
  repeated beside it in the same turn: to fix and test again is work, even while the test stays red;
* a result that is new among its tool's last ones clears what is counted of that tool;
* a look that succeeds and shows something new clears what is counted of the tools that write: they did something;
* a person's message begins a new leg, and so new streaks; what a program says in a person's name clears nothing;
* another wording of a reply, a new thought, or a new receipt of the same write clears nothing; words and thoughts
  between two equal calls end no row;
* under a policy that does not look at results, nothing that a call brings clears what is counted of its repetitions.

A turn that only looked at a declared wait adds to nothing. The order of the calls inside a turn is nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import gcd

import attrs
from rpds import HashTrieMap

from statecraft.evolve import evolve

from . import window as windows
from .events import ErrorKind
from .ledger.work import digest8
from .manifest import Kind, Tool
from .policy import Policy
from .turn import Answer, Turn

LAP = 8
"""Bytes of a turn in `laps`: seven of its calls and their results as a multiset, one that is 1 where all failed."""

MOST_TOOLS = 64
"""Tools, and families of tools, that are counted at once."""

Lookup = Callable[[str], Tool]


@attrs.frozen
class ToolStreak:
    """One tool's: turns in a row that brought nothing new from it, those among them with a success, and one failure.

    `failure` is the normalised outcome of its last errors, `failures` how many in a row.
    """

    barren: int = 0
    ok: int = 0
    failure: bytes = b""
    failures: int = 0


@attrs.frozen
class Circle:
    """One family's calls about one topic without a new source: the topic's words, its numbers, how many."""

    topic: bytes = b""
    figures: bytes = b""
    count: int = 0


@attrs.frozen(weakref_slot=False)  # eight bytes that nobody needs, in each of ten thousand runs
class Streaks:
    """What the turns before this one left of every streak.

    `barren`: turns in a row without a signal, `stalled`: without new distinct work, and how the calls in them went.
    `same`: the outcome of the last turn's only kind of call, how often in a row, of which tool, and how often it
    succeeded. `window` and `laps`: the last answers and the last turns, packed. `invalid`: what was wrong in the same
    way, and how often in a row. `searches`: fruitless ones in a row. `told`: the tool that has just said something new;
    `looked`: that was only looked at again. `recovered`: the last turn was a success after an error, `failing`: all its
    calls failed. `thoughts`: empty ones in a row. `silent`: turns in a row with neither a signal nor a call, but for
    thoughts. `vain`: condensings in a row that brought nothing, `work`: how much distinct work there was at the last,
    and `condensed` the turn of it.
    `nudged`: detectors that have spoken in the streak that they still see. `last_signal` and its turn are for evidence.
    """

    barren: int = 0
    barren_ok: int = 0
    barren_failed: int = 0
    stalled: int = 0
    stalled_ok: int = 0
    stalled_failed: int = 0
    same: bytes = b""
    same_count: int = 0
    same_ok: int = 0
    same_tool: str = ""
    window: bytes = b""
    laps: bytes = b""
    tools: HashTrieMap[str, ToolStreak] = HashTrieMap()
    families: HashTrieMap[str, Circle] = HashTrieMap()
    invalid: bytes = b""
    invalid_count: int = 0
    searches: int = 0
    told: str = ""
    looked: bool = False
    recovered: bool = False
    failing: bool = False
    thoughts: int = 0
    silent: int = 0
    vain: int = 0
    work: int = -1
    condensed: int = 0
    nudged: tuple[str, ...] = ()
    last_signal: str = ""
    last_signal_turn: int = 0


def steps_of(answers: tuple[Answer, ...], tool: Lookup) -> tuple[Answer, ...]:
    """The answers that are judged as steps: a thought is none."""
    return tuple(answer for answer in answers if tool(answer.tool).kind is not Kind.THINK)


def closed(before: Streaks, turn: Turn, policy: Policy, tool: Lookup) -> Streaks:
    """The streaks with the whole turn in them."""
    whole = turn.judged
    judged = steps_of(whole, tool)
    if turn.polls and not judged and not turn.strong:
        return _waited(before, turn)
    blind = not policy.progress.results
    ok = failed = looks = 0
    told, showed = "", False
    for answer in judged:
        ok += answer.ok
        failed += answer.barren
        if tool(answer.tool).look:
            looks += answer.ok
            showed = showed or (answer.ok and answer.new)
        elif answer.ok and answer.new:
            told = max(told, answer.tool)
    only_looked = 0 < looks == len(judged) and not turn.signal
    looked = only_looked and (before.recovered or before.told != "")
    recovered = ok > 0 and failed == 0 and before.failing and not blind
    failing = failed > 0 and ok == 0 if judged else before.failing
    if not judged:  # words and thoughts are no step: what the last step left still stands
        told, recovered = before.told, before.recovered
    last_signal = turn.signal or before.last_signal
    last_turn = turn.number if turn.signal else before.last_signal_turn
    if turn.strong and not blind:
        return Streaks(
            told=told,
            looked=looked,
            recovered=recovered,
            failing=failing,
            last_signal=last_signal,
            last_signal_turn=last_turn,
        )
    if turn.strong:
        before = _only_repeats(before)
    writers = {name for name in before.tools if tool(name).kind is Kind.WRITE} if showed else set[str]()
    repeats = tuple(map(_unread, judged)) if blind else judged
    succeeded = len(judged) if blind else sum(not answer.barren for answer in judged)
    alone = bool(judged) and (len(judged) == 1 or len({answer.outcome for answer in judged}) == 1)
    again = alone and judged[0].outcome == before.same
    same, same_tool = (judged[0].outcome, judged[0].tool) if alone else (b"", "")
    same_count = len(judged) + (before.same_count if again else 0) if alone else 0
    same_ok = succeeded + (before.same_ok if again else 0) if alone else 0
    if not judged:  # words, and thoughts, between two equal calls
        same, same_tool, same_count, same_ok = before.same, before.same_tool, before.same_count, before.same_ok
    invalid, wrong = _invalid(before, judged)
    barren, stalled = not turn.signal, not (turn.grew or turn.strong)
    # New commands that say nothing when they succeed are no news, and no sign of standing still either.
    count = 0 if judged and all(answer.wordless for answer in judged) else 1
    return Streaks(
        barren=before.barren + count if barren else 0,
        barren_ok=before.barren_ok + ok if barren else 0,
        barren_failed=before.barren_failed + failed if barren else 0,
        stalled=before.stalled + 1 if stalled else 0,
        stalled_ok=before.stalled_ok + ok if stalled else 0,
        stalled_failed=before.stalled_failed + failed if stalled else 0,
        same=same,
        same_count=same_count,
        same_ok=same_ok,
        same_tool=same_tool,
        window=_window(before.window, tuple(map(_unread, whole)) if blind else whole, writers, _keep(policy)),
        laps=_laps(before.laps, repeats, policy.detectors.cycle.max_period * policy.detectors.cycle.most_laps),
        tools=_tools(_without(before.tools, writers), judged),
        families=_families(before.families, judged, tool),
        invalid=invalid,
        invalid_count=wrong,
        searches=_searches(before.searches, judged, tool),
        told=told,
        looked=looked,
        recovered=recovered,
        failing=failing,
        thoughts=_thoughts(before.thoughts, whole, tool),
        silent=before.silent + 1 if not judged and not turn.polls and barren else 0,
        vain=before.vain,
        work=before.work,
        condensed=before.condensed,
        nudged=before.nudged,
        last_signal=last_signal,
        last_signal_turn=last_turn,
    )


def _waited(before: Streaks, turn: Turn) -> Streaks:
    """A turn that only waited counts for nothing; what moved meanwhile is progress."""
    if not turn.signal:
        return before
    moved = evolve(before, barren=0, barren_ok=0, barren_failed=0, silent=0)
    return evolve(moved, last_signal=turn.signal, last_signal_turn=turn.number)


def _only_repeats(before: Streaks) -> Streaks:
    """The streaks without those that a strong signal clears whatever the policy looks at."""
    return Streaks(
        same=before.same,
        same_count=before.same_count,
        same_ok=before.same_ok,
        same_tool=before.same_tool,
        window=before.window,
        laps=before.laps,
        nudged=before.nudged,
    )


def _unread(answer: Answer) -> Answer:
    """The answer as it is where results are not looked at: a call that was made."""
    return evolve(answer, error=None, seen=True, new=False)


def _keep(policy: Policy) -> int:
    """Answers that the window has to hold."""
    spread, often = policy.detectors.spread_duplicate, policy.detectors.same_tool
    return max(spread.window, spread.failing_window, often.window)


def _without(tools: HashTrieMap[str, ToolStreak], names: set[str]) -> HashTrieMap[str, ToolStreak]:
    """A look that shows something new shows that the writes before it did something, whatever they said themselves."""
    for name in sorted(names):
        tools = tools.discard(name)
    return tools


def _window(window: bytes, judged: tuple[Answer, ...], writers: set[str], keep: int) -> bytes:
    for name in sorted({*writers, *(answer.tool for answer in judged if answer.new)}):
        window = windows.without(window, name)
    for a in judged if len(judged) < 2 else sorted(judged, key=_by_outcome):
        window = windows.added(
            window, outcome=a.outcome, call=a.call, tool=a.tool, failed=a.barren, new=a.new or a.idle, keep=keep
        )
    return window


def _by_outcome(answer: Answer) -> tuple[bytes, bytes]:
    """Which of two answers of a turn came first says nothing."""
    return answer.outcome, answer.call


def _laps(laps: bytes, judged: tuple[Answer, ...], keep: int) -> bytes:
    """A turn is its calls as a multiset; one that holds the same several times over is as many laps."""
    if not judged:
        return laps  # words between two laps are no progress
    if len(judged) == 1:
        return (laps + judged[0].outcome[: LAP - 1].ljust(LAP - 1) + bytes((judged[0].barren,)))[-keep * LAP :]
    counts: dict[bytes, int] = {}
    for answer in judged:
        counts[answer.outcome] = counts.get(answer.outcome, 0) + 1
    times = gcd(*counts.values())
    once = sorted(outcome * (count // times) for outcome, count in counts.items())
    turn = once[0] if len(once) == 1 else digest8(*once)  # a turn of one kind of call is that call, however often
    entry = turn[: LAP - 1].ljust(LAP - 1) + bytes((all(answer.barren for answer in judged),))
    return (laps + entry * min(times, keep))[-keep * LAP :]


def _tools(tools: HashTrieMap[str, ToolStreak], judged: tuple[Answer, ...]) -> HashTrieMap[str, ToolStreak]:
    by_tool: dict[str, list[Answer]] = {}
    if len(judged) == 1 and judged[0].new and judged[0].error is None and judged[0].tool not in tools:
        return tools  # what mostly happens
    for answer in judged:
        if not answer.idle:
            by_tool.setdefault(answer.tool, []).append(answer)
    for name, answers in by_tool.items():
        had = tools.get(name)
        streak = _of_tool(had or ToolStreak(), answers)
        if streak == ToolStreak():
            tools = tools.discard(name)
        else:
            tools = tools.insert(name, streak)
            if len(tools) > MOST_TOOLS:
                tools = tools.discard(min(tools, key=lambda held: (_weight(tools[held]), held)))
    return tools


def _weight(streak: ToolStreak) -> int:
    """How far a tool has come; the one that has come least far is forgotten first."""
    return max(streak.barren, streak.failures)


def _of_tool(had: ToolStreak, answers: list[Answer]) -> ToolStreak:
    failure, failures = _failures(had, answers)
    if any(answer.new for answer in answers):
        return ToolStreak(failure=failure, failures=failures)
    ok = had.ok + any(answer.ok for answer in answers)
    barren = had.barren + (not all(answer.wordless for answer in answers))
    return ToolStreak(barren, ok, failure, failures)


def _failures(had: ToolStreak, answers: list[Answer]) -> tuple[bytes, int]:
    """The failures in a row with one more turn: a success ends the row, and so do two kinds of failure."""
    failed = [answer.failure for answer in answers if answer.error is not None]
    if any(answer.error is None and answer.seen for answer in answers) or len(set(failed)) > 1:
        return b"", 0
    if not failed:
        return had.failure, had.failures
    return failed[0], len(failed) + (had.failures if failed[0] == had.failure else 0)


def _families(families: HashTrieMap[str, Circle], judged: tuple[Answer, ...], tool: Lookup) -> HashTrieMap[str, Circle]:
    for answer in judged if len(judged) == 1 else sorted(judged, key=_by_topic):
        name = tool(answer.tool).family
        if name is None:
            continue
        had = families.get(name) or Circle()
        other = answer.new and answer.figures != had.figures  # another year is another question if the answer differs
        if answer.sourced or other or not _same_topic(had.topic, answer.topic):
            count = 0 if answer.sourced else 1
            circle = Circle(answer.topic, answer.figures, count)
        else:
            circle = Circle(had.topic, answer.figures, had.count + 1)
        if name in families or len(families) < MOST_TOOLS:
            families = families.insert(name, circle)
    return families


def _by_topic(answer: Answer) -> tuple[bool, bytes, bytes, bool]:
    """A source comes last, so that it clears what the turn did beside it."""
    return answer.sourced, answer.topic, answer.figures, answer.new


def _same_topic(one: bytes, other: bytes) -> bool:
    """Whether two topics share at least half of the words of the shorter; the words are digests of four bytes."""
    words = [{topic[at : at + 4] for at in range(0, len(topic), 4)} for topic in (one, other)]
    fewest = min(map(len, words))
    return 2 * len(words[0] & words[1]) >= fewest > 0 or one == other


def invalid_key(answer: Answer) -> bytes:
    """What is wrong with a call whatever comes: its arguments, or that its tool is not there; else nothing."""
    if answer.error is ErrorKind.VALIDATION:
        return answer.call
    if answer.error is ErrorKind.UNKNOWN_TOOL:
        return unknown_key(answer.tool)
    return b""


def unknown_key(tool: str) -> bytes:
    """Stands for a tool that is not there."""
    return digest8(b"unknown", tool.encode("utf-8", "surrogatepass"))


def _invalid(before: Streaks, judged: tuple[Answer, ...]) -> tuple[bytes, int]:
    if not judged:
        return before.invalid, before.invalid_count
    keys = {invalid_key(answer) for answer in judged}
    if len(keys) > 1 or b"" in keys:
        return b"", 0
    key = keys.pop()
    return key, len(judged) + (before.invalid_count if key == before.invalid else 0)


def _searches(count: int, judged: Iterable[Answer], tool: Lookup) -> int:
    searches = fruitless = 0
    for answer in judged:
        if answer.seen and tool(answer.tool).kind is Kind.SEARCH:  # one that nobody saw is neither a hit nor a miss
            searches, fruitless = searches + 1, fruitless + answer.fruitless
    return count + searches if fruitless == searches else 0


def _thoughts(count: int, judged: tuple[Answer, ...], tool: Lookup) -> int:
    if not judged:
        return count
    empty = all(answer.empty and tool(answer.tool).kind is Kind.THINK for answer in judged)
    return count + len(judged) if empty else 0
