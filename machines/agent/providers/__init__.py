"""Providers: models behind HTTP, each the same `Provider` whatever its wire.

Importing this package imports the HTTP library, which takes a quarter of a second: a command that asks no model
should not.
"""

from .fallback import Fallback
from .http import BadProxy
from .key import NoKey
from .prices import Prices
from .provider import HttpProvider
from .registry import UnknownModel, provider_for
from .retries import Retries

__all__ = ["BadProxy", "Fallback", "HttpProvider", "NoKey", "Prices", "Retries", "UnknownModel", "provider_for"]
