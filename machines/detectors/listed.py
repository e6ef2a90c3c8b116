"""The roster as it stands under a policy: each detector with its incident, its limits, and when it is asked."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from ..policy import Policy
from .roster import CHANTING, CONDENSING, ROSTER, Detector

MARK: Final = "Incident: "
"""The beginning of the paragraph that a detector's module has on its incident."""


@attrs.frozen
class Listed:
    """One detector. `limits` has its numbers by the policy's keys (None: no limit), `incident` one sentence."""

    name: str
    shape: str
    incident: str
    asked: str
    enabled: bool
    limits: Mapping[str, float | None]


def listed(policy: Policy) -> Iterator[Listed]:
    """Each detector in the order in which they are asked; those that judge no turn come last."""
    for detector in ROSTER:
        asked = "at the end of a turn"
        yield _listed(policy, detector, asked if detector.before is None else f"{asked}, and before a call is run")
    yield _listed(policy, CHANTING, "while a reply streams")
    yield _listed(policy, CONDENSING, "when the history has been condensed")


def _listed(policy: Policy, detector: Detector[Any], asked: str) -> Listed:
    limits = attrs.asdict(getattr(policy.detectors, detector.name))
    enabled = limits.pop("enabled")
    return Listed(detector.name, detector.shape, incident_of(detector), asked, enabled, limits)


def incident_of(detector: Detector[Any]) -> str:
    """The first sentence of what its module says of its incident; empty where Python keeps no docstrings (`-OO`)."""
    told = sys.modules[detector.read.__module__].__doc__ or ""
    paragraph = next((part for part in told.split("\n\n") if part.startswith(MARK)), "").removeprefix(MARK)
    sentence, _, more = " ".join(paragraph.split()).partition(". ")
    return f"{sentence}." if more else sentence
