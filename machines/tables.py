"""The tables of an agent run, as `statecraft check` and `statecraft diagram` take them.

`SAMPLES` holds, for each table whose budgets depend on the policy, a run under the default policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from statecraft import Table

from .escalation import ESCALATION
from .message import MESSAGE
from .run import RUN
from .state import new_run

TABLES: Final[tuple[Table[Any, Any, Any, Any], ...]] = (RUN, MESSAGE, ESCALATION)
SAMPLES: Final[Mapping[str, Any]] = {RUN.name: new_run("sample")}
