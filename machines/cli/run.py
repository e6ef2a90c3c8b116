"""`statecraft run`: one run of an agent, live."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import orjson
from cyclopts import Parameter

from statecraft.cli import BadInput
from statecraft.cli.running import harmless
from statecraft.cli.verbs import FLAG

from ..policy import DEFAULT, Policy
from ..policy_file import BadPolicy, read_policy

if TYPE_CHECKING:  # both import the HTTP library, which takes a quarter of a second
    from ..agent.agent import Agent
    from ..agent.agent_run import AgentRun
    from ..agent.result import RunResult

SIGNALS: Final = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
"""What ends a run from outside, and the reason that is written down."""


def run(
    task: Annotated[str, Parameter(help="What is to be done.")],
    /,
    *,
    model: Annotated[str, Parameter(help="anthropic:NAME, openai:NAME, or the URL of a server, with #NAME.")],
    folder: Annotated[
        Path | None, Parameter(help="Let the agent list, read and write files below this folder.")
    ] = None,
    policy: Annotated[Path | None, Parameter(help="Run by this policy, a file or the name of one that ships.")] = None,
    journal: Annotated[
        Path, Parameter(help="The folder of the journal. Inside --folder, it is hidden from the agent.")
    ] = Path("runs"),
    name: Annotated[str | None, Parameter(help="The run's name; without one it gets a name of its own.")] = None,
    prices: Annotated[
        tuple[float, float] | None,
        Parameter(
            negative=(), help="US dollars for a million tokens sent, and replied. Without them no money is counted."
        ),
    ] = None,
    json: Annotated[bool, FLAG, Parameter(help="The result as one JSON object on standard output.")] = False,
) -> int:
    """Run an agent on a task.

    What goes on is shown on standard error: a live view on a terminal, plain lines otherwise. The answer goes to
    standard output; where there is none, the account of what was done does. Keys come from the environment
    (ANTHROPIC_API_KEY, OPENAI_API_KEY); a URL needs none. Without either: statecraft demo --serve.

    Exit 0 if it completed, 1 if it ended in any other way, 130 if it was interrupted and 143 if it was terminated; its
    journal is whole in each case, and tells the rest (statecraft explain).

    Examples:
        statecraft run "What is in the notes?" --model openai:NAME --folder notes
        statecraft run "Say hello" --model http://127.0.0.1:8080#local --name hello
        statecraft run "Tidy up" --model anthropic:NAME --policy policy.toml
    """
    import anyio

    from ..agent.agent import Agent
    from ..agent.files import file_tools
    from ..agent.providers import BadProxy, NoKey, Prices, UnknownModel, provider_for

    logging.getLogger("machines.agent").addHandler(logging.NullHandler())
    if not task.strip():
        raise BadInput("run: the task is empty; expected words")
    _check_places(folder, journal, name)
    rule = _policy(policy)
    try:
        provider = provider_for(model, prices=None if prices is None else Prices(*prices))
    except (UnknownModel, NoKey) as error:
        raise BadInput(f"--model: {error}") from error
    except (BadProxy, ValueError) as error:
        raise BadInput(str(error) if isinstance(error, BadProxy) else f"--prices: {error}") from error
    agent = Agent(
        provider, () if folder is None else file_tools(folder, hidden=(journal,)), policy=rule, journal=journal
    )

    async def whole() -> tuple[RunResult, int | None]:
        try:
            return await _run(agent, task, name)
        finally:
            with anyio.CancelScope(shield=True):
                await provider.aclose()

    result, number = anyio.run(whole)
    sys.stdout.write(_as_json(result) if json else f"{_lines(result.output)}\n")
    sys.stdout.flush()
    _tell_end(result)
    if number is not None:
        return 128 + number
    return 0 if result.ok else 1


async def _run(agent: Agent, task: str, name: str | None) -> tuple[RunResult, int | None]:
    """The run to its end, and the signal that ended it, if one did. What a signal ends has its result all the same."""
    import anyio

    from .live import shown

    try:
        under_way = agent.start(task, run=name)
    except ValueError as error:
        raise BadInput(f"--name: {error}") from error
    signals: list[int] = []
    results: list[RunResult] = []
    problems: list[Exception] = []
    async with anyio.create_task_group() as group:
        await group.start(_listen, under_way, signals, group.cancel_scope.cancel)
        try:
            with shown(agent.notices):
                results.append(await under_way.result())
        except Exception as error:  # noqa: BLE001  # a group would wrap it, and what is told of it would not be its own
            problems.append(error)
        group.cancel_scope.cancel()
    if problems:
        raise problems[0]
    if not results:
        raise KeyboardInterrupt
    return results[0], signals[0] if signals else None


async def _listen(under_way: AgentRun, signals: list[int], give_up: Callable[[], None], *, task_status: Any) -> None:
    """End the run as cancelled at the first signal, and whatever holds it up at the second."""
    import anyio

    with anyio.open_signal_receiver(*SIGNALS) as arriving:
        task_status.started()
        async for number in arriving:
            signals.append(number)
            if len(signals) > 1:
                give_up()
            under_way.cancel(SIGNALS[number])


def _check_places(folder: Path | None, journal: Path, name: str | None) -> None:
    if folder is not None and not folder.is_dir():
        raise BadInput(f"--folder {folder}: no folder found there; expected one")
    if journal.exists() and not journal.is_dir():
        raise BadInput(f"--journal {journal}: found a file, expected a folder")
    if folder is not None and folder.resolve().is_relative_to(journal.resolve()):
        raise BadInput(
            f"--journal {journal}: the agent would work in the folder of the journals ({folder}); "
            f"expected another folder, or one inside of it"
        )
    if name and (journal / f"{name}.jsonl").exists():
        raise BadInput(f"--name {name}: a run of that name lies in {journal}; expected another name")


def _policy(path: Path | None) -> Policy:
    try:
        return DEFAULT if path is None else read_policy(path)
    except BadPolicy as error:
        raise BadInput("\n".join(f"--policy {line}" for line in str(error).splitlines())) from error


def _lines(text: str) -> str:
    """Text of a model as it may be shown: line by line, tabs as they are, nothing that moves a cursor."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(harmless(piece) for piece in line.split("\t")) for line in lines)


def _tell_end(result: RunResult) -> None:
    """How it ended and what it did, on standard error; where it did not complete, its account was the answer."""
    status, by = result.status.value, result.outcome.reason.by
    lines = [status if by == status else f"{status}: {by}", *(result.summary[1:] if result.ok else ())]
    with suppress(OSError):  # the answer is out, and the exit code says the rest
        for line in (*lines, f"journal: {result.journal}"):
            sys.stderr.write(f"{harmless(line)}\n")
        sys.stderr.flush()


def _as_json(result: RunResult) -> str:
    reason, usage = result.outcome.reason, result.usage
    whole = {
        "run": result.run,
        "status": result.status.value,
        "kind": result.kind.value,
        "reason": {"by": reason.by, **dict(reason.values)},
        "facts": [fact.value for fact in result.facts],
        "output": result.output,
        "error": result.error,
        "todos": list(result.todos),
        "turns": result.account.turns,
        "seconds": round(result.account.seconds, 3),
        "usage": {"input": usage.input, "output": usage.output, "cached": usage.cached, "usd": usage.usd or None},
        "journal": result.journal,
    }
    return orjson.dumps(whole, option=orjson.OPT_APPEND_NEWLINE, default=str).decode()
