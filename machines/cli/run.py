"""`statecraft run` and `statecraft resume`: one run of an agent, live, from its beginning or where it was put down."""

from __future__ import annotations

import logging
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import attrs
from cyclopts import Parameter

from statecraft.cli import BadInput
from statecraft.cli.verbs import FLAG
from statecraft.journal import Shelf, shelf_at
from statecraft.journal.opened import called
from statecraft.journal.sqlite_file import DATABASES

from ..policy import DEFAULT, Policy
from ..policy_file import BadPolicy, read_policy
from ..standing import TASK
from .driving import DEFAULT_PLACE, drive
from .made import MADE, Made, agent_of, kept_made, made_note, provider_of

PLACE = "The folder of the journals, an SQLite file (*.db), or postgresql://..."
STAY = "Keep waiting in this process, however long; without it a run that waits for more than a minute is put down."


def run(
    task: Annotated[str, Parameter(help="What is to be done.")],
    /,
    *,
    model: Annotated[
        str,
        Parameter(
            help="anthropic:NAME, openai:NAME, openai-responses:NAME, gemini:NAME, or the URL of a server, with #NAME."
        ),
    ],
    folder: Annotated[
        Path | None, Parameter(help="Let the agent list, read and write files below this folder.")
    ] = None,
    policy: Annotated[Path | None, Parameter(help="Run by this policy, a file or the name of one that ships.")] = None,
    journal: Annotated[str, Parameter(help=f"{PLACE} Inside --folder, it is hidden from the agent.")] = DEFAULT_PLACE,
    name: Annotated[str | None, Parameter(help="The run's name; without one it gets a name of its own.")] = None,
    prices: Annotated[
        tuple[float, float] | None,
        Parameter(
            negative=(), help="US dollars for a million tokens sent, and replied. Without them no money is counted."
        ),
    ] = None,
    ask: Annotated[bool, FLAG, Parameter(help="Let the agent ask a person: statecraft answer delivers.")] = False,
    consent: Annotated[bool, FLAG, Parameter(help="Have a person consent to each write of a file.")] = False,
    stream: Annotated[
        bool, FLAG, Parameter(help="Show replies as they come; end one that only repeats itself.")
    ] = False,
    stay: Annotated[bool, FLAG, Parameter(help=STAY)] = False,
    json: Annotated[bool, FLAG, Parameter(help="The result as one JSON object on standard output.")] = False,
) -> int:
    """Run an agent on a task.

    What goes on is shown on standard error: a live view on a terminal, plain lines otherwise. The answer goes to
    standard output; where there is none, the account of what was done does. Keys come from the environment
    (ANTHROPIC_API_KEY, OPENAI_API_KEY); a URL needs none. Without either: statecraft demo --serve.

    Exit 0 if it completed, 1 if it ended in any other way, 3 if it waits and was put down, 130 if it was interrupted
    and 143 if it was terminated; its journal is whole in each case but 3, and tells the rest (statecraft explain).
    A wait takes of the run's own time, 45 minutes by default: a policy file gives it more (budget.seconds).

    Examples:
        statecraft run "What is in the notes?" --model openai:NAME --folder notes
        statecraft run "Say hello" --model http://127.0.0.1:8080#local --name hello
        statecraft run "Tidy up" --model anthropic:NAME --policy policy.toml
        statecraft run "Tidy up" --model anthropic:NAME --folder . --consent
    """
    logging.getLogger("machines.agent").addHandler(logging.NullHandler())
    if not task.strip():
        raise BadInput("run: the task is empty; expected words")
    _check_places(folder, journal)
    if consent and folder is None:
        raise BadInput("--consent: there is nothing to write; expected --folder, below which files are written")
    rule = _policy(policy)
    with closing(shelf_at(journal)) as shelf:
        if name and name in shelf.runs():
            raise BadInput(f"--name {name}: a run of that name lies in {called(journal)}; expected another name")
        made = Made(model, None if folder is None else str(folder.resolve()), prices, ask, consent, stream)
        provider = provider_of(made)
        agent = agent_of(made, provider, rule, shelf, journal)
        try:
            notes = {MADE: made_note(made), TASK: task.encode("utf-8", "surrogatepass")}
            under_way = agent.start(task, run=name, notes=notes)
        except ValueError as error:
            raise BadInput(f"--name: {error}") from error
        return drive(agent, under_way, provider, journal=journal, stay=stay, json=json)


def resume(
    name: Annotated[str, Parameter(help="The run's name.")],
    /,
    *,
    journal: Annotated[str, Parameter(help=PLACE)] = DEFAULT_PLACE,
    model: Annotated[str | None, Parameter(help="Another model than the run began with.")] = None,
    stay: Annotated[bool, FLAG, Parameter(help=STAY)] = False,
    json: Annotated[bool, FLAG, Parameter(help="The result as one JSON object on standard output.")] = False,
) -> int:
    """Take a run up that was put down, or that was left open when its process ended.

    It goes on by the policy that it began with, with the tools and the model that it was made with. What had finished
    is not done again; a call that was under way is sent again where its tool declares that this does no harm, and any
    other is reported as unconfirmed.

    Exit codes as those of statecraft run.

    Examples:
        statecraft resume hello
        statecraft resume hello --journal runs.db --stay
    """
    logging.getLogger("machines.agent").addHandler(logging.NullHandler())
    with closing(shelf_at(journal)) as shelf:
        check_there(shelf, name, journal)
        made = kept_made(shelf.store(name))
        if made is None or not (model or made.model):
            if model is None:
                raise BadInput(f"{name}: what model it was made with is not written there; expected it by --model")
            made = made or Made(model)
            sys.stderr.write("what the run was made with is not written there: it has no folder, and may ask nobody\n")
        made = made if model is None else attrs.evolve(made, model=model)
        if made.folder is not None and not Path(made.folder).is_dir():
            raise BadInput(f"{name}: the folder that it worked in, {made.folder}, is not there; expected it")
        provider = provider_of(made)
        agent = agent_of(made, provider, DEFAULT, shelf, journal)
        return drive(agent, agent.resume(name), provider, journal=journal, stay=stay, json=json)


def check_there(shelf: Shelf, name: str, journal: str) -> None:
    """Raise `BadInput` where there is no run of that name."""
    there = shelf.runs()
    if name not in there:
        known = ", ".join(there[:10]) + (f" and {len(there) - 10} more" if len(there) > 10 else "")
        place = f"{called(journal)} (--journal)"
        raise BadInput(f"{name}: no run of that name lies in {place}; expected one of: {known or 'none is there'}")


def _check_places(folder: Path | None, journal: str) -> None:
    if folder is not None and not folder.is_dir():
        raise BadInput(f"--folder {folder}: no folder found there; expected one")
    if "://" in journal:
        return
    place = Path(journal)
    if place.is_file() and place.suffix not in DATABASES:
        raise BadInput(
            f"--journal {journal}: found a file, expected a folder, or a database (*{', *'.join(DATABASES)})"
        )
    if folder is not None and folder.resolve().is_relative_to(place.resolve()):
        raise BadInput(
            f"--journal {journal}: the agent would work in the folder of the journals ({folder}); "
            f"expected another folder, or one inside of it"
        )


def _policy(path: Path | None) -> Policy:
    try:
        return DEFAULT if path is None else read_policy(path)
    except BadPolicy as error:
        raise BadInput("\n".join(f"--policy {line}" for line in str(error).splitlines())) from error
