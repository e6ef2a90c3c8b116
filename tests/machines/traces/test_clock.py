from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from machines.traces.clock import Clock, epoch_of
from machines.traces.lines import Line, RunLine, UserLine
from machines.traces.recorded import steady


@given(st.lists(st.none() | st.floats(-10, 1e9)))
def test_time_never_falls_and_is_never_below_zero(given_times: list[float | None]) -> None:
    clock = Clock()
    found = [clock.at(seconds) for seconds in given_times]
    known = [at for at in found if at is not None]
    assert known == sorted(known)
    assert all(at >= 0 for at in known)
    assert None not in found[len(found) - len(known) :]


def test_the_first_date_of_a_run_is_its_zero() -> None:
    clock = Clock()
    assert [clock.stamped(at) for at in (None, 1000.0, 1002.5, None, 900.0)] == [None, 0.0, 2.5, 2.5, 2.5]


def test_dates_are_read_with_their_zone_or_as_utc() -> None:
    assert epoch_of("1970-01-01T00:01:00Z") == 60.0
    assert epoch_of("1970-01-01T01:01:00.500+01:00") == 60.5
    assert epoch_of("1970-01-01T00:01:00") == 60.0
    assert epoch_of("yesterday") is None
    assert epoch_of(None) is None


def test_lines_are_made_steady_within_their_run() -> None:
    given_lines: list[Line] = [
        RunLine("r"),
        UserLine("a", at=5.0),
        UserLine("b", at=3.0),
        UserLine("c"),
        RunLine("s"),
        UserLine("d"),
    ]
    found = [getattr(line, "at", None) for _, line in steady((None, line) for line in given_lines)]
    assert found == [None, 5.0, 5.0, 5.0, None, None]
