"""Replay: the recorded answers are the table's own, or the first that is not is shown with both sides."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft import Evidence, Reading
from statecraft.codec import dump, load
from statecraft.journal import Journaled, JournalError, MemoryStore, seal
from statecraft.replay import TableChanged, replay, told


def sailed(ferry: Any, **how: Any) -> MemoryStore:
    store = MemoryStore()
    ferry.sail(store, **how)
    return store


def written_anew(store: MemoryStore, seq: int, *path: str, **changes: Any) -> MemoryStore:
    """The journal with other fields in one line (under `path`; None takes a field away), chained anew."""
    other = MemoryStore()
    prev = "0" * 64
    for number, line in enumerate(store.lines()):
        record = load(line)
        del record["hash"]
        if number == seq:
            place = record
            for key in path:
                place = place[key]
            place.update(changes)
            for key in [key for key, value in place.items() if value is None and key in changes]:
                del place[key]
        sealed, prev = seal(dump({**record, "prev": prev}))
        other.append(number, sealed)
    return other


def machine(ferry: Any, **parts: Any) -> Journaled[Any, Any, Any]:
    return attrs.evolve(ferry.JOURNALED, table=ferry.build(**parts))


def test_a_recorded_run_is_replayed_to_the_run_that_it_was(ferry: Any) -> None:
    store = MemoryStore()
    run = ferry.sail(store)
    found = replay(store, ferry.JOURNALED)
    assert found.difference is None
    assert found.run == run
    assert (found.name, found.machine, found.lines, found.verified.verdict) == ("voyage", "ferry", 24, "whole")
    assert told(found) == "voyage (ferry): 24 lines stepped again, journal whole\n  no difference"


def test_an_open_run_is_replayed_as_far_as_it_goes(ferry: Any) -> None:
    found = replay(sailed(ferry, end=False), ferry.JOURNALED)
    assert found.difference is None
    assert found.verified.verdict == "open"
    assert found.run.at is ferry.Place.RETIRED


def test_a_leg_that_stands_in_its_line_is_replayed(ferry: Any) -> None:
    journaled = attrs.evolve(ferry.JOURNALED, hand_on=None)
    found = replay(sailed(ferry, journaled=journaled), journaled)
    assert found.difference is None
    assert found.lines == 24


@given(st.data())
def test_whatever_happens_is_replayed_without_a_difference(ferry: Any, data: st.DataObject) -> None:
    number = st.integers(0, 5) | st.floats(0, 5)
    kinds = [
        st.builds(ferry.Board, number, st.lists(st.text(max_size=2), max_size=9).map(tuple)),
        st.builds(ferry.Depart, number),
        st.builds(ferry.Arrive, number),
        st.builds(ferry.Storm, number, number, st.binary(max_size=1)),
        st.builds(ferry.Tick, number),
        st.none(),
    ]
    happenings = data.draw(st.lists(st.one_of(kinds), max_size=15))
    store = MemoryStore()
    run = ferry.sail(store, happenings=happenings)
    found = replay(store, ferry.JOURNALED)
    assert found.difference is None
    assert found.run == run


def no_room(run: Any, event: Any) -> Evidence:
    return Evidence("has_room", True, {"free": 1, "boarding": len(event.names)})


def whistle(ferry: Any) -> Any:
    def whistle(run: Any, event: Any) -> Any:
        return run, [ferry.Whistle(99)]

    return whistle


def start(ferry: Any) -> Any:
    def start(engine: Any, event: Any) -> Any:
        return attrs.evolve(engine, starts=engine.starts + 2), [ferry.Log("start 1")]

    return start


def storms(run: Any, event: Any) -> Reading:
    return Reading("storms", len(run.forces), 1, run.stop_at, 999)


def test_a_guard_that_answers_otherwise_is_found_by_its_readings(ferry: Any) -> None:
    no_room.__name__ = "has_room"
    found = replay(sailed(ferry), machine(ferry, room=no_room)).difference
    assert found is not None
    assert (found.seq, found.what) == (1, "readings")
    assert found.recorded["seen"][0]["seen"] == {"boarding": 13, "free": 20}
    assert found.replayed["seen"][0]["seen"] == {"boarding": 13, "free": 1}


def test_a_reading_that_differs_at_rest_is_found_by_its_digest(ferry: Any) -> None:
    found = replay(sailed(ferry), machine(ferry, count=storms)).difference
    assert found is not None
    assert (found.seq, found.what) == (7, "readings")
    assert found.recorded["rest"] == found.replayed["rest"] == 1
    assert found.recorded["digest"] != found.replayed["digest"]


def test_an_effect_that_asks_otherwise_is_found_by_its_commands(ferry: Any) -> None:
    found = replay(sailed(ferry), machine(ferry, leave=whistle(ferry))).difference
    assert found is not None
    assert (found.seq, found.what) == (5, "commands")
    assert found.recorded == [{"is": "Log", "text": "start 1"}, {"is": "Whistle", "times": 15}]
    assert found.replayed == [{"is": "Log", "text": "start 1"}, {"is": "Whistle", "times": 99}]
    text = told(replay(sailed(ferry), machine(ferry, leave=whistle(ferry))))
    assert text.splitlines()[1] == "  first difference at seq 5, in commands"
    assert '    replayed: [{"is":"Log","text":"start 1"},{"is":"Whistle","times":99}]' in text


def test_an_inner_machine_that_differs_is_found(ferry: Any) -> None:
    journaled = machine(ferry, engine=ferry.build_engine(begin=start(ferry)))
    found = replay(sailed(ferry), journaled).difference
    assert found is not None
    # The fault of line 3 has heard of two starts, before any step of the engine was kept.
    assert (found.seq, found.what) == (3, "readings")


@pytest.mark.parametrize(
    ("seq", "changes", "what", "recorded", "replayed"),
    [
        (7, {"row": 5}, "row", 5, 6),
        (7, {"target": "SUNK"}, "target", "SUNK", "SAILING"),
        (7, {"source": "DOCKED"}, "source", "DOCKED", "SAILING"),
        (13, {"inside": []}, "inside", [], None),
        (2, {"why": "because"}, "why", "because", ""),
        (3, {"part": "warm"}, "part", "warm", "lucky"),
        (3, {"row": 2}, "row", 2, 1),
        (12, {"digest": "0" * 16}, "digest", "0" * 16, None),
        (23, {"state": "SUNK"}, "state", "SUNK", "RETIRED"),
        (
            2,
            {"kind": "step", "row": 0, "target": "DOCKED"},
            "answer",
            {"kind": "step", "row": 0, "source": "DOCKED", "target": "DOCKED", "why": ""},
            {"kind": "refused", "source": "DOCKED", "why": ""},
        ),
        (7, {"event": {"is": "Tick", "at": 1}}, "answer", None, {"kind": "ignored"}),
        (4, {"event": {"is": "Depart", "at": 1}}, "answer", None, None),
    ],
)
def test_a_record_that_the_table_would_not_give_is_the_first_difference(
    ferry: Any, seq: int, changes: dict[str, Any], what: str, recorded: Any, replayed: Any
) -> None:
    store = written_anew(sailed(ferry), seq, **changes)
    found = replay(store, ferry.JOURNALED)
    assert found.difference is not None
    assert (found.difference.seq, found.difference.what, found.lines) == (seq, what, seq)
    assert recorded is None or found.difference.recorded == recorded
    assert replayed is None or found.difference.replayed == replayed


def test_the_words_of_a_fault_are_not_compared(ferry: Any) -> None:
    store = written_anew(sailed(ferry), 3, problem="raised ArithmeticError: at 0x7f00")
    assert replay(store, ferry.JOURNALED).difference is None


def test_a_broken_journal_is_not_replayed(ferry: Any) -> None:
    store = MemoryStore()
    for number, line in enumerate(sailed(ferry).lines()):
        store.append(number, line.replace(b'"force":7.5', b'"force":8.5'))
    with pytest.raises(JournalError, match=r"broken at seq 7, changed"):
        replay(store, ferry.JOURNALED)


def test_a_run_of_another_machine_is_not_replayed(ferry: Any) -> None:
    journaled = Journaled(ferry.ENGINE, ferry.Engine, ferry.JOURNALED.codec)
    with pytest.raises(JournalError, match="a run of machine ferry, expected engine"):
        replay(sailed(ferry), journaled)


def test_a_changed_table_is_refused_with_the_first_row_that_differs(ferry: Any) -> None:
    with pytest.raises(TableChanged, match="the table ferry has changed since this run was recorded") as caught:
        replay(sailed(ferry), machine(ferry, retires=False))
    was, now = (f"row DOCKED Depart -> {state} [] keep" for state in ("RETIRED", "SUNK"))
    assert caught.value.row.startswith(f"table ferry had [{was}")
    assert f"and has [{now}" in caught.value.row


def test_a_changed_inner_table_is_refused_with_its_row(ferry: Any) -> None:
    with pytest.raises(TableChanged) as caught:
        replay(sailed(ferry), machine(ferry, engine=ferry.build_engine(cools=True)))
    assert caught.value.row.startswith("table engine had [row WARM Depart -> WARM")
    assert "and has [row WARM Depart -> COLD" in caught.value.row


def test_a_changed_table_is_refused_even_where_the_old_names_are_gone(ferry: Any) -> None:
    store = sailed(ferry)
    store.drop(ferry.FERRY.digest)
    with pytest.raises(TableChanged, match=r"its digest was [0-9a-f]{12} and is [0-9a-f]{12}") as caught:
        replay(store, machine(ferry, retires=False))
    assert caught.value.row == ""


def test_a_changed_table_is_replayed_through_a_function_that_migrates(ferry: Any) -> None:
    def migrate(record: dict[str, Any]) -> dict[str, Any] | None:
        if record.get("target") == "RETIRED":
            record["target"] = "SUNK"
        if record.get("state") == "RETIRED":
            record["state"] = "SUNK"
        return record

    journaled = machine(ferry, retires=False)
    found = replay(sailed(ferry), journaled, migrate)
    assert found.difference is None
    assert found.run.at is ferry.Place.SUNK


def test_a_line_that_is_migrated_away_is_left_out(ferry: Any) -> None:
    store = sailed(ferry)
    found = replay(store, ferry.JOURNALED, lambda record: None if record["kind"] == "refused" else record)
    assert found.difference is None
    assert found.lines == 21


def test_an_event_that_cannot_be_read_is_said_with_its_path(ferry: Any) -> None:
    store = written_anew(sailed(ferry), 7, "event", force="x")
    with pytest.raises(JournalError, match=r'seq 7, \$\.event\.force: found the text "x", expected a number'):
        replay(store, ferry.JOURNALED)
    store = written_anew(sailed(ferry), 0, "initial", room=None)
    with pytest.raises(JournalError, match=r"seq 0, \$\.initial\.room: found nothing, expected an integer"):
        replay(store, ferry.JOURNALED)
