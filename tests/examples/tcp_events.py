"""What happens to one end of a TCP connection, its user's calls, segments and clocks; and what it asks for."""

from __future__ import annotations

import attrs


@attrs.frozen
class Open:
    """The user's call OPEN."""

    passive: bool = False


@attrs.frozen
class Send:
    """The user's call SEND, of one piece of data."""


@attrs.frozen
class Close:
    """The user's call CLOSE: nothing more to send."""


@attrs.frozen
class Abort:
    """The user's call ABORT."""


@attrs.frozen
class Syn:
    """A segment opens the other direction."""


@attrs.frozen
class SynAck:
    """A segment acknowledges the SYN, and opens the other direction."""


@attrs.frozen
class Ack:
    """A segment acknowledges so many outstanding pieces. Time in seconds."""

    pieces: int = 1
    at: int = 0


@attrs.frozen
class Data:
    """A segment with data that is next in order."""


@attrs.frozen
class Fin:
    """A segment ends the other direction. Time in seconds."""

    at: int = 0


@attrs.frozen
class Rst:
    """A segment resets the connection."""


@attrs.frozen
class ResendDue:
    """The oldest outstanding piece has waited for its acknowledgement long enough."""


@attrs.frozen
class Clock:
    """The clock that was set for TIME-WAIT. Time in seconds."""

    at: int


@attrs.frozen
class Emit:
    """Send a segment."""

    what: str


@attrs.frozen
class Deliver:
    """Give the user the data."""


@attrs.frozen
class Tell:
    """Tell the user what became of the connection."""

    what: str


Event = Open | Send | Close | Abort | Syn | SynAck | Ack | Data | Fin | Rst | ResendDue | Clock
Command = Emit | Deliver | Tell
