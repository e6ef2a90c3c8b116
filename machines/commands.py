"""Everything that a run can ask for. A command is a request; the host carries it out and answers with an event."""

from __future__ import annotations

import attrs

from .events import Text, Values
from .outcome import Outcome


@attrs.frozen
class Ask:
    """Ask the model for a reply; `final` = its last one, with no tools. `after` = not before so many seconds."""

    final: bool = False
    after: float = 0.0


@attrs.frozen
class Withdraw:
    """Give up the request that is out: its stream is cut, and whatever still comes of it counts no longer."""


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
    """Condense the history, so that the next request fits."""


@attrs.frozen
class TellPerson:
    """Something that a person should know: a wait whose answer nobody foresaw."""

    by: str
    values: Values = ()


@attrs.frozen
class End:
    """The run has ended so."""

    outcome: Outcome


Command = Ask | Withdraw | RunCalls | AnswerCalls | Tell | Show | WaitUntil | Condense | TellPerson | End
