"""What a run has said, told again from its journal, is what it said: also where things come in an unusual order.

Each run here is told again at its end, and compared, by the fixture that all agents' tests share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from machines.agent.notices import TextNotice
from machines.agent.scripted import Turn
from machines.outcome import TerminalStatus
from machines.policy import Budget, Policy

pytestmark = pytest.mark.anyio


async def test_a_run_without_a_last_reply_still_shows_what_its_last_step_said(serve: Callable[..., Any]) -> None:
    policy = Policy(budget=Budget(turns=1, final_reply=False))
    shown: list[Any] = []
    with serve([Turn("So far, so good.")]) as stage:
        agent = stage.agent(policy=policy)
        agent.notices.subscribe(shown.append)
        result = await agent.run("go", run="shown")
        await stage.close()
    assert result.status is TerminalStatus.BLOCKED
    assert [one.text for one in shown if isinstance(one, TextNotice) and one.checkpoint] == ["So far, so good."]
