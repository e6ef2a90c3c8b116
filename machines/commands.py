"""Everything that a run can ask for. A command is a request; the host carries it out and answers with an event."""

from __future__ import annotations

import attrs

from .events import Text, Values
from .outcome import Outcome


@attrs.frozen
class Ask:
    """Ask the model for a reply; `final` = its last one, with no tools. `after` = not before so many seconds.

    `reply_tokens` is the reply's budget, where the run has one of its own: what an earlier one was raised to, or a
    limit that was named.
    """

    final: bool = False
    after: float = 0.0
    reply_tokens: int | None = None


@attrs.frozen
class Withdraw:
    """Give up the request that is out: its stream is cut, and whatever still comes of it counts no longer."""


@attrs.frozen
class Discard:
    """The last reply is not kept in what the model is sent: sent back, it would be refused, or help nobody."""


@attrs.frozen
class Simplify:
    """From now on the history is sent in a plainer form, without what a provider may object to."""


@attrs.frozen
class RunCalls:
    """Run these calls of the reply, by id."""

    calls: tuple[str, ...]


@attrs.frozen
class AnswerCalls:
    """Answer these calls, by id, without running them, and say why."""

    calls: tuple[str, ...]
    why: str


@attrs.frozen
class Tell:
    """Tell the model something with the next request: which rule speaks (`by`), and the values that it saw."""

    by: str
    values: Values = ()


@attrs.frozen
class Show:
    """Show a checkpoint to whoever watches the run."""

    text: Text | None


@attrs.frozen
class WaitUntil:
    """Nothing to do before this time (seconds since the run began), or before one of the signals."""

    at: float
    signals: tuple[str, ...] = ()


@attrs.frozen
class Condense:
    """Condense the history, so that the next request fits.

    `why`: it is about to outgrow the window (`ahead`), a request was refused for its length (`refused`), or a reply was
    cut where the window was full (`full`). `size` and `window`: how long the prompt was, and the most that it may be,
    in tokens, where a refusal names them.
    """

    why: str = "refused"
    size: int | None = None
    window: int | None = None


@attrs.frozen
class TellPerson:
    """Something that a person should know: a wait whose answer nobody foresaw."""

    by: str
    values: Values = ()


@attrs.frozen
class End:
    """The run has ended so."""

    outcome: Outcome


Command = (
    Ask | Withdraw | Discard | Simplify | RunCalls | AnswerCalls | Tell | Show | WaitUntil | Condense | TellPerson | End
)
