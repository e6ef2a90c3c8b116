"""`statecraft run`: one run of an agent, live."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from statecraft.cli import BadInput

from ..policy import DEFAULT
from ..policy_file import read_policy


def run(
    task: Annotated[str, Parameter(help="What is to be done.")],
    /,
    *,
    model: Annotated[str, Parameter(help="anthropic:NAME, openai:NAME, or the URL of a server, with #NAME.")],
    folder: Annotated[
        Path | None, Parameter(help="Let the agent list, read and write files below this folder.")
    ] = None,
    policy: Annotated[Path | None, Parameter(help="Run by this policy file instead of the default.")] = None,
    journal: Annotated[Path, Parameter(help="The folder of the journal.")] = Path("runs"),
    name: Annotated[str | None, Parameter(help="The run's name; without one it gets a name of its own.")] = None,
) -> int:
    """Run an agent on a task: with a live view on a terminal, in plain lines otherwise.

    Exit 0 if it completed, 1 if it ended in any other way; the outcome and its reason are printed, and the journal
    tells the rest (statecraft explain). Keys come from the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY).

    Examples:
        statecraft run "What is in the notes?" --model openai:NAME --folder notes
        statecraft run "Say hello" --model http://127.0.0.1:8080#local
    """
    import anyio

    from ..agent.agent import Agent
    from ..agent.files import file_tools
    from ..agent.providers import NoKey, UnknownModel, provider_for
    from .live import shown

    if not task.strip():
        raise BadInput("run: the task is empty; expected words")
    if folder is not None and not folder.is_dir():
        raise BadInput(f"--folder {folder}: no folder found there; expected one")
    rule = DEFAULT if policy is None else read_policy(policy)
    try:
        provider = provider_for(model)
    except (UnknownModel, NoKey) as error:
        raise BadInput(f"--model: {error}") from error
    agent = Agent(provider, () if folder is None else file_tools(folder), policy=rule, journal=journal)

    async def whole() -> int:
        try:
            with shown(agent.notices):
                result = await agent.run(task, run=name)
        finally:
            with anyio.CancelScope(shield=True):
                await provider.aclose()
        print(f"{result.status.value}: {result.outcome.reason.by}")  # the verb's own output
        print(result.output)
        print(f"journal: {result.journal}")
        return 0 if result.ok else 1

    return anyio.run(whole)
