"""`statecraft waiting` and `statecraft answer`: what runs wait for, and the answers to it, while nothing runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import closing
from getpass import getuser
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import attrs
from cyclopts import Parameter

from statecraft.cli import BadInput
from statecraft.cli.running import harmless
from statecraft.cli.verbs import FLAG
from statecraft.journal import JournalError, Store, shelf_at
from statecraft.journal.opened import called

from ..letters import Letter, deliver, fitting, letter_read
from ..standing import STANDING, WAITING, Question, Standing, has_ended, plain_question, standing_of, standing_read
from .driving import DEFAULT_PLACE, asked_line, clock_time, line_of, place_again
from .run import PLACE, check_there


def waiting(
    journal: Annotated[str, Parameter(help=PLACE)] = DEFAULT_PLACE,
    /,
    *,
    json: Annotated[bool, FLAG, Parameter(help="One JSON object a run on standard output.")] = False,
) -> int:
    """List the runs that wait, what for, and until when.

    Exit 0, whether any wait or not.

    Examples:
        statecraft waiting
        statecraft waiting runs.db --json
    """
    _check_place(journal)
    found: list[Standing] = []
    answered: dict[str, list[str]] = {}
    problem = ""
    with closing(shelf_at(journal)) as shelf:
        try:
            for run, body in shelf.notes(STANDING):
                stood = standing_read(body)
                if stood is not None and stood.state is WAITING:
                    found.append(attrs.evolve(stood, run=run))
            answered = {run: _answered(shelf.store(run)) for run in shelf.mailed()}
        except JournalError as error:  # of one run; the others have been read
            problem = str(error)
    if json:
        sys.stdout.writelines(line_of(_plain(one)) for one in found)
    else:
        lines = [line for one in found for line in _lines(one, answered.get(one.run, []))]
        sys.stdout.writelines(f"{harmless(line)}\n" for line in lines or [f"no run in {called(journal)} waits"])
    if problem:
        raise BadInput(problem)
    return 0


def answer(
    name: Annotated[str, Parameter(help="The run's name.")],
    answer: Annotated[str | None, Parameter(help="The answer; of several choices, the one.")] = None,
    /,
    *,
    to: Annotated[str, Parameter(help="Which question or signal, where the run waits for more than one.")] = "",
    text: Annotated[str | None, Parameter(help="More that the agent should read with it.")] = None,
    by: Annotated[str | None, Parameter(help="Who answers; without it, the user of this machine.")] = None,
    withdraw: Annotated[bool, FLAG, Parameter(help="Withdraw the question: nobody will answer it.")] = False,
    id: Annotated[str | None, Parameter(help="The answer's own name: sent twice under one, it is one.")] = None,
    journal: Annotated[str, Parameter(help=PLACE)] = DEFAULT_PLACE,
) -> int:
    """Answer what a run waits for: a question, a consent (approve or deny), a signal.

    Nothing has to run for it: a run that is put down reads it when it is taken up (statecraft resume), one that waits
    in its process within two seconds. With --to it may come before the run waits for it.

    Examples:
        statecraft answer hello blue
        statecraft answer hello approve --by ann
        statecraft answer hello --to payment-7 --text "paid in full"
        statecraft answer hello --withdraw
    """
    _check_place(journal)
    with closing(shelf_at(journal)) as shelf:
        check_there(shelf, name, journal)
        store = shelf.store(name)
        stood = standing_of(store)
        if has_ended(store):
            how = f", as {stood.status}" if stood is not None and stood.status else ""
            raise BadInput(f"{name}: has ended{how}; expected one of those that statecraft waiting lists")
        letter = Letter(to, time.time(), answer, by or _user(), text, withdraw)
        questions = () if stood is None or stood.state is not WAITING else stood.questions
        if not questions and not to:
            raise BadInput(f"{name}: waits for no answer; expected --to NAME for one that is to lie until it does")
        try:
            letter = fitting(questions, letter) if questions else letter
            new = deliver(store, letter, uuid4().hex if id is None else id)
        except ValueError as error:
            raise BadInput(f"{name}: {error}") from error
    said = f"{name}: {letter.name} is answered" if new else f"{name}: that answer was given already"
    sys.stdout.write(f"{harmless(said)}; go on: statecraft resume {name}{place_again(journal)}\n")
    return 0


def _check_place(journal: str) -> None:
    if "://" not in journal and not Path(journal).exists():
        raise BadInput(f"{journal}: nothing found there; expected journals of runs")


def _answered(store: Store) -> list[str]:
    """The names of what lies answered in a run's mail."""
    try:
        return [letter.name for _, body in store.mail() if (letter := letter_read(body)) is not None]
    finally:
        store.close()


def _lines(stood: Standing, answered: Sequence[str]) -> list[str]:
    until = "" if stood.until is None else f" until {clock_time(stood.until)}"
    looks = f" for {', '.join(stood.looks)}" if stood.looks else ""
    asked = [f"  {asked_line(one)}, {_since(one, answered)}" for one in stood.questions]
    return [f"{stood.run}: waits{looks}{until}", *asked]


def _since(one: Question, answered: Sequence[str]) -> str:
    return "answered, and not taken up yet" if one.name in answered else f"since {clock_time(one.since)}"


def _plain(stood: Standing) -> dict[str, Any]:
    questions = [plain_question(one) for one in stood.questions]
    return {"run": stood.run, "until": stood.until, "questions": questions, "looks": list(stood.looks)}


def _user() -> str | None:
    try:
        return getuser()
    except (KeyError, OSError):  # a user without a name
        return None
