"""A real server that is killed while it answers."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from machines.agent.notices import Notice, StateNotice
from machines.outcome import TerminalStatus
from machines.policy import Budget, Policy, Recovery

pytestmark = [pytest.mark.live, pytest.mark.anyio]


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_a_server_that_dies_is_asked_as_often_as_allowed_and_the_run_fails(
    server_of_its_own: Any,
    provider_of: Callable[[str], Any],
    ask_by: Callable[..., Awaitable[Any]],
    tmp_path: Path,
) -> None:
    def end_the_server(notice: Notice) -> None:
        if isinstance(notice, StateNotice) and notice.state == "recovering" and process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()

    process = server_of_its_own.process
    policy = Policy(budget=Budget(reply_tokens=3), recovery=Recovery(truncated=9, refused=2))
    ran = await ask_by(
        provider_of(server_of_its_own.url), tmp_path, "Count to seven.", policy=policy, watch=end_the_server
    )
    assert len(ran.heard("Reply")) == 1
    assert [refusal["status"] for refusal in ran.heard("Refusal")] == [0] * 3
    result = ran.result
    assert (result.status, result.outcome.reason.by) == (TerminalStatus.FAILED, "refused")
    assert result.output
    assert result.usage.output == 3  # what had been answered stays counted
