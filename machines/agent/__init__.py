"""An agent run live: `Agent` and what an application uses with it, imported when it is first asked for.

Tools are functions under `@tool`; providers take the name of a model; notices tell what goes on; a result is typed. The
scripted model server for tests is `machines.agent.scripted`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ..events import ErrorKind, Facts, RefusalKind, StopReason, Usage
    from ..letters import BadAnswer, Letter, deliver
    from ..manifest import Consent, Kind, Tool, Wait, Work
    from ..policy import Policy
    from ..policy_file import read_policy
    from ..standing import Question
    from .agent import Agent
    from .agent_run import AgentRun, PutDown
    from .awaiting import Poll, awaited
    from .calling import heartbeat, idempotency_key
    from .files import file_tools
    from .from_outside import wait_for
    from .http_poll import polled_url
    from .limits import ModelLimits, register_model_limits
    from .notices import (
        AttemptResetNotice,
        CallsNotice,
        CondensedNotice,
        EndingNotice,
        Notice,
        Notices,
        PersonNotice,
        PieceNotice,
        RecoveryNotice,
        RepetitionNotice,
        ResultNotice,
        StateNotice,
        TextNotice,
        TodosNotice,
        VerdictNotice,
    )
    from .people import ask_person
    from .providers import BadProxy, Fallback, NoKey, Prices, Retries, UnknownModel, provider_for
    from .result import (
        ContextOverflow,
        LastRefusal,
        MachineFault,
        NoAnswer,
        RecoveryExhausted,
        RunBlocked,
        RunCancelled,
        RunError,
        RunFailed,
        RunIncomplete,
        RunLimitReached,
        RunRefused,
        RunResult,
        RunStuck,
        RunTruncated,
    )
    from .tools import AgentTool, ToolError, tool
    from .wire import (
        CallPart,
        Completion,
        Counting,
        Message,
        Provider,
        Refused,
        Request,
        ResultPart,
        Streaming,
        TextPart,
        ThinkingPart,
    )

# The providers import the HTTP library, which takes a quarter of a second: a command that asks no model should not.
_MODULES: Final = {
    "..events": ("ErrorKind", "Facts", "RefusalKind", "StopReason", "Usage"),
    "..policy": ("Policy",),
    "..policy_file": ("read_policy",),
    "..manifest": ("Consent", "Kind", "Tool", "Wait", "Work"),
    ".agent": ("Agent",),
    ".agent_run": ("AgentRun", "PutDown"),
    ".awaiting": ("Poll", "awaited"),
    ".calling": ("heartbeat", "idempotency_key"),
    ".people": ("ask_person",),
    ".from_outside": ("wait_for",),
    "..letters": ("BadAnswer", "Letter", "deliver"),
    "..standing": ("Question",),
    ".files": ("file_tools",),
    ".http_poll": ("polled_url",),
    ".limits": ("ModelLimits", "register_model_limits"),
    ".notices": (
        "AttemptResetNotice",
        "CallsNotice",
        "CondensedNotice",
        "EndingNotice",
        "Notice",
        "Notices",
        "PersonNotice",
        "PieceNotice",
        "RecoveryNotice",
        "RepetitionNotice",
        "ResultNotice",
        "StateNotice",
        "TextNotice",
        "TodosNotice",
        "VerdictNotice",
    ),
    ".providers": ("BadProxy", "Fallback", "NoKey", "Prices", "Retries", "UnknownModel", "provider_for"),
    ".result": (
        "ContextOverflow",
        "LastRefusal",
        "MachineFault",
        "NoAnswer",
        "RecoveryExhausted",
        "RunBlocked",
        "RunCancelled",
        "RunError",
        "RunFailed",
        "RunIncomplete",
        "RunLimitReached",
        "RunRefused",
        "RunResult",
        "RunStuck",
        "RunTruncated",
    ),
    ".tools": ("AgentTool", "ToolError", "tool"),
    ".wire": (
        "CallPart",
        "Completion",
        "Counting",
        "Message",
        "Provider",
        "Refused",
        "Request",
        "ResultPart",
        "Streaming",
        "TextPart",
        "ThinkingPart",
    ),
}
_WHERE: Final = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Agent",
    "AgentRun",
    "AgentTool",
    "AttemptResetNotice",
    "BadAnswer",
    "BadProxy",
    "CallPart",
    "CallsNotice",
    "Completion",
    "CondensedNotice",
    "Consent",
    "ContextOverflow",
    "Counting",
    "EndingNotice",
    "ErrorKind",
    "Facts",
    "Fallback",
    "Kind",
    "LastRefusal",
    "Letter",
    "MachineFault",
    "Message",
    "ModelLimits",
    "NoAnswer",
    "NoKey",
    "Notice",
    "Notices",
    "PersonNotice",
    "PieceNotice",
    "Policy",
    "Poll",
    "Prices",
    "Provider",
    "PutDown",
    "Question",
    "RecoveryExhausted",
    "RecoveryNotice",
    "RefusalKind",
    "Refused",
    "RepetitionNotice",
    "Request",
    "ResultNotice",
    "ResultPart",
    "Retries",
    "RunBlocked",
    "RunCancelled",
    "RunError",
    "RunFailed",
    "RunIncomplete",
    "RunLimitReached",
    "RunRefused",
    "RunResult",
    "RunStuck",
    "RunTruncated",
    "StateNotice",
    "StopReason",
    "Streaming",
    "TextNotice",
    "TextPart",
    "ThinkingPart",
    "TodosNotice",
    "Tool",
    "ToolError",
    "UnknownModel",
    "Usage",
    "VerdictNotice",
    "Wait",
    "Work",
    "ask_person",
    "awaited",
    "deliver",
    "file_tools",
    "heartbeat",
    "idempotency_key",
    "polled_url",
    "provider_for",
    "read_policy",
    "register_model_limits",
    "tool",
    "wait_for",
]


if not TYPE_CHECKING:  # a checker knows the names from above, and would take any other for one

    def __getattr__(name: str) -> Any:
        module = _WHERE.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(module, __name__), name)


def __dir__() -> list[str]:
    return [*__all__]
