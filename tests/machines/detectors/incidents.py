"""For each detector the shape that it is there for, as a short history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from machines.events import Condensed, ErrorKind
from machines.manifest import Kind, Tool

from .told import Answered, Call, Happening, Verdict, streamed


@attrs.frozen
class Incident:
    """A history, what the detector alone says of it, and what all the others say without it (mostly nothing)."""

    detector: str
    shape: str
    history: Sequence[Happening]
    alone: Sequence[Verdict]
    others: Sequence[Verdict] = ()
    tools: Mapping[str, Tool] = attrs.field(factory=dict[str, Tool])


def work(number: int) -> list[Call]:
    """A call that was not made before, and an answer that was not heard before."""
    return [("work", f'{{"step": {number}}}', f"step {number} came to {number * number}")]


def pages(*numbers: int) -> list[Call]:
    return [("page", f'{{"n": {number}}}', f"text of page {number}") for number in numbers]


def between(*turns: list[Call]) -> list[Happening]:
    """The turns, each followed by work that is new."""
    return [one for number, turn in enumerate(turns) for one in (turn, work(number))]


def refused(number: int) -> list[Call]:
    said = f"field {'abcdefghijkl'[number]} of the form is not valid"  # worded anew each time
    return [("book", '{"seat": "none"}', Answered(said, ErrorKind.VALIDATION))]


def missing(number: int) -> list[Call]:
    said = f"no tool of this name; attempt {number} was logged"
    return [("teleport", f'{{"to": {number}}}', Answered(said, ErrorKind.UNKNOWN_TOOL))]


def thought(args: str) -> list[Call]:
    return [("ponder", args, "noted")]


ASKED: list[Call] = [("ask", '{"q": "opening hours"}', "no entry")]
READ: list[Call] = [("open", '{"doc": "terms"}', "the same terms")]
AGAIN: list[Call] = [("jot", '{"line": "step by step"}', "kept")]


def failing(number: int) -> list[Call]:
    said = f"built {number} parts\nerror: cannot find linker"
    return [("build", f'{{"flags": "-O{number}"}}', Answered(said, ErrorKind.OTHER))]


def nothing_found(number: int, tool: str = "find") -> list[Call]:
    echoed: dict[str, object] = {"asked": f"variant {number}", "entries": []}
    return [(tool, f'{{"q": "variant {number}"}}', echoed)]


def about(number: int, year: str = "") -> list[Call]:
    tool = ("lexicon", "papers", "blogs")[number % 3]
    words = ("Ada Byron Lovelace", "Lovelace, Ada (Byron)", "Countess Ada Lovelace Byron")[number % 3]
    return [(tool, f'{{"q": "{words} {year}"}}', {"for": f"{words} {number}", "articles": []})]


def shell(number: int, tool: str = "shell") -> list[Call]:
    return [(tool, f'{{"cmd": "check --level {number}"}}', "all quiet")]


def noted(number: int) -> list[Call]:
    return [("remark", f'{{"about": {number}}}', f"remark {number} is kept")]


LISTED: list[Call] = [("list", f'{{"folder": "{name}"}}', f"files of {name}") for name in "abcdef"]
SEEN: list[Call] = [("look", "{}", "the desktop, as it was")]
REPORT: list[Call] = [("publish", '{"what": "report"}', Answered(wrote=True))]
LOST: list[Call] = [("fetch", '{"id": 1}', ErrorKind.TRANSIENT)]
VAIN = Condensed(1.0, 100)
FREEING = Condensed(1.0, 100_000)
SUNG = "And so it goes on and on, as it did before. "

THINKS = {"ponder": Tool(kind=Kind.THINK)}
FAMILY = Tool(kind=Kind.READ, family="people", topic=("q",))
FAMILIES = {"lexicon": FAMILY, "papers": FAMILY, "blogs": FAMILY}

INCIDENTS: Sequence[Incident] = (
    Incident(
        "validation_error",
        "one call refused for its arguments in ever other words",
        [refused(number) for number in range(9)],
        [(3, "stop", "validation_error")],
    ),
    Incident(
        "validation_error",
        "a tool that is not there, asked in other words each time",
        [missing(number) for number in range(3)],
        [(3, "stop", "validation_error")],
    ),
    Incident(
        "empty_thought",
        "thoughts without a thought before every step",
        [thought("{}"), thought('{"idea": ""}'), work(0), thought('{"idea": " "}'), thought('{"idea": null}'), work(1)],
        [(2, "stop", "empty_thought")],
        tools=THINKS,
    ),
    Incident(
        "consecutive_duplicate",
        "one question with one answer, until the budget is gone",
        [ASKED] * 9,
        [(3, "nudge", "consecutive_duplicate"), (4, "stop", "consecutive_duplicate")],
        others=[(4, "nudge", "no_progress"), (5, "stop", "no_progress")],
    ),
    Incident(
        "consecutive_duplicate",
        "one reply that makes one call four times",
        [ASKED * 4],
        [(1, "stop", "consecutive_duplicate")],
    ),
    Incident(
        "cycle",
        "three batches of pages, and a report that nobody digests",
        [pages(1, 2, 3), pages(4, 5, 6), pages(7, 8, 9) + REPORT] * 5,
        [(12, "nudge", "cycle"), (15, "stop", "cycle")],
        others=[(15, "nudge", "fruitless_tool")],
    ),
    Incident(
        "cycle",
        "one reply that walks a lap of two calls four times",
        [pages(1, 2) * 4],
        [(1, "stop", "cycle")],
    ),
    Incident(
        "spread_duplicate",
        "one note to itself between all pieces of work",
        between(*[AGAIN] * 12),
        [(9, "nudge", "spread_duplicate"), (19, "stop", "spread_duplicate")],
        tools={"jot": Tool(scratch=True)},
    ),
    Incident(
        "same_error",
        "builds with other flags that all end with one line, with work between",
        between(*map(failing, range(12))),
        [(11, "nudge", "same_error"), (23, "stop", "same_error")],
    ),
    Incident(
        "search_escalation",
        "searches that find nothing, each in other words",
        [nothing_found(number) for number in range(14)],
        [(7, "nudge", "search_escalation"), (12, "stop", "search_escalation")],
        tools={"find": Tool(kind=Kind.SEARCH)},
    ),
    Incident(
        "family",
        "three indexes asked about one person",
        [about(number) for number in range(14)],
        [(5, "nudge", "family"), (12, "stop", "family")],
        tools=FAMILIES,
    ),
    Incident(
        "monologue",
        "two failures, and then only announcements",
        [LOST, LOST, [], [], [], []],
        [(5, "nudge", "monologue"), (6, "stop", "monologue")],
    ),
    Incident(
        "no_progress",
        "one question in other words each time, and the same nothing",
        [[("ask", f'{{"q": "opening hours, version {number}"}}', "no entry")] for number in range(9)],
        [(4, "nudge", "no_progress"), (5, "stop", "no_progress")],
        others=[(5, "stop", "stalled_work")],
    ),
    Incident(
        "no_progress",
        "two consoles that say the same to every command",
        [shell(number, tool) for number in range(3) for tool in ("shell", "console")],
        [(5, "nudge", "no_progress"), (6, "stop", "no_progress")],
        tools={"shell": Tool(kind=Kind.COMMAND), "console": Tool(kind=Kind.COMMAND)},
    ),
    Incident(
        "stalled_work",
        "a dozen pages, and the dozen again",
        [pages(number) for number in range(12)] * 2,
        [(16, "stop", "stalled_work")],
    ),
    Incident(
        "fruitless_tool",
        "one console reworded for one output, with a remark after each",
        [one for number in range(8) for one in (shell(number), noted(number))],
        [(9, "nudge", "fruitless_tool"), (15, "stop", "fruitless_tool")],
    ),
    Incident(
        "same_tool",
        "six folders listed at once, over and over, with work between",
        between(*[LISTED] * 4),
        [(5, "nudge", "same_tool")],
    ),
    Incident(
        "redundant_check",
        "a look after every command whose answer had told",
        between(SEEN, SEEN, SEEN),
        [(3, "nudge", "redundant_check"), (5, "nudge", "redundant_check")],
        tools={"look": Tool(look=True)},
    ),
    Incident(
        "chanting",
        "a reply that says one sentence until it is cut",
        streamed(SUNG * 200),
        [(1, "stop", "chanting")],
    ),
    Incident(
        "vain_condensing",
        "condensings that free nothing",
        [work(0), VAIN, work(1), VAIN, work(2), VAIN],
        [(2, "nudge", "vain_condensing"), (3, "stop", "vain_condensing")],
    ),
    Incident(
        "vain_condensing",
        "the same read anew after each condensing",
        [
            *(pages(*range(10)), FREEING),
            *(pages(*range(10)), FREEING),
            *(pages(*range(10), 0), FREEING),
            *(pages(*range(10), 1), FREEING),
        ],
        [(3, "nudge", "vain_condensing"), (4, "stop", "vain_condensing")],
    ),
)
