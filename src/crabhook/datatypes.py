"""What all floors use: values that never change, a dictionary with a bound, patterns made late."""

import re
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, cast, dataclass_transform, overload

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


@overload
def frozen(cls: type[T], /) -> type[T]: ...


@overload
def frozen(*, slots: bool) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T] | None = None, /, *, slots: bool = True) -> object:
    """Make a class a dataclass whose instances never change: a change is an error.

    This is `dataclass(frozen=True, slots=slots)` at a fifth of its price. That compiles seven
    functions for each class, and a server's start makes hundreds of classes. Here a class compiles
    its `__init__`, and the other functions are the same for all.
    """
    if cls is None:
        return partial(_frozen, slots=slots)
    return _frozen(cls, slots=slots)


def _frozen(cls: type[T], *, slots: bool) -> type[T]:
    own = {name for name, value in vars(cls).items() if value is not None}
    cls.__doc__ = cls.__doc__ or cls.__name__  # or dataclass writes a signature, which is slow
    made = dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    every = [*fields(made)]  # type: ignore[arg-type]
    functions = {"__init__": _init(made, every), **_comparing(every), **_SAME_FOR_ALL}
    if slots:
        functions |= _COPYING
    for name, function in functions.items():
        if name not in own:
            setattr(made, name, function)
    return made


_LEFT_OUT = object()
"""Stands for an argument whose default each instance makes for itself."""


def _init(cls: type, every: Sequence[Field[Any]]) -> Callable[..., None]:
    """Compile the `__init__` of a class; a field of `init=False` has its default there, or none."""
    outside: dict[str, object] = {"_put": object.__setattr__, "_LEFT_OUT": _LEFT_OUT}
    in_order, by_name, lines = ["self"], ["*"], []
    for item in every:
        name, default = item.name, f"_default_{item.name}"
        parameter = value = name
        if item.default_factory is not MISSING:
            outside[default] = item.default_factory
            parameter, made_anew = f"{name}=_LEFT_OUT", f"{default}()"
            value = f"{made_anew} if {name} is _LEFT_OUT else {name}" if item.init else made_anew
        elif item.default is not MISSING:
            outside[default] = item.default
            parameter, value = f"{name}={default}", name if item.init else default
        elif not item.init:
            continue
        lines.append(f"  _put(self, {name!r}, {value})\n")
        if item.init:
            (by_name if item.kw_only else in_order).append(parameter)
    if hasattr(cls, "__post_init__"):
        lines.append("  self.__post_init__()\n")
    parameters = ", ".join([*in_order, *(by_name if by_name[1:] else ())])
    text = (
        f"def make({', '.join(outside)}):\n def __init__({parameters}):\n"
        f"{''.join(lines) or '  pass'}\n return __init__"
    )
    made: dict[str, Any] = {}
    exec(text, vars(sys.modules[cls.__module__]), made)  # noqa: S102 - names of fields alone
    init: Callable[..., None] = made["make"](**outside)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {item.name: item.type for item in every if item.init} | {"return": None}
    return init


def _comparing(every: Sequence[Field[Any]]) -> dict[str, Callable[..., Any]]:
    """Return `__eq__` and `__hash__` by the fields that are compared."""
    compared = [item.name for item in every if item.compare]
    # A tuple, which the getter of two names and more returns.
    values = (
        attrgetter(*compared) if compared[1:] else attrgetter("__class__", "__class__", *compared)
    )

    def equal(self: object, other: object) -> object:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return {"__eq__": equal, "__hash__": lambda self: hash(values(self))}


@recursive_repr()
def _repr(self: object) -> str:
    every = fields(self)  # type: ignore[arg-type]
    shown = (f"{item.name}={getattr(self, item.name)!r}" for item in every if item.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _set(_: object, name: str, __: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(_: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: object) -> list[object]:
    return [getattr(self, item.name) for item in fields(self)]  # type: ignore[arg-type]


def _setstate(self: object, state: Sequence[object]) -> None:
    for item, value in zip(fields(self), state, strict=True):  # type: ignore[arg-type]
        object.__setattr__(self, item.name, value)


_SAME_FOR_ALL = {"__repr__": _repr, "__setattr__": _set, "__delattr__": _delete}
# A copy of what has slots is filled by assignments, which are refused.
_COPYING = {"__getstate__": _getstate, "__setstate__": _setstate}


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


class LatePattern:
    """A regular expression that is compiled when something is first asked of it."""

    def __init__(self, text: str, flags: int) -> None:
        self._of = text, flags

    def __getattr__(self, name: str) -> object:
        pattern = re.compile(*self._of)
        vars(self).update((key, getattr(pattern, key)) for key in dir(pattern) if key[0] != "_")
        return getattr(pattern, name)


def late_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that costs a start nothing, for long patterns and for tables of patterns."""
    return cast("re.Pattern[str]", LatePattern(text, flags))
