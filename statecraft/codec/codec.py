"""The codec: a cattrs converter with this package's hooks, as a value."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar, overload

import attrs
from cattrs import Converter

from .classes import configure_classes
from .closed import configure_closed
from .collections import configure_collections
from .hooks import configure_hooks, reader_of, writer_of
from .scalars import configure_scalars
from .text import dump, load
from .unions import Tagged, configure_unions, tagged

T = TypeVar("T")


@attrs.frozen(eq=False)
class Codec:
    """attrs values as JSON. Made by `codec`."""

    converter: Converter

    def to_plain(self, value: Any, kind: Any = None) -> Any:
        """The value as JSON's own types; `kind` is its type where that is wider than its class (a union)."""
        return self.writer(value.__class__ if kind is None else kind)(value)

    @overload
    def from_plain(self, plain: Any, kind: type[T]) -> T: ...
    @overload
    def from_plain(self, plain: Any, kind: Any) -> Any: ...
    def from_plain(self, plain: Any, kind: Any) -> Any:
        """The value of type `kind` that the plain data tells of. Raises `BadData`."""
        return reader_of(self.converter, kind)(plain, kind)

    def to_json(self, value: Any, kind: Any = None) -> bytes:
        """The value as JSON text with sorted keys."""
        return dump(self.to_plain(value, kind))

    @overload
    def from_json(self, data: bytes | str, kind: type[T]) -> T: ...
    @overload
    def from_json(self, data: bytes | str, kind: Any) -> Any: ...
    def from_json(self, data: bytes | str, kind: Any) -> Any:
        """The value of type `kind` that the JSON text tells of. Raises `BadData`."""
        return self.from_plain(load(data), kind)

    def writer(self, kind: Any) -> Callable[[Any], Any]:
        """The function behind `to_plain` for one type, for whoever writes many values of it."""
        return writer_of(self.converter, kind)

    def tagged(self, *classes: type[Any]) -> Tagged:
        """The classes as a union in which every value carries its class's name, even where there is only one class."""
        return tagged(self.converter, classes)


def codec(*kinds: Any, forbid_extra: bool = False, configure: Callable[[Converter], object] | None = None) -> Codec:
    """A codec. Raises `TypeError` where one of `kinds` (classes or unions) holds a type that cannot be kept.

    With `forbid_extra` a key that no field has is an error, which names the nearest field; otherwise it is left unread.
    `configure` may register further hooks with the converter; they come before the ones that are here.
    """
    converter = Converter(detailed_validation=True, forbid_extra_keys=forbid_extra)
    configure_hooks(converter)
    configure_classes(converter, forbid_extra=forbid_extra)
    configure_collections(converter)
    configure_closed(converter)
    configure_scalars(converter)
    configure_unions(converter)
    if configure is not None:
        configure(converter)
    for kind in kinds:
        reader_of(converter, kind)
        writer_of(converter, kind)
    return Codec(converter)


def digest_of(data: bytes) -> str:
    """SHA-256, in hex."""
    return hashlib.sha256(data).hexdigest()
