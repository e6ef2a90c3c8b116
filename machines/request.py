"""A request that the provider refused, or that would not fit: what may help, and how often.

The rules, in the order of the rows:

* What no later request can pass (no key, no money, no such model) ends at once.
* A reply budget that is too large is made smaller: to the limit that was named, or to what prompt and window leave.
* A prompt that is refused as too long though it is plainly short is sent once more, once a run.
* What is too long is made shorter. What no pruning, condensing or spilling has made short enough is an overflow.
* A transcript that is not taken is sent in a plainer form, once. A bad call of the model, which some servers report as
  a bad request, is told to the model.
* What may pass later is sent again: when the provider says, or after a wait that doubles.
* A request that was measured before it was sent, and nears the window, is shortened first, as long as that helps.

A request that went through ends the incident: its turn makes every budget full again, but for that of the short prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, StrEnum
from functools import lru_cache
from typing import Final

import attrs

from statecraft import Evidence, Rows, Table, guard, ordered, seen, value_is
from statecraft.evolve import evolve

from ._incident import sizes_of
from .commands import Command
from .events import Measured, Refusal, RefusalKind
from .policy import Recovery
from .refusals.believed import believed

FINAL_STATUSES = frozenset({401, 402, 403, 404})
"""HTTP statuses after which asking again cannot help: no key, no money, not allowed, no such model."""

SIZE_STATUSES = frozenset({400, 413})
"""HTTP statuses that say, or may say, that the request is too large."""

TOO_LARGE: Final = 413
"""The HTTP status that says that a request is too large."""

PASSING_STATUSES = frozenset({0, 408, 409, 425, 429})
"""HTTP statuses (0: no connection) that a later request may not meet again; so may every status from 500 on."""

FINAL_KINDS = frozenset({RefusalKind.BILLING, RefusalKind.AUTHENTICATION})
SIZE_KINDS = frozenset({RefusalKind.PROMPT_TOO_LONG, RefusalKind.TOGETHER_TOO_LONG, RefusalKind.OVER_QUOTA})
PASSING_KINDS = frozenset({RefusalKind.RATE_LIMIT, RefusalKind.OVERLOADED})
"""What a refusal is for, where that can be told: it says more than the status, which servers use as they like.

A request that alone is over a quota, or over a model's limit with its reply, may pass when it is shorter.
"""

LEAST_REPLY: Final = 1_024
"""Tokens: a reply budget below this is not worth a request; the history is shortened instead."""

ASSUMED_WINDOW: Final = 128_000
"""Tokens of the window of a model of which nothing is known."""

IMPLAUSIBLE: Final = 0.25
"""The share of the window below which a prompt that is refused as too long cannot be."""


class RequestState(Enum):
    """How the incident stands; the last three are ends."""

    SENT = "sent"
    RECOVERING = "recovering"
    REFUSED = "refused"
    OVERFLOW = "overflow"
    EXHAUSTED = "exhausted"

    __hash__ = object.__hash__


class RequestCase(StrEnum):
    """What is done about the last refusal."""

    NONE = "none"
    FITTED = "fitted"
    INSISTED = "insisted"
    SHRUNK = "shrunk"
    REPAIRED = "repaired"
    TOLD = "told"
    RETRIED = "retried"


class Retry(Enum):
    """How often each case is recovered from, in one incident; INSISTED once a run."""

    FITTED = "reply_budget"
    INSISTED = "short_prompt"
    SHRUNK = "condensed"
    REPAIRED = "transcript"
    TOLD = "bad_call"
    RETRIED = "refused"
    AHEAD = "condensed_ahead"

    __hash__ = object.__hash__


@attrs.frozen(weakref_slot=False)  # eight bytes that nobody needs, in each of ten thousand runs
class Sending:
    """The recoveries of one request: what is left of each, and what was done last.

    For the account of an overflow: `size` and `window` are the last known size of the prompt and the most that the
    model takes, in tokens; `status` is HTTP's, and `said` whether the provider said that it was too long.
    """

    at: RequestState = RequestState.SENT
    case: RequestCase = RequestCase.NONE
    policy: Recovery = Recovery()
    left: Mapping[Retry, int | None] = attrs.field(factory=dict[Retry, int | None])
    size: int | None = None
    window: int | None = None
    status: int = 0
    said: bool = False


@guard
def final_refusal(run: Sending, event: Refusal) -> Evidence:
    """Asking again cannot help."""
    holds = event.kind in FINAL_KINDS or (event.kind is RefusalKind.OTHER and event.status in FINAL_STATUSES)
    return seen("final_refusal", holds, status=event.status, kind=event.kind.value)


def fitting(event: Refusal) -> int | None:
    """The reply budget, in tokens, with which the request may pass; None where a smaller one is no help.

    A limit that is not named is looked for by halves.
    """
    asked = event.budget
    limit = believed(event.limit)
    if event.kind is RefusalKind.REPLY_BUDGET:
        named = limit if limit is not None else (None if asked is None else asked // 2)
    elif event.kind is RefusalKind.TOGETHER_TOO_LONG and limit is not None and event.size is not None:
        named = limit - event.size
    else:
        return None
    if named is None or named < LEAST_REPLY:
        return None
    return named if asked is None or named < asked else None


def window_of(event: Refusal) -> int | None:
    """The model's window, as the refusal names it, or as the host knows it. Tokens."""
    windowed = event.kind in (RefusalKind.PROMPT_TOO_LONG, RefusalKind.TOGETHER_TOO_LONG)
    named = believed(event.limit) if windowed else None
    return event.window if named is None else named


@guard
def budget_too_large(run: Sending, event: Refusal) -> Evidence:
    """The reply's budget is what does not fit, and a smaller one may."""
    fits = fitting(event)
    return seen(
        "budget_too_large",
        fits is not None,
        kind=event.kind.value,
        budget=event.budget,
        size=event.size,
        limit=event.limit,
        fits=fits,
    )


def says_too_long(event: Refusal) -> bool:
    """Whether the provider says that the request is too long: in a code, by its kind, or by the status."""
    return event.too_long or event.kind in SIZE_KINDS or event.status == TOO_LARGE


@guard
def too_long(run: Sending, event: Refusal) -> Evidence:
    """The request itself is not taken: too long, or for all that is known it may be. A shorter one may pass."""
    unknown = event.kind is RefusalKind.OTHER and event.status in SIZE_STATUSES
    holds = says_too_long(event) or (unknown and not is_short(event))
    return seen(
        "too_long",
        holds,
        status=event.status,
        too_long=event.too_long,
        kind=event.kind.value,
        size=event.size,
        limit=event.limit,
        estimate=event.estimate,
        unknown=unknown,
    )


@guard
def implausible(run: Sending, event: Refusal) -> Evidence:
    """The prompt is far from the window, by the host's own estimate and by what the refusal names."""
    said = event.kind is RefusalKind.PROMPT_TOO_LONG or (event.kind is RefusalKind.OTHER and event.too_long)
    holds = said and is_short(event)
    kind, too_long, window = event.kind.value, event.too_long, window_of(event) or ASSUMED_WINDOW
    return seen(
        "implausible", holds, kind=kind, too_long=too_long, estimate=event.estimate, size=event.size, window=window
    )


def is_short(event: Refusal) -> bool:
    """Whether the prompt is known to be far from the window."""
    window = window_of(event) or ASSUMED_WINDOW
    sizes = [size for size in (event.estimate, event.size) if size is not None]
    return bool(sizes) and max(sizes) < IMPLAUSIBLE * window


def _kind(run: Sending, event: Refusal) -> RefusalKind:
    return event.kind


not_taken = value_is("not_taken", "kind", _kind, RefusalKind.TRANSCRIPT)
"""The transcript breaks a rule of the provider's."""
bad_call = value_is("bad_call", "kind", _kind, RefusalKind.BAD_CALL)
"""The model's own call could not be read, and the server calls that a bad request."""


@guard
def passing(run: Sending, event: Refusal) -> Evidence:
    """A later request may not meet this again."""
    unknown = event.kind is RefusalKind.OTHER and (event.status in PASSING_STATUSES or event.status >= 500)
    holds = event.kind in PASSING_KINDS or unknown
    return seen("passing", holds, status=event.status, after=event.after, kind=event.kind.value)


@guard
def nears_window(run: Sending, event: Measured) -> Evidence:
    """Prompt and reply will not both fit into the window, and making the prompt shorter has not been in vain.

    In vain, it is sent as it stands: the reply gets what the window leaves, and a provider that takes no more says so.
    """
    before = run.size if run.case is RequestCase.SHRUNK else None
    holds = event.estimate > event.room and (before is None or event.estimate < before)
    return seen("nears_window", holds, estimate=event.estimate, room=event.room, exact=event.exact, before=before)


def note(run: Sending, event: Refusal) -> tuple[Sending, tuple[()]]:
    """How large the prompt was, and what the model takes, as far as either is known."""
    size = event.size if event.size is not None else event.estimate
    said = says_too_long(event)
    return evolve(run, size=size, window=window_of(event), status=event.status, said=said), ()


def _to(case: RequestCase) -> Callable[[Sending, Refusal], tuple[Sending, tuple[()]]]:
    """What is to be done about the refusal."""

    def effect(run: Sending, event: Refusal) -> tuple[Sending, tuple[()]]:
        return evolve(note(run, event)[0], case=case), ()

    effect.__name__ = case.value
    return effect


def shrink_ahead(run: Sending, event: Measured) -> tuple[Sending, tuple[()]]:
    """The prompt was not sent: the history is made shorter first."""
    return evolve(run, case=RequestCase.SHRUNK, size=event.estimate, window=event.window), ()


SIZES: Final = sizes_of(Retry)
"""How full each budget is at the start of an incident, by the policy."""


@lru_cache(maxsize=64)
def sending(policy: Recovery) -> Sending:
    """A request of which nothing was refused yet, in a run that begins; the same value for all runs of a policy."""
    fresh = Sending(policy=policy)
    return evolve(fresh, left={budget: size(fresh) for budget, size in SIZES.items()})


def passed(run: Sending) -> Sending:
    """The next request: this one went through. What is allowed once a run stays spent."""
    if run.at is RequestState.SENT:
        return run
    fresh = sending(run.policy)
    return evolve(fresh, left={**fresh.left, Retry.INSISTED: run.left[Retry.INSISTED]})


def _at(run: Sending) -> RequestState:
    return run.at


def _move(run: Sending, state: RequestState) -> Sending:
    return evolve(run, at=state)


def _left(run: Sending) -> Mapping[Retry, int | None]:
    return run.left


def _pay(run: Sending, left: Mapping[Retry, int | None]) -> Sending:
    return evolve(run, left=left)


S, C, T = RequestState, RequestCase, Retry
ENDS: Final = (S.REFUSED, S.OVERFLOW, S.EXHAUSTED)
_OPEN: Final = (S.SENT, S.RECOVERING)
row = Rows[Sending, RequestState, Command]()

REQUEST = Table[Sending, RequestState, Refusal | Measured, Command](
    "request",
    [
        row(_OPEN, Refusal, S.REFUSED, note, final_refusal),
        row(_OPEN, Refusal, S.RECOVERING, _to(C.FITTED), budget_too_large, spends=T.FITTED),
        row(_OPEN, Refusal, S.RECOVERING, _to(C.INSISTED), too_long, implausible, spends=T.INSISTED),
        row(_OPEN, Refusal, S.RECOVERING, _to(C.SHRUNK), too_long, spends=T.SHRUNK),
        row(_OPEN, Refusal, S.OVERFLOW, note, too_long),
        row(_OPEN, Refusal, S.RECOVERING, _to(C.REPAIRED), not_taken, spends=T.REPAIRED),
        row(_OPEN, Refusal, S.RECOVERING, _to(C.TOLD), bad_call, spends=T.TOLD),
        row(_OPEN, Refusal, S.RECOVERING, _to(C.RETRIED), passing, spends=T.RETRIED),
        row(_OPEN, Refusal, S.EXHAUSTED, note, passing),
        row(_OPEN, Refusal, S.REFUSED, note),
        row(_OPEN, Measured, S.RECOVERING, shrink_ahead, nears_window, spends=T.AHEAD),
        ordered(_OPEN, [Refusal], "what can never pass before what may, and a bound after what it bounds"),
    ],
    events=[Refusal, Measured],
    initial=S.SENT,
    final=ENDS,
    at=_at,
    move=_move,
    budgets=SIZES,
    purse=_left,
    pay=_pay,
)
