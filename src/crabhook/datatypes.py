"""Two data types that all floors use: values that never change, and a dictionary with a bound."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform, overload

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


@overload
def frozen(cls: type[T], /) -> type[T]: ...


@overload
def frozen(*, slots: bool) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T] | None = None, /, *, slots: bool = True) -> object:
    """Make a class a dataclass whose instances never change: a change is an error."""
    made = dataclass(frozen=True, slots=slots)
    return made if cls is None else made(cls)


class Bounded(OrderedDict[K, V]):
    """A dictionary of at most `most` items; a new item replaces the item set longest ago.

    Setting a key again makes it the newest. Reading changes nothing; a cache that keeps what is
    read sets it again.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def __setitem__(self, key: K, value: V) -> None:
        if key in self:
            self.move_to_end(key)
        super().__setitem__(key, value)
        if len(self) > self.most:
            self.popitem(last=False)
