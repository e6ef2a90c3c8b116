"""What holds on every engine that carries runs: real processes, and a real `kill -9`."""

from __future__ import annotations

import signal
import time

import pytest

from machines.letters import Letter
from machines.outcome import Fact, TerminalStatus
from machines.pending import UNKNOWN

from .fleet import FINISH, Yard, does, older


def test_what_had_finished_is_not_done_again_and_what_was_under_way_is_reported(yard: Yard) -> None:
    yard.enlist("one", does(("pay", {"what": "first"})), does(("pay", {"what": "second", "hold": True})), FINISH)
    worker = yard.start()
    yard.until(lambda: yard.did() == ["first", "second"], "the second effect")
    yard.kill(worker)
    yard.start()
    yard.ended("one")
    assert yard.did() == ["first", "second"]
    outcome = yard.outcome("one")
    assert outcome.status is TerminalStatus.COMPLETED
    assert Fact.SIDE_EFFECTS_UNCONFIRMED in outcome.facts
    assert [change.tool for change in outcome.account.unconfirmed] == ["pay"]
    assert yard.told("one") == ["did first", UNKNOWN]


def test_what_is_done_once_under_its_key_is_sent_twice_at_most(yard: Yard) -> None:
    yard.enlist("one", does(("pay_once", {"what": "it", "hold": True})), FINISH)
    for sent in (1, 2):
        worker = yard.start()
        yard.did_so_often(sent)
        yard.kill(worker)
    yard.start()
    yard.ended("one")
    assert [effect.what for effect in yard.effects()] == ["it", "it"]
    assert len({effect.key for effect in yard.effects()}) == 1
    assert len(yard.processes()) == 2
    assert [change.tool for change in yard.outcome("one").account.unconfirmed] == ["pay_once"]
    assert yard.told("one") == [UNKNOWN]


def test_a_deadline_stays_where_it_was_whoever_lives_meanwhile(yard: Yard) -> None:
    for run, seconds in (("soon", 1.5), ("late", 5.0)):
        yard.enlist(run, does(("event", {"name": "go", "seconds": seconds})), FINISH)
    worker = yard.start()
    yard.waits("soon")
    yard.waits("late")
    until = {run: stood.until or 0.0 for run in ("soon", "late") if (stood := yard.stands(run))}
    yard.kill(worker)
    yard.until(lambda: time.time() > until["soon"], "its time over, with nobody there")
    yard.start()
    yard.ended("soon")
    stood = yard.stands("late")
    assert stood is not None
    assert (stood.state, stood.until) == ("waiting", until["late"])
    yard.ended("late")
    stood = yard.stands("late")
    assert stood is not None
    assert until["late"] <= stood.at < until["late"] + 2.0
    assert [yard.outcome(run).status for run in until] == [TerminalStatus.COMPLETED] * 2
    assert all("no answer came in time" in yard.told(run)[0] for run in until)


def test_an_event_that_comes_while_nobody_lives_is_seen_and_the_same_one_is_seen_once(yard: Yard) -> None:
    wait = does(("event", {"name": "go"}))
    yard.enlist("one", wait, wait, FINISH)
    worker = yard.start()
    yard.waits("one")
    yard.kill(worker)
    assert yard.fleet.deliver("one", Letter("go", time.time(), text="the first"), "id-1")
    assert not yard.fleet.deliver("one", Letter("go", time.time(), text="the same"), "id-1")
    yard.start()
    yard.until(lambda: yard.asked("one") == 2 and yard.state("one") == "waiting", "the second wait")
    yard.fleet.deliver("one", Letter("go", time.time(), text="the same again"), "id-1")
    assert yard.fleet.deliver("one", Letter("go", time.time(), text="the second"), "id-2")
    yard.ended("one")
    yard.outcome("one")
    assert ["the first" in yard.told("one")[0], "the second" in yard.told("one")[1]] == [True, True]


def test_two_workers_share_the_runs_and_those_of_a_dead_one_move_within_half_a_minute(yard: Yard) -> None:
    runs = [f"run-{number}" for number in range(6)]
    for run in runs:
        turns = [does(("pay", {"what": f"{run}/{turn}", "hold": turn == 1})) for turn in range(3)]
        yard.enlist(run, *turns, FINISH)
    workers = [yard.start(at_once=3), yard.start(at_once=3)]
    yard.until(lambda: sum("/1" in what for what in yard.did()) == len(runs), "every run at work")
    assert yard.processes() == {worker.pid for worker in workers}
    dead = yard.kill(workers[0])
    yard.open_gate()
    yard.ended(*runs)
    moved = [effect.at - dead for effect in yard.effects() if effect.what.endswith("/2")]
    print(f"\nthe last run of the dead worker moved after {max(moved):.1f} s")
    assert max(moved) < 30.0
    assert yard.did() == sorted(f"{run}/{turn}" for run in runs for turn in range(3))
    unknown = [Fact.SIDE_EFFECTS_UNCONFIRMED in yard.outcome(run).facts for run in runs]
    assert sum(unknown) == 3


def test_a_run_of_an_older_table_is_refused_and_left_as_it_is(yard: Yard) -> None:
    yard.enlist("one", does(("event", {"name": "go"})), FINISH)
    worker = yard.start()
    yard.waits("one")
    assert yard.stop(worker) == 0
    older(yard.shelf, "one", "old")
    lines = yard.lines("old")
    for run in ("old", "one"):
        yard.fleet.deliver(run, Letter("go", time.time(), text="now"), "id")
    yard.start()
    yard.ended("one")
    yard.until(lambda: "old" in yard.said(), "a word of the run that is refused")
    assert yard.lines("old") == lines
    assert yard.state("old") == "waiting"


def test_a_worker_that_is_told_to_stop_leaves_its_run_to_the_next_one(yard: Yard) -> None:
    yard.enlist("one", does(("pay_once", {"what": "it", "hold": True})), FINISH)
    worker = yard.start()
    yard.until(lambda: yard.did() == ["it"], "the effect")
    assert yard.stop(worker) == 0
    assert yard.state("one") == "running"
    yard.open_gate()
    yard.start()
    yard.ended("one")
    assert yard.did() == ["it", "it"]
    assert yard.outcome("one").facts == (Fact.UNVERIFIED,)


def test_a_question_to_a_person_is_answered_over_the_end_of_every_process(yard: Yard) -> None:
    asked = {"question": "Shall it be done?", "choices": ["yes", "no"]}
    yard.enlist("one", does(("ask_person", asked)), FINISH)
    worker = yard.start()
    yard.waits("one")
    yard.kill(worker)
    stood = yard.stands("one")
    assert stood is not None
    assert [(one.question, one.choices) for one in stood.questions] == [("Shall it be done?", ("yes", "no"))]
    yard.fleet.deliver("one", Letter(stood.questions[0].name, time.time(), "yes", by="somebody"), "an answer")
    yard.start()
    yard.ended("one")
    assert '"answer":"yes"' in yard.told("one")[0]
    assert yard.outcome("one").status is TerminalStatus.COMPLETED


@pytest.mark.deep
def test_a_worker_that_stood_still_writes_nothing_into_a_run_that_another_one_has(yard: Yard) -> None:
    yard.enlist("one", does(("pay_once", {"what": "it", "hold": True})), FINISH)
    still = yard.start()
    yard.did_so_often(1)
    began = time.monotonic()
    still.send_signal(signal.SIGSTOP)
    yard.open_gate()
    other = yard.start()
    yard.ended("one", seconds=90.0)
    print(f"\nthe run of a worker that stands still moved after {time.monotonic() - began:.1f} s")
    lines = yard.lines("one")
    assert yard.stop(other) == 0
    still.send_signal(signal.SIGCONT)
    yard.enlist("two", FINISH)
    yard.ended("two", seconds=60.0)
    assert yard.lines("one") == lines
    assert yard.did() == ["it", "it"]
    assert yard.outcome("one").status is TerminalStatus.COMPLETED


def test_a_run_that_a_letter_woke_and_whose_worker_is_killed_then_goes_on_with_another(yard: Yard) -> None:
    yard.enlist("one", does(("event", {"name": "go"})), does(("pay", {"what": "it", "hold": True})), FINISH)
    worker = yard.start()
    yard.waits("one")
    assert yard.fleet.deliver("one", Letter("go", time.time(), text="come"), "id-1")
    yard.did_so_often(1)
    yard.kill(worker)
    yard.start()
    yard.ended("one")
    assert yard.did() == ["it"]
    assert yard.told("one")[1] == UNKNOWN
