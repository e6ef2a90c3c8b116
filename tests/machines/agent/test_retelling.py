"""What a run has said, told again from its journal, is what it said: also where things come in an unusual order.

Each run here is told again at its end, and compared, by the fixture that all agents' tests share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from machines.agent.notices import StateNotice, TextNotice
from machines.agent.scripted import Refuse, Turn, call
from machines.agent.taking_up import retell
from machines.agent.tools import tool
from machines.outcome import TerminalStatus
from machines.policy import Budget, Policy
from machines.state import Phase
from statecraft.journal import MemoryShelf, link, verify

pytestmark = pytest.mark.anyio
DONE = Turn(calls=(call("finish", {"kind": "final", "text": "done"}),))


async def test_a_run_without_a_last_reply_still_shows_what_its_last_step_said(serve: Callable[..., Any]) -> None:
    policy = Policy(budget=Budget(turns=1, final_reply=False))
    shown: list[Any] = []
    with serve([Turn("So far, so good.")]) as stage:
        agent = stage.agent(policy=policy)
        agent.notices.subscribe(shown.append)
        under_way: Any = agent.start("go", run="shown")

        def speak(notice: Any) -> None:
            if isinstance(notice, StateNotice) and notice.state == Phase.ASKING.value:
                under_way._host.say("And mind the time.", synthetic=True)

        agent.notices.subscribe(speak)
        result = await under_way.result()
        await stage.close()
    assert result.status is TerminalStatus.BLOCKED
    assert [one.text for one in shown if isinstance(one, TextNotice) and one.checkpoint] == ["So far, so good."]


async def test_a_run_whose_process_ended_between_the_line_of_a_leg_and_the_words_that_began_it_goes_on(
    serve: Callable[..., Any],
) -> None:
    shelf, left = MemoryShelf(), MemoryShelf()
    under_way: Any = None

    @tool
    async def look() -> str:
        """Look, while a person speaks."""
        under_way._host.say("And mind the time.")
        return "nothing to be seen"

    with serve([Turn(calls=(call("look"),)), DONE, DONE]) as stage:
        agent = stage.agent([look])
        agent._store = shelf.store
        under_way = agent.start("go", run="legs")
        assert (await under_way.result()).ok
        lines = [*shelf.store("legs").lines()]
        upto = next(at for at, line in enumerate(lines) if link(line).kind == "leg")
        copy: Any = left.store("legs")
        for at, line in enumerate(lines[: upto + 1]):
            copy.append(at, line)
        copy._content.update(cast("Any", shelf.store("legs"))._content)
        agent._store = left.store
        assert retell(copy).run.at is Phase.READY
        assert (await agent.resume("legs").result()).ok
        await stage.close()
    assert verify(copy).verdict == "whole"
    assert "nothing to be seen" in str(list(stage.server.requests()[-1].request.messages))


async def test_words_to_a_run_that_was_over_are_heard_by_the_next_leg(serve: Callable[..., Any]) -> None:
    with serve([Turn(calls=(call("look"),)), Refuse(401), DONE]) as stage:

        @tool
        async def look() -> str:
            """Look."""
            return "nothing to be seen"

        agent = stage.agent([look])
        under_way: Any = agent.start("go", run="over")
        spoken: list[str] = []

        def speak(notice: Any) -> None:
            asks = isinstance(notice, StateNotice) and (notice.state, notice.turn) == (Phase.ASKING.value, 1)
            if asks and under_way.run.leg == 1 and not spoken:
                spoken.append("both")
                under_way._host.say("First, by a program.", synthetic=True)
                under_way._host.say("Then, by a person.")

        agent.notices.subscribe(speak)
        assert (await under_way.result()).ok
        await stage.close()
    assert under_way.run.leg == 2
    sent = str([*stage.server.requests()[-1].request.messages])
    assert 0 < sent.index("First, by a program.") < sent.index("Then, by a person.")


async def test_a_run_without_a_last_reply_is_asked_for_none_by_who_takes_it_up(serve: Callable[..., Any]) -> None:
    policy = Policy(budget=Budget(turns=1, final_reply=False))
    shelf, left = MemoryShelf(), MemoryShelf()
    with serve([Turn("So far, so good.")]) as stage:
        agent = stage.agent(policy=policy)
        agent._store = shelf.store
        await agent.run("go", run="none")
        copy: Any = left.store("none")
        for at, line in enumerate(shelf.store("none").lines()):
            copy.append(at, line)
            if (link(line).record or {}).get("target") == Phase.CONCLUDING.name:
                break
        copy._content.update(cast("Any", shelf.store("none"))._content)
        assert retell(copy).run.at is Phase.CONCLUDING
        agent._store = left.store
        result = await agent.resume("none").result()
        await stage.close()
    assert result.outcome.reason.by == "turns"
    assert len(stage.server.requests()) == 1
    assert verify(copy).verdict == "whole"
