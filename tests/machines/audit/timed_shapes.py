"""Shapes of being stuck, and of work that looks like it: what is right to say of each, and between which turns.

Each was met in some agent; they are told here with tools and in words of our own.
"""

from __future__ import annotations

from collections.abc import Sequence

from .recordings import ANY, CATALOGUE, RING, WAIT, Did, Timed, cases, did, oven, plan, shelf, tools, wrote


def probing(n: int, answer: str = "no cards") -> list[Did]:
    return [did("ask_catalogue", answer, about=f"lighthouses, asked way {n}")]


TIMED: Sequence[Timed] = (
    Timed("a declared wait that holds", [oven("baking", loaves=6)] * 12, None, None, {"tools": WAIT}, 20.0),
    Timed(
        "a declared wait that ends well",
        [*[oven("baking", loaves=n) for n in range(11)], oven("done")],
        None,
        None,
        {"tools": WAIT},
        20.0,
    ),
    Timed("a look whose answer moves", [[did("kiln", {"kiln": "hot", "pots": n})] for n in range(14)], None, None),
    Timed("a look whose answer holds, undeclared", cases(did("kiln", {"kiln": "hot"}), times=12), (3, 4), (4, 8)),
    Timed("asked after the end", [oven("baking"), *[oven("done")] * 9], (4, 5), (5, 9), {"tools": WAIT}, 20.0),
    Timed("a status nobody named", [oven("baking"), *[oven("odd")] * 9], (2, 5), (2, 9), {"tools": WAIT}, 20.0),
    Timed("waiting for ever", [oven("heating")] * 150, ANY, (118, 126), {"tools": WAIT}, 10.0),
    Timed("questions in other words, nothing", [probing(n) for n in range(8)], (3, 5), (5, 7)),
    Timed("questions in other words, each answered", [probing(n, f"card {n}") for n in range(8)], None, None),
    Timed(
        "one question about thirteen years",
        [[did("almanac", f"{n * 91} tons", of=f"herring landed in {1900 + n}")] for n in range(13)],
        None,
        None,
        tools(almanac={"kind": "search", "family": "almanacs", "topic": ["of"]}),
    ),
    Timed("one batch, word for word", [[part for turn in RING[:5] for part in turn]] * 8, (2, 4), (3, 7)),
    Timed(
        "one batch in any order",
        [[part for n in order for part in RING[n]] for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1)) * 2],
        (2, 4),
        (3, 7),
    ),
    Timed("three in turn", RING[:3] * 8, (5, 9), (7, 12)),
    Timed("two in turn", RING[:2] * 7, (4, 7), (5, 10)),
    Timed(
        "changed and changed back",
        [
            one
            for n in range(12)
            for one in ([wrote("mend", f"v{n % 2}", way=n % 2)], [did("rehearse", "1 of 9 fell", "other")])
        ],
        (5, 9),
        (7, 14),
    ),
    Timed(
        "changed, and new each time",
        [one for n in range(12) for one in ([did("open", f"text {n}")], [wrote("mend", f"v{n}", way=n)])],
        None,
        None,
    ),
    Timed(
        "changed to what it was",
        [[did("open", "the same text")], [wrote("mend", "v", way=1)]] * 12,
        (4, 9),
        (6, 13),
    ),
    Timed(
        "a slate wiped and written while nothing moves",
        [[wrote("chalk", "same", text=f"step {n}"), CATALOGUE] for n in range(12)],
        (3, 6),
        (4, 9),
        tools(chalk={"kind": "write", "scratch": True}),
    ),
    Timed(
        "a plan that only changes its words",
        [one for n in range(12) for one in ([CATALOGUE], plan(0, 1, f"chapter, draft {n}, no"))],
        (3, 5),
        (4, 8),
    ),
    Timed(
        "a plan that closes an item each turn",
        [one for n in range(10) for one in (plan(n + 1), [did("rehearse", "0 of 9 fell")])],
        ANY,
        None,
    ),
    Timed("one refused call", cases(did("order", "size?", "validation"), times=6), ANY, (3, 4)),
    Timed("a retry that works", [*cases(did("hail", "busy", "transient"), times=4), [did("hail", "yes?")]], ANY, None),
    Timed("a retry for ever", cases(did("hail", "busy", "transient"), times=16), (4, 8), (6, 13)),
    Timed(
        "errors of every kind, and then work",
        [
            *(
                [did("lift", f"no {part}", "other", n=part)]
                for part in ("rope", "hook", "crane", "men", "room", "time")
            ),
            *map(shelf, range(12)),
        ],
        ANY,
        None,
    ),
    Timed(
        "one failure, many commands, for long",
        [[did("launch", "rope missing", "other", how=f"way {n}")] for n in range(16)],
        (4, 8),
        (5, 13),
    ),
    Timed("twenty shelves", list(map(shelf, range(20))), None, None),
    Timed("twenty crates, one receipt", [[wrote("pack", f"c{n}", crate=n)] for n in range(20)], None, None),
    Timed(
        "an answer that only ticks",
        [
            [did("gauge", {"level": 4, "request_id": f"q-{n:04}", "etag": f'"{n:08x}"', "latency_ms": 30 + n})]
            for n in range(16)
        ],
        (3, 5),
        (4, 8),
    ),
    Timed(
        "a letter without its text",
        [[wrote("post", "empty", "posted", to="harbour")]] * 6,
        ANY,
        (3, 5),
        tools(post={"kind": "write", "required": ["to", "text"]}),
    ),
    Timed("words alone", [f"Next I will do step {n}." for n in range(8)], (2, 4), (3, 7)),
    Timed("empty thoughts", cases(did("muse", "noted"), times=4), ANY, (2, 3), tools(muse={"kind": "think"})),
    Timed("healthy work and its answer", [*map(shelf, range(6)), "There are 84 books on the shelves."], None, None),
    Timed(
        "a goal that comes nearer while one answer holds",
        [one for n in range(10) for one in ([did("haul", "hauled")], {"t": "goal", "done": n + 1, "total": 40})],
        ANY,
        None,
    ),
)
