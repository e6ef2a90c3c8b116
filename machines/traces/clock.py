"""The time of a run while it is read."""

from __future__ import annotations

from datetime import UTC, datetime

from attrs import define


@define
class Clock:
    """Seconds since the run began. A time that is missing, or earlier than one before it, is the last known."""

    now: float | None = None
    _origin: float | None = None

    def at(self, seconds: float | None) -> float | None:
        """The time of a line that says `seconds` since the run began."""
        if seconds is not None and (self.now is None or seconds > self.now):
            self.now = max(0.0, seconds)
        return self.now

    def stamped(self, epoch: float | None) -> float | None:
        """The time of a line that carries a date, in seconds since 1970. The first date of a run is its zero."""
        if epoch is None:
            return self.now
        if self._origin is None:
            self._origin = epoch
        return self.at(epoch - self._origin)


def epoch_of(text: str | None) -> float | None:
    """Seconds since 1970 of an ISO 8601 date, UTC where it names no zone; None where it is none."""
    if text is None:
        return None
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
