"""Shapes of being stuck, and of work that looks like it: what is right to say of each, and by when.

Each was met in some agent; they are told here with tools and in words of our own.
"""

from __future__ import annotations

from collections.abc import Sequence

from .recordings import (
    CATALOGUE,
    CAUGHT,
    COMPILED,
    CUT,
    EMPTY,
    FINE,
    JAMMED,
    LAMP,
    PERSON,
    PHRASE,
    PROGRAM,
    RING,
    STOPPED,
    TOLD_AT_MOST,
    TOO_LONG,
    WAIT,
    Shape,
    cases,
    condensed,
    did,
    oven,
    shelf,
    streamed,
    tools,
    wrote,
)

SHAPES: Sequence[Shape] = (
    # One call, back to back.
    Shape("a single call", [[CATALOGUE]], FINE),
    Shape("three times the same", cases(CATALOGUE, times=3), TOLD_AT_MOST),
    Shape("four times the same", cases(CATALOGUE, times=4), CAUGHT, 4),
    Shape("five times the same", cases(CATALOGUE, times=5), CAUGHT, 4),
    Shape("long work, and then four times the same", [*map(shelf, range(50)), *cases(CATALOGUE, times=4)], CAUGHT, 54),
    Shape("three failures of one call", cases(JAMMED, times=3), TOLD_AT_MOST),
    Shape("a fourth failure", cases(JAMMED, times=4), CAUGHT),
    Shape("six failures", cases(JAMMED, times=6), CAUGHT),
    Shape("the same for twenty turns", cases(CATALOGUE, times=20), STOPPED, 6),
    Shape("the same for five hundred turns", cases(CATALOGUE, times=500), STOPPED, 6),
    Shape("thirty of the same in one reply", [[CATALOGUE] * 30], STOPPED, 1),
    Shape("six of the same, and then four others", [*cases(CATALOGUE, times=6), *map(shelf, range(4))], CAUGHT),
    Shape("twice the same, and another status", [[LAMP], [did("read_lamp", {"lamp": "green"}, hall=2)]], FINE),
    Shape("what a person says begins anew", [*cases(CATALOGUE, times=2), PERSON, *cases(CATALOGUE, times=2)], FINE),
    Shape("what a program says does not", [*cases(CATALOGUE, times=2), PROGRAM, *cases(CATALOGUE, times=2)], CAUGHT),
    Shape(
        "the same, with a thought between",
        [one for n in range(5) for one in ([CATALOGUE], [did("muse", "noted", thought=f"perhaps {n}")])],
        CAUGHT,
        more=tools(muse={"kind": "think"}),
    ),
    Shape(
        "one answer that only ticks",
        [[did("gauge", {"level": 4, "took_ms": 11 + n, "read_at": f"2026-03-17T09:00:{n:02}Z"})] for n in range(9)],
        STOPPED,
        8,
    ),
    Shape(
        "a status that flickers back",
        [[did("flag", word, mast=1)] for word in ("up", "up", "down", *["up"] * 6)],
        CAUGHT,
    ),
    # The same with others between.
    Shape("three times the same with work between", [one for n in range(3) for one in ([CATALOGUE], shelf(n))], FINE),
    Shape(
        "a stuck call six times, with work between",
        [one for n in range(6) for one in ([CATALOGUE], shelf(n))],
        CAUGHT,
        11,
    ),
    Shape("two steps in turn", RING[:2] * 5, CAUGHT, 10),
    Shape("three steps in turn, six laps", RING[:3] * 6, STOPPED, 15),
    Shape("three pages three times over", RING[:3] * 3, CAUGHT, 9),
    Shape("five steps in turn", RING[:5] * 6, CAUGHT, 25),
    Shape("two calls in either order", [[*RING[n % 2], *RING[1 - n % 2]] for n in range(3)], TOLD_AT_MOST),
    Shape("status and log in turn, nothing new", [[LAMP], [did("lamp_log", "no entries")]] * 5, CAUGHT, 10),
    Shape(
        "two rooms in turn, both of them changing",
        [[did("visit", f"{n} guests in room {n % 2}", room=n % 2)] for n in range(20)],
        FINE,
    ),
    # Other words, the same nothing.
    Shape(
        "four questions in other words, nothing found",
        [
            [did("ask_catalogue", "no cards", about=f"lighthouse {word}")]
            for word in ("keepers", "lamps", "tours", "law")
        ],
        CAUGHT,
    ),
    Shape(
        "eight commands for one unchanged yard",
        [[did("yard", "3 carts, 2 barrels", order=f"show carts, way {n}")] for n in range(8)],
        CAUGHT,
    ),
    Shape(
        "eight searches, each with a hit of its own",
        [[did("dig", {"finds": [f"shard {n}"]}, square=n)] for n in range(8)],
        FINE,
        more=tools(dig={"kind": "search"}),
    ),
    Shape(
        "ten searches, no hit",
        [[did("dig", {"finds": []}, square=n)] for n in range(10)],
        STOPPED,
        10,
        tools(dig={"kind": "search"}),
    ),
    Shape(
        "a reworded call with work between",
        [one for n in range(7) for one in ([did("yard", "3 carts", order=f"way {n}")], shelf(n))],
        CAUGHT,
    ),
    Shape(
        "one failure, many commands",
        [
            [did("launch", "rope missing", "other", how=word)]
            for word in ("push", "pull", "lift", "roll", "drag", "tip")
        ],
        CAUGHT,
    ),
    Shape(
        "one refusal, other keys",
        [[did("unlock", "key refused", "permission", key=f"brass {n}")] for n in range(12)],
        CAUGHT,
        12,
    ),
    Shape(
        "one failure over three sibling tools",
        [[did(("hail", "signal", "telegraph")[n % 3], "no line", "other", to=f"ship {n}")] for n in range(12)],
        CAUGHT,
    ),
    Shape(
        "a replacement that fits three places",
        [[did("swap", "found three times", "other", old=f"plank {n}", new="board")] for n in range(8)],
        CAUGHT,
    ),
    Shape(
        "a status text reworded for ever",
        [[did("pause", "ok", note=f"still here, {n}")] for n in range(40)],
        STOPPED,
        12,
    ),
    # Arguments that are wrong, and tools that are not there.
    Shape(
        "three refused calls, other arguments",
        [[did("order", "no such size", "validation", size=n)] for n in range(3)],
        TOLD_AT_MOST,
    ),
    Shape("one refused call, sent eight times", cases(did("order", "size?", "validation"), times=8), STOPPED, 5),
    Shape(
        "a tool that is not there, asked twenty ways",
        [[did("wish", "unknown", "unknown_tool", thing=n)] for n in range(20)],
        STOPPED,
        7,
    ),
    Shape("two incidents and no more", cases(did("order", "size?", "validation"), times=2), FINE),
    # The same error, and one that moves.
    Shape("one error in one line", cases(COMPILED, times=4), CAUGHT),
    Shape(
        "an error that moves to another line",
        [[did("compile", f"line {n}: unexpected indent", "other", file="sketch.py")] for n in range(4, 8)],
        TOLD_AT_MOST,
    ),
    Shape(
        "a red test asked again with nothing changed",
        cases(did("rehearse", "2 of 9 fell", "other"), times=7),
        STOPPED,
        7,
    ),
    Shape(
        "a test after each repair, other results",
        [one for n in range(4) for one in ([wrote("mend", f"v{n}", part=n)], [did("rehearse", f"{4 - n} of 9 fell")])],
        FINE,
    ),
    # Words alone.
    Shape("one reply of words", ["I will begin with the map."], FINE),
    Shape("two replies of words", ["I will begin with the map.", "First, the map."], TOLD_AT_MOST),
    Shape("three replies of words", ["I will begin.", "First, the map.", "So I begin."], CAUGHT),
    Shape("two empty thoughts", cases(did("muse", "noted"), times=2), CAUGHT, 2, tools(muse={"kind": "think"})),
    Shape("empty replies with a program between", [EMPTY, PROGRAM] * 6, STOPPED, 4),
    Shape("an empty reply, a call, an empty reply", [EMPTY, [CATALOGUE], EMPTY, [CATALOGUE]], CAUGHT),
    Shape("a reply that is cut", [CUT], FINE),
    Shape("three cuts and a fourth", [CUT] * 4, STOPPED),
    # While it streams.
    Shape("ten of one sentence in a stream", streamed(PHRASE * 10), STOPPED),
    Shape("nine, and then a call", [*streamed(PHRASE * 9), [CATALOGUE]], FINE),
    Shape("a fence that closes, and then one sentence", streamed("```\nrow()\n```\n" + PHRASE * 30), STOPPED),
    Shape("rows of one line of code", streamed("```\n" + "row(1, 2, 3)\n" * 60 + "```\n"), FINE),
    Shape("a long list", streamed("".join(f"- item {n} of the list\n" for n in range(200))), FINE),
    Shape("rows of dashes", streamed(("-" * 60 + "\n") * 60), FINE),
    Shape("a table", streamed("| berth | ship |\n" * 60), FINE),
    Shape("one sentence in its thinking", streamed(PHRASE * 30, "thinking"), STOPPED),
    # Condensing.
    Shape("condensed ten times, nothing freed", [condensed(0)] * 10, STOPPED),
    Shape("refused as too long, condensed, and on", [TOO_LONG, condensed(60_000), [CATALOGUE]], FINE),
    Shape(
        "condensed, and the same read anew each time",
        [*RING[:3], condensed(60_000)] * 4,
        CAUGHT,
    ),
    # Work.
    Shape("thirty shelves", list(map(shelf, range(30))), FINE),
    Shape("sixteen shelves in one reply", [[part for n in range(16) for part in shelf(n)]], FINE),
    Shape("twenty letters, one receipt", [[wrote("post", None, "posted", letter=n)] for n in range(20)], FINE),
    Shape("twelve orders, one receipt, no writes", [[did("order", "taken", size=n)] for n in range(12)], CAUGHT),
    Shape(
        "stage, look, seal, eight times",
        [
            one
            for n in range(8)
            for one in (
                [wrote("stage", f"s{n}", crate=n)],
                [did("check", f"crate {n} is full")],
                [wrote("seal", f"t{n}")],
            )
        ],
        FINE,
    ),
    Shape(
        "two files rewritten in turn, each time new",
        [[wrote("rewrite", f"r{n}", file="ab"[n % 2])] for n in range(20)],
        FINE,
    ),
    Shape(
        "nineteen repairs and one taken back",
        [[wrote("mend", f"v{n if n != 10 else 8}", plank=n)] for n in range(20)],
        FINE,
    ),
    Shape("fifty looks with something new in each", [[did("tail", f"line {n}", log=1)] for n in range(50)], FINE),
    Shape(
        "a page that changes with each touch",
        [one for n in range(5) for one in ([did("view", f"page after {n}")], [did("touch", f"pressed {n}", at=n)])],
        FINE,
    ),
    Shape("four looks at one page", cases(did("view", "the page, as it was"), times=4), CAUGHT),
    # Limits.
    Shape("no turn left", list(map(shelf, range(6))), STOPPED, 4, {"budget": {"turns": 4}}),
    Shape(
        "the oven as it is told to be watched",
        [oven("heating")] * 3 + [oven("done")],
        FINE,
        None,
        {"tools": WAIT},
        300.0,
    ),
)
