"""What a run of the command line was made with, kept beside its journal: it can be taken up by its name alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from statecraft.cli import BadInput
from statecraft.codec import BadData, codec, dump, load
from statecraft.journal import Shelf, Store

from ..manifest import Consent, Kind
from ..policy import Policy

if TYPE_CHECKING:  # these import the HTTP library, which takes a quarter of a second
    from ..agent.agent import Agent
    from ..agent.tools import AgentTool
    from ..agent.wire import Provider

MADE: Final = "made"
"""The note that holds it."""


@attrs.frozen
class Made:
    """What an agent is made of.

    The model, the folder that the agent works in, the prices, whom it may ask, whether writes want a
    consent, and whether replies are told as they come.
    """

    model: str
    folder: str | None = None
    prices: tuple[float, float] | None = None
    ask: bool = False
    consent: bool = False
    stream: bool = False


_CODEC: Final = codec(Made)


def made_note(made: Made) -> bytes:
    """The note. A URL that holds a password is not written down: whoever takes the run up names the model again."""
    model = "" if "@" in made.model else made.model
    return dump(_CODEC.to_plain(attrs.evolve(made, model=model)))


def kept_made(store: Store) -> Made | None:
    """What was kept; None where nothing was, or nothing that can be read."""
    body = store.kept(MADE)
    try:
        found: Made | None = None if body is None else _CODEC.from_plain(load(body), Made)
    except BadData:
        return None
    return found


def provider_of(made: Made) -> Provider:
    """The model. Raises `BadInput` for one that there is not."""
    from ..agent.providers import BadProxy, NoKey, Prices, Retries, UnknownModel, provider_for

    try:
        prices = None if made.prices is None else Prices(*made.prices)
        # The run asks again by itself, and its journal says so.
        return provider_for(made.model, prices=prices, retries=Retries(attempts=1))
    except (UnknownModel, NoKey) as error:
        raise BadInput(f"--model: {error}") from error
    except (BadProxy, ValueError) as error:
        raise BadInput(str(error) if isinstance(error, BadProxy) else f"--prices: {error}") from error


def agent_of(made: Made, provider: Provider, policy: Policy, shelf: Shelf, journal: str) -> Agent:
    """The agent, with its tools. What lies in the folder of the journals is not there for it."""
    from ..agent.agent import Agent
    from ..agent.files import file_tools
    from ..agent.people import ask_person

    tools: list[AgentTool] = []
    if made.folder is not None:
        hidden = () if "://" in journal else _files_of(Path(journal))
        tools += file_tools(made.folder, hidden=hidden)
    if made.consent:
        tools = [_consented(tool) if tool.manifest.kind is Kind.WRITE else tool for tool in tools]
    if made.ask:
        tools.append(ask_person)
    return Agent(provider, tools, policy=policy, journal=shelf.store, stream=made.stream)


def _files_of(journal: Path) -> tuple[Path, ...]:
    """The journals' folder, or the files of their database."""
    return (journal, *(journal.with_name(journal.name + end) for end in ("-wal", "-shm", "-journal")))


def _consented(tool: AgentTool) -> AgentTool:
    return attrs.evolve(tool, manifest=attrs.evolve(tool.manifest, consent=Consent()))
