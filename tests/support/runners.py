"""Runners for tests, made of the parts that a test brings."""

from collections.abc import Awaitable
from typing import Any, Protocol

from crabhook.model.card import Risk
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.policy.rule import Ruling
from crabhook.server.core.parts import Parts
from crabhook.server.core.rules_in_force import NoRules
from crabhook.server.core.runner import Runner
from crabhook.store.recorder import Recorder


class Judge(Protocol):
    """Rules as a function: the ruling about an event."""

    def __call__(self, event: Event, /, *, long: bool) -> Awaitable[Ruling | None]: ...


class Assess(Protocol):
    """The risk of an event's call, as a function."""

    def __call__(self, event: Event, /, *, long: bool) -> Awaitable[Risk]: ...


class RulesOf(NoRules):
    """Rules that a test plays: by a function for rulings, and another for risks."""

    def __init__(self, judge: Judge | None = None, assess: Assess | None = None) -> None:
        self._judge, self._assess = judge, assess

    async def judge(self, event: Event, /, *, long: bool) -> Ruling | None:
        return await self._judge(event, long=long) if self._judge else None

    async def risk(self, event: Event, /, *, long: bool) -> Risk:
        assess = self._assess or super().risk
        return await assess(event, long=long)


def bare_runner(
    recorder: Recorder | None = None, judge: Judge | None = None, **parts: Any
) -> Runner:
    """Return a runner of these parts; without `rules`, by the rulings of `judge`."""
    parts.setdefault("rules", RulesOf(judge))
    return Runner(Parts(PLATFORMS, recorder, **parts))
