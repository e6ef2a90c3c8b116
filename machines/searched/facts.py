"""The message machine as a table of facts: every candidate with every reply that its guards tell apart.

Values that no guard tells apart stand once: a fact that is known to be false is as good as one that is not known (but
for `answer_producing`, of which it is the other way round, and for checks, of which all three count), a build is as
good as an edit, and one change as many. What the run may hand over is one thing, whatever it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from statecraft import proofs
from statecraft.proofs import Law, Taken, each

from ..events import Declared, NoReply, Refusal, Reply, StopReason, Text
from ..events import Facts as Known
from ..manifest import Work
from ..message import (
    MESSAGE,
    Candidate,
    Message,
    artifacts,
    blocked,
    facts_of,
    grounded,
    made,
    no_facts,
    not_answering,
    words,
)

Candidates = Reply | NoReply | Refusal
Taking = Taken[Candidate, Candidates]

WORDS: Final = Text("words", 5)


def candidates() -> Iterator[Candidate]:
    """Every candidate."""
    return each(
        Candidate,
        {
            "work": (Work.OTHER, Work.BUILD),
            "forced": (False, True),
            "changes": (0, 1),
            "unwritten": (None, 0, 1),
            "require_facts": (False, True),
            "open_items": (0, 1),
        },
    )


def replies() -> Iterator[Candidates]:
    """Every reply, and that none comes."""
    known = each(
        Known,
        {
            "answer_producing": (None, False),
            "attempted": (None, True),
            "eligible": (None, 1),
            "grounded": (None, True),
            "honest_no_source": (None, True),
            "blockers": (None, True),
            "recovering": (None, True),
            "checks_passed": (None, True, False),
        },
    )
    for facts in (None, Known(grounded=False), *known):
        for kind in (None, Declared.PARTIAL, Declared.FINAL, Declared.FAILURE):
            yield Reply(0.0, StopReason.END_TURN, text=WORDS, kind=kind, facts=facts)
    for stop in (StopReason.END_TURN, StopReason.LENGTH, StopReason.REFUSAL):
        yield Reply(0.0, stop, text=None if stop is StopReason.END_TURN else WORDS, kind=Declared.FINAL)
    yield NoReply(0.0, "gone")
    yield Refusal(0.0, 529, WORDS)


def _became(step: Taking) -> Message | None:
    return None if step.stepped is None else step.stepped.run.at


def decides(step: Taking, _: object) -> str:
    """Whatever is known, something is decided."""
    return "nothing is decided" if step.stepped is None else ""


def forced_final(step: Taking, _: object) -> str:
    """A run that is forced to end leaves no final answer, and no checkpoint."""
    became = _became(step)
    forced = step.before.forced and became in (Message.FINAL_ANSWER, Message.CHECKPOINT)
    return f"forced, and yet a {became.value}" if forced and became is not None else ""


def unknown_completes(step: Taking, _: object) -> str:
    """A final answer rests on a fact, or on there being none at all."""
    run, event = step.before, step.event
    if not isinstance(event, Reply) or _became(step) is not Message.FINAL_ANSWER:
        return ""
    proved = (
        (artifacts(run, event).holds and made(run, event).holds)
        or grounded(run, event).holds
        or not_answering(run, event).holds
    )
    free = no_facts(run, event).holds and not run.require_facts
    return "" if proved or free else f"completed on {facts_of(event)}"


def raises_claim(step: Taking, _: object) -> str:
    """What the agent does not declare final is no final answer."""
    event = step.event
    if _became(step) is not Message.FINAL_ANSWER or not isinstance(event, Reply):
        return ""
    return "" if event.kind is Declared.FINAL else "a final answer that nobody declared"


def grounded_fails(step: Taking, _: object) -> str:
    """An answer that is grounded, and not blocked, is no failure. Builds and edits go by what they leave behind."""
    run, event = step.before, step.event
    if not isinstance(event, Reply) or _became(step) is not Message.FAILURE_REPORT:
        return ""
    fails = words(run, event).holds and grounded(run, event).holds
    excused = blocked(run, event).holds or artifacts(run, event).holds
    return "a grounded answer without a blocker is a failure" if fails and not excused else ""


def plan_ignored(step: Taking, _: object) -> str:
    """What leaves items of the plan open is no final answer."""
    final = _became(step) is Message.FINAL_ANSWER
    return "final, with the plan open" if final and step.before.open_items else ""


LAWS: Final[tuple[Law[Taking], ...]] = (
    Law("a candidate is decided", "a run that cannot end its message cannot end", decides),
    Law("a forced message is neither final nor a checkpoint", "a limit that was reached is no success", forced_final),
    Law("no unknown fact completes", "what is not known is no success", unknown_completes),
    Law("the agent's claim raises nothing", "facts decide, prose never does", raises_claim),
    Law("a grounded answer is no failure", "what was found out is handed over", grounded_fails),
    Law("no final answer leaves the plan open", "what was planned is not yet done", plan_ignored),
)

MESSAGES: Final = proofs.Facts(MESSAGE, candidates, replies, LAWS)
