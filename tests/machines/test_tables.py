"""What `statecraft check` takes: the tables, a run to size them by, and what their proofs rest on."""

from __future__ import annotations

import re

import attrs

from machines.policy import Budget
from machines.tables import ASSUMED, SAMPLES, TABLES, WORLDS
from statecraft.named import machines
from statecraft.proofs import prove


def test_the_machines_are_named_with_their_samples_and_what_is_assumed_of_them() -> None:
    for text in ("machines", "machines:RUN"):
        found = machines(text)
        assert set(found.tables) <= set(TABLES)
        assert (found.samples, found.assumed, found.worlds) == (SAMPLES, ASSUMED, WORLDS)


def test_what_is_assumed_is_printed_beside_the_bounds() -> None:
    report = prove(TABLES, SAMPLES, ASSUMED)
    assert report.ok
    assert report.lines[-len(ASSUMED) - 1 :] == ("assumed:", *(f"  {line}" for line in ASSUMED))


def test_the_fields_of_the_policy_that_it_names_are_there() -> None:
    named = set(re.findall(r"`(\w+)`", " ".join(ASSUMED)))
    assert named == {"calls_per_turn", "unbounded"}
    assert named <= {field.name for field in attrs.fields(Budget)}
