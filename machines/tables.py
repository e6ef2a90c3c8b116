"""The tables of an agent run, as `statecraft check` and `statecraft diagram` take them.

`SAMPLES` holds, for each table whose budgets depend on the policy, a run under the default policy; `WORLDS` says what
is around a run, `ASSUMED` what the proofs of these tables rest on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from statecraft import Table, World
from statecraft.proofs import Facts, Search

from .escalation import ESCALATION
from .held import HELD
from .message import MESSAGE
from .policy import DEFAULT
from .reply import REPLY, mending
from .request import REQUEST, sending
from .run import RUN
from .searched.facts import MESSAGES
from .searched.play import SEARCH
from .state import new_run
from .wait import WAIT
from .world import RUN_WORLD

TABLES: Final[tuple[Table[Any, Any, Any, Any], ...]] = (RUN, MESSAGE, REPLY, REQUEST, WAIT, HELD, ESCALATION)
SAMPLES: Final[Mapping[str, Any]] = {
    RUN.name: new_run("sample"),
    REPLY.name: mending(DEFAULT.recovery),
    REQUEST.name: sending(DEFAULT.recovery),
}
WORLDS: Final[Mapping[str, World]] = {RUN.name: RUN_WORLD}
SEARCHES: Final[tuple[Search[Any, Any], ...]] = (SEARCH,)
FACTS: Final[tuple[Facts[Any, Any], ...]] = (MESSAGES,)
ASSUMED: Final[tuple[str, ...]] = (
    "every command is answered: a request by a reply or a refusal, a call by a result, a wait by the clock or a signal",
    "a person's messages are finite, and the bound is per message; so are changes of the plan and measures of the goal",
    "a turn has at most `calls_per_turn` calls; the rows that take their results are quiet",
    "no budget is ever above its full size; the policy (the default one, if none is given) does not change in a run",
    "a run has turns, or as many as its tokens: money and seconds bound no steps, and an `unbounded` run is not proved",
)
"""In the words of the design: what no table can show."""
