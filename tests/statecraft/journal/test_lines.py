"""What the writer writes: the bytes of a line, the chain, and what is written of which answer."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import attrs
import pytest

from statecraft import Evidence, Fault, Reading, Refused, Step, Unhandled
from statecraft.codec import BadData, codec
from statecraft.journal import FORMAT, Journaled, JournalError, MemoryStore, Writer, link, verify


def journal(ferry: Any, **how: Any) -> list[bytes]:
    store = MemoryStore()
    ferry.sail(store, **how)
    return list(store.lines())


def records(ferry: Any, **how: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal(ferry, **how)]


def test_a_line_is_sorted_json_whose_last_key_is_its_hash(ferry: Any) -> None:
    store = MemoryStore()
    Writer.begin(store, ferry.JOURNALED, "r", ferry.fresh())
    writer = Writer.resume(store, ferry.JOURNALED)
    event = ferry.Depart(4)
    writer.answer(event, ferry.FERRY.step(ferry.fresh(), event))
    first, second = store.lines()
    body = (
        b'{"commands":[{"is":"Log","text":"start 1"},{"is":"Whistle","times":0}],"event":{"at":4,"is":"Depart"},'
        b'"inside":[{"commands":1,"inside":[],"machine":"engine","readings":{"digest":"643d5437104296e2","rest":0,'
        b'"seen":[]},"row":0,"source":"COLD","target":"WARM"}],"kind":"step","machine":"ferry","prev":"%s",'
        b'"readings":{"digest":"42097150a88de9c0","rest":0,"seen":['
        b'{"holds":true,"is":"Evidence","name":"trips_left","seen":{"left":4}},'
        b'{"holds":true,"is":"Evidence","name":"warm","seen":{"starts":1}},'
        b'{"holds":true,"is":"Evidence","name":"lucky","seen":{"aboard":0,"ratio":0.0}},'
        b'{"holds":true,"is":"Evidence","name":"(warm & lucky)","seen":{}}]},'
        b'"row":1,"seq":1,"source":"DOCKED","target":"SAILING"' % link(first).hash.encode()
    )
    assert second == body + b',"hash":"' + hashlib.sha256(body).hexdigest().encode() + b'"}'


def test_every_line_names_its_number_and_the_hash_of_the_line_before(ferry: Any) -> None:
    lines = journal(ferry)
    prev = "0" * 64
    for number, line in enumerate(lines):
        record = json.loads(line)
        cut = line.rindex(b',"hash":"')
        assert record["seq"] == number
        assert record["prev"] == prev
        assert record["hash"] == hashlib.sha256(line[:cut]).hexdigest()
        prev = record["hash"]


def test_the_first_line_says_what_the_run_was_made_with(ferry: Any) -> None:
    first = records(ferry)[0]
    assert {
        key: first[key] for key in ("kind", "format", "run", "machine", "table", "policy", "host", "durability")
    } == {
        "kind": "open",
        "format": FORMAT,
        "run": "voyage",
        "machine": "ferry",
        "table": ferry.FERRY.digest,
        "policy": {"stop_at": 3},
        "host": "test",
        "durability": "process",
    }
    assert first["version"]
    assert ferry.JOURNALED.codec.from_plain(first["initial"], ferry.Ferry) == ferry.fresh()


def test_a_policy_may_be_a_value_or_nothing(ferry: Any) -> None:
    for policy, written in ((ferry.Whistle(2), {"times": 2}), (None, None)):
        store = MemoryStore()
        Writer.begin(store, ferry.JOURNALED, "r", ferry.fresh(), policy=policy)
        assert json.loads(next(store.lines()))["policy"] == written


def test_the_terminal_record_counts_the_lines_before_it(ferry: Any) -> None:
    last = records(ferry)[-1]
    assert (last["kind"], last["lines"], last["seq"], last["state"]) == ("end", 23, 23, "RETIRED")


def test_each_kind_of_answer_has_its_line_and_an_ignored_event_has_none(ferry: Any) -> None:
    found = records(ferry)
    kinds = [record["kind"] for record in found]
    assert kinds[:13] == ["open", "step", "refused", "fault", *["step"] * 2, "refused", *["step"] * 4, "refused", "leg"]
    assert all(record.get("event", {}).get("is") != "Tick" for record in found if record["kind"] != "open")
    assert found[2]["why"] == ""
    assert found[2]["readings"]["seen"][0]["holds"] is False
    assert found[6]["why"] == "nobody boards at sea"
    fault = found[3]
    assert (fault["row"], fault["part"], fault["problem"]) == (1, "lucky", "raised ArithmeticError: thirteen aboard")
    assert [one["name"] for one in fault["readings"]["seen"]] == ["trips_left", "warm"]


def test_a_reading_at_rest_is_counted_and_any_other_stands_in_full(ferry: Any) -> None:
    found = records(ferry)
    assert found[7]["readings"]["rest"] == 1
    assert found[7]["readings"]["seen"] == []
    assert found[8]["readings"]["rest"] == 0
    assert found[8]["readings"]["seen"] == [
        {"is": "Reading", "name": "storms", "now": 1, "nudge": 1, "stop": 3, "most": 1000, "seen": {}}
    ]


@pytest.mark.parametrize("change", [{"now": 1}, {"stop": 9}, {"most": 11}, {"name": "other"}, {"seen": {"of": 3}}])
def test_the_digest_covers_readings_at_rest(ferry: Any, change: dict[str, Any]) -> None:
    def digest(reading: Reading) -> str:
        store = MemoryStore()
        writer = Writer.begin(store, ferry.JOURNALED, "r", ferry.fresh())
        step = ferry.FERRY.step(ferry.fresh(), ferry.Board(0, ()))
        writer.answer(ferry.Board(0, ()), attrs.evolve(step, seen=(Evidence("g", True), reading)))
        found: dict[str, Any] = json.loads(store.last() or b"")["readings"]
        assert found["rest"] == 1
        assert len(found["digest"]) == 16
        return str(found["digest"])

    rest = Reading("storms", 0, 3, 8, 10)
    assert digest(rest) == digest(attrs.evolve(rest))
    assert digest(rest) != digest(attrs.evolve(rest, **change))


def test_commands_of_an_inner_machine_stand_with_the_steps_and_are_counted_inside(ferry: Any) -> None:
    step = records(ferry)[5]
    assert [command["is"] for command in step["commands"]] == ["Log", "Whistle"]
    assert step["inside"][0]["commands"] == 1


def test_an_event_from_outside_the_alphabet_is_a_fault_without_an_event(ferry: Any) -> None:
    store = MemoryStore()
    writer = Writer.begin(store, ferry.JOURNALED, "r", ferry.fresh())
    run = ferry.fresh()
    assert writer.answer(object(), Unhandled(run, "ferry", run.at, "Picnic")) == 1
    fault = json.loads(store.last() or b"")
    assert (fault["kind"], fault["part"], fault["event"]) == ("fault", "Picnic", None)


def test_a_leg_that_cannot_be_computed_stands_in_its_line(ferry: Any) -> None:
    computed = records(ferry)[12]
    stored = records(ferry, journaled=attrs.evolve(ferry.JOURNALED, hand_on=None))[12]
    assert computed["run"] is None
    assert ferry.JOURNALED.codec.from_plain(stored["run"], ferry.Ferry) == ferry.fresh()
    assert (stored["source"], stored["target"]) == ("SUNK", "DOCKED")
    assert stored["digest"] == computed["digest"]


def test_the_answer_gives_the_number_of_its_line(ferry: Any) -> None:
    writer = Writer.begin(MemoryStore(), ferry.JOURNALED, "r", ferry.fresh())
    run = ferry.fresh()
    ignored, taken = ferry.FERRY.step(run, ferry.Tick(0)), ferry.FERRY.step(run, ferry.Depart(0))
    assert writer.answer(ferry.Tick(0), ignored) is None
    assert writer.answer(ferry.Depart(0), taken) == 1
    assert writer.fault(ferry.Depart(0), Fault("ferry", 1, "whistle", "raised")) == 2
    assert writer.leg(run) == 3
    assert writer.end(run.at) == 4


def test_nothing_follows_the_terminal_record(ferry: Any) -> None:
    store = MemoryStore()
    ferry.sail(store)
    with pytest.raises(JournalError, match="has ended, and its journal is closed"):
        Writer.resume(store, ferry.JOURNALED)
    with pytest.raises(JournalError, match="already holds a run"):
        Writer.begin(store, ferry.JOURNALED, "r", ferry.fresh())


def test_a_closed_writer_writes_nothing(ferry: Any) -> None:
    store = MemoryStore()
    writer = Writer.begin(store, ferry.JOURNALED, "r", ferry.fresh())
    writer.end(ferry.Place.DOCKED)
    with pytest.raises(JournalError, match="is closed"):
        writer.leg(ferry.fresh())
    assert verify(store).verdict == "whole"


def test_a_run_that_was_left_open_is_written_on(ferry: Any) -> None:
    whole = MemoryStore()
    ferry.sail(whole)
    for stop in range(1, 23):
        parted = MemoryStore()
        for number, line in enumerate(list(whole.lines())[:stop]):
            parted.append(number, line)
        writer = Writer.resume(parted, ferry.JOURNALED)
        assert writer.next == stop
        before = json.loads(parted.last() or b"")
        expected = before.get("target") or before.get("source") or "DOCKED"
        assert writer.state == expected
        writer.leg(ferry.fresh())
        writer.end(ferry.Place.DOCKED)
        assert verify(parted).verdict == "whole"


def test_a_run_of_another_table_is_not_written_on(ferry: Any) -> None:
    store = MemoryStore()
    Writer.begin(store, ferry.JOURNALED, "r", ferry.fresh())
    other = Journaled(ferry.build(retires=False), ferry.Ferry, codec())
    with pytest.raises(JournalError, match="the table ferry has changed"):
        Writer.resume(store, other)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "holds no run to resume"),
        ([b"{}"], "is no journal"),
    ],
)
def test_what_is_no_journal_is_not_written_on(ferry: Any, lines: list[bytes], said: str) -> None:
    store = MemoryStore()
    for number, line in enumerate(lines):
        store.append(number, line)
    with pytest.raises(JournalError, match=said):
        Writer.resume(store, ferry.JOURNALED)


def test_a_changed_last_line_is_not_written_on(ferry: Any) -> None:
    store = MemoryStore()
    ferry.sail(store, end=False)
    changed = MemoryStore()
    for number, line in enumerate(store.lines()):
        changed.append(number, line.replace(b'"at":20', b'"at":21'))
    with pytest.raises(JournalError, match="the last line was changed"):
        Writer.resume(changed, ferry.JOURNALED)


def test_evidence_that_is_no_scalar_is_named(ferry: Any) -> None:
    writer = Writer.begin(MemoryStore(), ferry.JOURNALED, "r", ferry.fresh())
    listed: Any = [1]
    step = attrs.evolve(ferry.FERRY.step(ferry.fresh(), ferry.Board(0, ())), seen=(Evidence("g", True, {"a": listed}),))
    with pytest.raises(BadData, match=r"^\$\.readings\.g: found a list, expected"):
        writer.answer(ferry.Board(0, ()), step)


def test_the_tables_names_lie_beside_the_chain_under_its_digest(ferry: Any) -> None:
    store = MemoryStore()
    Writer.begin(store, ferry.JOURNALED, "r", ferry.fresh())
    for table in (ferry.FERRY, ferry.ENGINE):
        assert store.get(table.digest) == "\n".join(table.listing).encode()


def test_a_command_that_cannot_be_kept_is_refused_before_any_run(ferry: Any) -> None:
    @attrs.frozen
    class Odd:
        value: complex

    def at(run: Any) -> Any:
        return run.at

    def move(run: Any, at: Any) -> Any:
        return attrs.evolve(run, at=at)

    place = ferry.Place
    table = ferry.Table(
        "odd",
        [ferry.row(place.DOCKED, ferry.Tick, place.SUNK, ferry.keep, asks=[Odd])],
        events=[ferry.Tick],
        initial=place.DOCKED,
        final=[place.SUNK, place.SAILING, place.RETIRED],
        at=at,
        move=move,
    )
    with pytest.raises(TypeError, match="Odd: complex cannot be kept"):
        Journaled(table, ferry.Ferry, codec())


def test_the_answers_of_the_ferry_are_of_every_kind(ferry: Any) -> None:
    run = ferry.fresh()
    assert isinstance(ferry.FERRY.step(run, ferry.Depart(0)), Step)
    assert isinstance(ferry.FERRY.step(run, ferry.Board(0, ferry.crowd(21))), Refused)
