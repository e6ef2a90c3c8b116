"""The formats of recorded runs that can be read, and which of them a file is in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from attrs import frozen

from . import asciicast, claude_code, intercode, mini_swe_agent, neutral, react, swe_agent, tau_bench
from .bad_trace import BadTrace
from .head import Head, head_of
from .lines import FORMAT
from .recorded import Recorded


@frozen
class Importer:
    """A format: what it is, in a line; whether a file's head is in it; how the runs of a file are read."""

    what: str
    fits: Callable[[Head], bool]
    read: Callable[[Path], Iterator[Recorded]]


def _is_neutral(head: Head) -> bool:
    return head.outline.get("t", "").startswith('"')


def _is_claude_code(head: Head) -> bool:
    kinds = ('"assistant"', '"result"', '"system"', '"user"')
    return head.outline.get("type") in kinds and not {"message", "subtype"}.isdisjoint(head.outline)


# The header on a line of its own, then an event; what was recorded stands too far on to be seen.
_CAST: Final = re.compile(r"\{[^\n]*\}\s*\[\s*[0-9.eE+-]+\s*,")


def _is_asciicast(head: Head) -> bool:
    header = head.outline.get("version") == "2" and {"width", "height"} <= set(head.outline)
    return header and _CAST.match(head.text) is not None


def _is_swe_agent(head: Head) -> bool:
    return head.outline.get("trajectory") == "["


# Both versions write the name of their format last, and their own version early.
_MINI_FORMAT: Final = re.compile(r'"trajectory_format"\s*:\s*"mini-swe-agent-(\d+(?:\.\d+)*)"')


def _mini_version(head: Head) -> str | None:
    """The version of mini-swe-agent that wrote a file, or of its format: 1.1 was version 2's first."""
    if not ("info" in head.outline or "messages" in head.outline):
        return None
    wrote = head.outline.get("info.mini_version", "").strip('"')
    if wrote:
        return "1" if wrote.split(".")[0] == "1" else "2"
    named = _MINI_FORMAT.search(head.tail)
    if named:
        return "1" if named[1] == "1" else "2"
    # Before it named its format: the status, the submission and the statistics, then the messages.
    old = {"info.exit_status", "info.submission"} <= set(head.outline) and "trajectory" not in head.outline
    return "1" if old else None


def _is_mini_1(head: Head) -> bool:
    return _mini_version(head) == "1"


def _is_mini_2(head: Head) -> bool:
    return _mini_version(head) == "2"


def _is_tau_bench(head: Head) -> bool:
    return "task_id" in head.listed and not {"traj", "reward"}.isdisjoint(head.listed)


def _is_intercode(head: Head) -> bool:
    """Its first key is a task's, and what that holds comes in one order."""
    first = next(iter(head.outline), "")
    return head.outline.get(f"{first}.environment", "").startswith('"') and f"{first}.query" in head.outline


_SECTION: Final = re.compile(r"^-+ BEGIN (?:CORRECT|INCORRECT|HALTED) AGENTS -+\s*$", re.MULTILINE)


def _is_react(head: Head) -> bool:
    return _SECTION.search(head.text) is not None


FORMATS: Final[Mapping[str, Importer]] = {
    FORMAT: Importer("the neutral trace, one JSON object a line", _is_neutral, neutral.read),
    claude_code.NAME: Importer("claude-code --output-format stream-json", _is_claude_code, claude_code.read),
    asciicast.NAME: Importer("claude-code's stream-json in a recorded terminal", _is_asciicast, asciicast.read),
    swe_agent.NAME: Importer("a .traj file of SWE-agent", _is_swe_agent, swe_agent.read),
    mini_swe_agent.V1: Importer("a trajectory of mini-swe-agent 1", _is_mini_1, mini_swe_agent.read_v1),
    mini_swe_agent.V2: Importer("a trajectory of mini-swe-agent 2", _is_mini_2, mini_swe_agent.read_v2),
    tau_bench.NAME: Importer("the trials of tau-bench, as OpenAI messages", _is_tau_bench, tau_bench.read),
    intercode.NAME: Importer("the results of InterCode", _is_intercode, intercode.read),
    react.NAME: Importer("transcripts of ReAct as text", _is_react, react.read),
}


def recognise(path: Path) -> str | None:
    """The name of the format that a file is in, by its content, or None. Raises BadTrace where it cannot be read."""
    return _recognised(head_of(path))


def _recognised(head: Head) -> str | None:
    return next((name for name, importer in FORMATS.items() if importer.fits(head)), None)


def open_trace(path: Path, format: str | None = None) -> Iterator[Recorded]:
    """The recorded runs of a file, in the format of that name, or in the one it is recognised to be in.

    Raises BadTrace at once where the format is not known; what is wrong further on is raised when it is read.
    """
    known = ", ".join(FORMATS)
    if format is None:
        head = head_of(path)
        format = _recognised(head)
        if format is None:
            raise BadTrace(path, found=head.what, expected=f"one of the formats {known}")
    importer = FORMATS.get(format)
    if importer is None:
        raise BadTrace(path, found=f"the format name {format}", expected=f"one of {known}")
    return importer.read(path)
