"""The machines of an LLM agent run, built on statecraft: its lifecycle, its messages, its waiting, its endings."""

from typing import Final

__statecraft__: Final = "statecraft-machines"
"""Says that this `machines` is ours: the command line and the pytest plugin look for it, as a user's own folder of that
name hides this one under `python -m` and pytest."""
