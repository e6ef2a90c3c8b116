"""What a run has learned and done: distinct results, states, plan, goal, changes.

Growth of a set is progress, a longer list is not: everything here is a set of digests, or the best value so far. Four
signals say that something new came in, and `learn_result`, `learn_plan` and `learn_goal` name the one that fired:

* `result`  the answer of a tool is not among that tool's last few
* `state`   a write left what it touched in a state not seen before; a write without a digest counts once per call
* `plan`    an item of the plan was closed that was open (its wording counts for nothing)
* `goal`    the best count of the task's own measure so far

A result that was not seen is evidence of nothing; a scratch tool changes nothing, and a thought brings nothing. A write
done again says nothing new, whatever number its receipt has.

Distinct work is a stricter measure than the signals: sets that only ever grow, whatever the run. They are files by
path, operation and change; successful commands by command and outcome; tools by name and result; sources by what they
are; and failures by their normalised outcome, whatever the command.
"""

from __future__ import annotations

import hashlib

import attrs
from rpds import HashTrieMap, HashTrieSet

from statecraft.evolve import evolve

from ..events import Call, ErrorKind, GoalMeasured, PlanChanged, PlanItem, Result
from ..manifest import Kind, Tool
from ..outcome import Change, LastResult

SHOWN_CHANGES = 8
"""Changes that the account lists; the others are counted."""

SHOWN_RESULTS = 3
"""Last results that the account shows."""


@attrs.frozen
class Distinct:
    """The sets of distinct work, eight bytes a thing."""

    files: HashTrieSet[bytes] = HashTrieSet()
    commands: HashTrieSet[bytes] = HashTrieSet()
    tools: HashTrieSet[bytes] = HashTrieSet()
    sources: HashTrieSet[bytes] = HashTrieSet()
    failures: HashTrieSet[bytes] = HashTrieSet()

    @property
    def size(self) -> int:
        """How many distinct things there are."""
        return sum(map(len, (self.files, self.commands, self.tools, self.sources, self.failures)))


@attrs.frozen
class Learned:
    """What one result brought: the ledger with it, and which signal fired ("" = none).

    `new`: not among the last results of its tool; `grew`: the distinct work did, or may have, where a write was not
    digested and nobody knows whether it left things as they were; `sourced`: a source not used before; `wordless`: a
    command not run before that succeeded without a word.
    """

    ledger: Ledger
    signal: str = ""
    new: bool = False
    grew: bool = False
    sourced: bool = False
    wordless: bool = False


@attrs.frozen
class Ledger:
    """What a run has learned. It grows with distinct things only, and is handed on from leg to leg.

    `recent`: per tool the digests of its last distinct results, newest last. `seen`: 8-byte digests of the (target,
    state) pairs and blind writes of this leg. `work`: the distinct work of the whole run. `closed`: the items of any
    plan that were ever closed, by digest; `most_closed`: how many at once. `best`: the best share of the goal reached,
    None before the first. `unconfirmed`: calls that ran out of time, and nobody knows whether they took effect.
    """

    recent: HashTrieMap[str, tuple[bytes, ...]] = HashTrieMap()
    seen: HashTrieSet[bytes] = HashTrieSet()
    work: Distinct = Distinct()
    written: HashTrieSet[str] = HashTrieSet()
    plan: tuple[PlanItem, ...] = ()
    closed: HashTrieSet[str] = HashTrieSet()
    most_closed: int = 0
    goal: tuple[float, float] | None = None
    best: float | None = None
    changes: tuple[Change, ...] = ()
    changes_in_all: int = 0
    last_results: tuple[LastResult, ...] = ()
    unconfirmed: tuple[Change, ...] = ()


def digest8(*parts: bytes) -> bytes:
    """Eight bytes that stand for the parts; each part's length is in it, so that no two lists of parts meet."""
    sized = b"".join([len(part).to_bytes(4, "big") + part for part in parts])
    return hashlib.blake2b(sized, digest_size=8).digest()


def learn_result(ledger: Ledger, call: Call, result: Result, tool: Tool, recent_results: int) -> Learned:
    """The ledger with one more result, and what it brought."""
    idle = tool.scratch or tool.kind is Kind.THINK
    name = call.tool.encode(errors="surrogatepass")
    seen, recent, written, work = ledger.seen, ledger.recent, ledger.written, ledger.work
    signal, new = "", False
    late = result.error is ErrorKind.OUTCOME_UNKNOWN or (
        result.error is ErrorKind.TIMEOUT and tool.kind in (Kind.WRITE, Kind.COMMAND)
    )
    stands = result.error is None or (late and result.state is not None)  # what was looked at afterwards is known
    wrote = result.wrote and stands and not tool.scratch
    done = _done(call, result) if wrote else b""
    if result.digest is not None and not idle:
        last = recent.get(call.tool) or ()
        missing = result.error is ErrorKind.UNKNOWN_TOOL  # that a tool is not there says nothing new of anything
        new = result.digest not in last and not (wrote and done in seen) and not missing
        signal = "result" if new else ""
        kept = (*(d for d in last if d != result.digest), result.digest)
        recent = recent.insert(call.tool, kept[-recent_results:] if recent_results else ())
    if wrote:
        target = result.target or call.target
        if done not in seen:
            signal = "state"
            seen = seen.insert(done)
        if target is not None:
            written = written.insert(target)
        changes = (*ledger.changes, Change(call.tool, target, result.state))[-SHOWN_CHANGES:]
        # A call whose target nobody knows says nothing of another one.
        unconfirmed = tuple(
            one for one in ledger.unconfirmed if target is None or (one.tool, one.target) != (call.tool, target)
        )
        ledger = evolve(ledger, changes=changes, changes_in_all=ledger.changes_in_all + 1, unconfirmed=unconfirmed)
    elif late:
        unknown = Change(call.tool, result.target or call.target, None)
        ledger = evolve(ledger, unconfirmed=(*ledger.unconfirmed, unknown)[-SHOWN_CHANGES:])
    kind, thing = ("", b"") if idle else _thing(name, call, result, tool, done)
    grew = thing != b"" and thing not in getattr(work, kind)
    if grew:
        work = evolve(work, **{kind: getattr(work, kind).insert(thing)})
    shown = (*ledger.last_results, LastResult(call.tool, result.value, result.error))[-SHOWN_RESULTS:]
    ledger = evolve(ledger, seen=seen, work=work, recent=recent, written=written, last_results=shown)
    blind = wrote and result.state is None
    wordless = grew and kind == "commands" and result.value is not None and result.value.chars == 0
    return Learned(ledger, signal, new, grew or blind, grew and kind in _NEWS and not result.fruitless, wordless)


_NEWS = frozenset({"sources", "tools"})
"""Kinds of distinct work that may be a source; a tool that names none is one by what it says."""


def _done(call: Call, result: Result) -> bytes:
    """Stands for what a write left behind; without a digest of that, for the call."""
    if result.state is None:
        return digest8(b"write", call.signature)
    return digest8(b"state", (result.target or call.target or "").encode(errors="surrogatepass"), result.state)


def _thing(name: bytes, call: Call, result: Result, tool: Tool, done: bytes) -> tuple[str, bytes]:
    """The distinct thing that a result may be, and in which set; a write is what it left, and nothing else."""
    if result.error is not None:
        return "failures", result.failure or digest8(result.error.value.encode(), result.digest or b"")
    if done:
        return "files", done
    if result.digest is None or tool.kind is Kind.WRITE:
        return "", b""
    if tool.kind is Kind.COMMAND:
        return "commands", digest8(call.signature, result.digest)
    if (tool.kind is Kind.SEARCH or call.source) and not result.fruitless:
        return "sources", call.source or digest8(name, result.digest)
    return "tools", digest8(name, result.digest)


def fingerprint(work: Distinct) -> bytes:
    """Eight bytes for the sets as they stand: the same for the same things, in whatever order and however often."""
    sets = (work.files, work.commands, work.tools, work.sources, work.failures)
    return digest8(*(b"".join(sorted(one)) for one in sets))


def next_leg(ledger: Ledger) -> Ledger:
    """The ledger as it is handed on: what is new is asked afresh, what was done and learned stays."""
    return evolve(ledger, recent=HashTrieMap(), seen=HashTrieSet(), closed=HashTrieSet(), most_closed=0, best=None)


def learn_plan(ledger: Ledger, event: PlanChanged) -> tuple[Ledger, str]:
    """The ledger with the plan as it now stands.

    The signal: an item that stood open in the last plan is closed for the first time, or more are closed than ever. An
    item that is only worded anew, or opened and closed again, is nothing.
    """
    # An item listed twice is one; a dict keeps their order.
    done = {item.content.digest: None for item in event.items if item.status == "completed"}
    was_open = {item.content.digest for item in ledger.plan if item.status != "completed"}
    newly = any(item in was_open and item not in ledger.closed for item in done)
    signal = "plan" if newly or len(done) > ledger.most_closed else ""
    closed = ledger.closed
    for item in done:
        closed = closed.insert(item)
    return evolve(ledger, plan=event.items, closed=closed, most_closed=max(len(done), ledger.most_closed)), signal


def learn_goal(ledger: Ledger, event: GoalMeasured) -> tuple[Ledger, str]:
    """The ledger with the goal's count; a share better than the best so far is the signal."""
    share = event.done / event.total if event.total else 0.0
    better = ledger.best is None or share > ledger.best
    best = share if ledger.best is None else max(share, ledger.best)
    first = ledger.best is None and share == 0.0  # the first count of a task not begun is where it starts, not progress
    return evolve(ledger, goal=(event.done, event.total), best=best), "goal" if better and not first else ""
