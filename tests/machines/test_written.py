"""A run and what happens to it, written as source: what comes back is equal, for every kind of event."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings

from machines.events import Begin, Call, Cancel, Event, Result, Text
from machines.run import RUN
from machines.state import Run
from machines.supervisor import Moved, feed
from statecraft.testing import events, script, written

from .histories import HI, NEW, ONE, TWO, after, calling, final
from .test_laws import histories


def again(value: object) -> Any:
    """What comes of the source."""
    source = written(value)
    assert source.missing == ()
    known: dict[str, Any] = {}
    exec("\n".join(source.imports), known)
    return eval(source.text, known)


@given(events(RUN))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_event_comes_back_as_it_was(event: Event) -> None:
    found = again(event)
    assert type(found) is type(event)
    assert repr(found) == repr(event)


RUNS: dict[str, Run] = {
    "new": NEW,
    "acting": after(Begin(0.0), calling(ONE, TWO)),
    "answered": after(Begin(0.0), calling(ONE), Result(2.0, "1", b"digest"), calling(ONE), Result(3.0, "1", b"digest")),
    "next leg": after(Begin(0.0), calling(ONE), Result(2.0, "1", b"digest"), final(), HI),
    "cancelled": after(Begin(0.0), Cancel(1.0, "enough")),
}


def test_a_run_comes_back_as_it_was() -> None:
    for run in RUNS.values():
        assert again(run) == run


@given(histories())
@settings(max_examples=25, deadline=None)
def test_every_run_of_a_history_comes_back_as_it_was(history: tuple[Run, list[Event]]) -> None:
    run, happened = history
    for event in happened:
        run = feed(run, event).run
    assert again(run) == run


def test_a_script_plays_the_run_from_its_start_and_passes() -> None:
    run, played = NEW, list[Event]()
    for event in (Begin(0.0), calling(ONE), Result(2.0, "1", b"digest"), final()):
        for move in feed(run, event).moves:
            if isinstance(move, Moved):
                played.append(move.event)
        run = feed(run, event).run
    text = script(RUN, NEW, played, name="test_played")
    known: dict[str, Any] = {}
    exec(text, known)
    known["test_played"]()
    assert text.count("    # ") == text.count("step_one(") == len(played)
    assert "Put in by hand" not in text


def test_a_call_of_a_model_is_written_with_the_fields_that_say_something() -> None:
    call = Call("1", "read", b"sign", Text("args", 4))
    assert written(call).text == 'Call(id="1", tool="read", signature=b"sign", args=Text(digest="args", chars=4))'
