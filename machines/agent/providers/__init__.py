"""Providers: models behind HTTP, each the same `Provider` whatever its wire.

Importing this package imports the HTTP library, which takes a quarter of a second: a command that asks no model
should not.
"""

from .key import NoKey
from .provider import HttpProvider
from .registry import UnknownModel, provider_for
from .retries import Retries

__all__ = ["HttpProvider", "NoKey", "Retries", "UnknownModel", "provider_for"]
