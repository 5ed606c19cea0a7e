"""What is wrong with what a configuration says, whatever scripts it registers."""

from collections.abc import Iterator
from functools import partial

from crabhook.install.entries import is_ours
from crabhook.install.environment import Reach
from crabhook.lint.configuration.matcher import (
    BrokenMatcherError,
    listed,
    misses,
    names,
    near_name,
    read_matcher,
    written_in,
)
from crabhook.lint.configuration.read import Handler
from crabhook.lint.finding import Remark
from crabhook.lint.rules.subjects import Setup, setup_rule
from crabhook.platforms.rows import ANY, NOTHING

_QUARTER, _DAY = 900, 86_400
_NEVER = {"http": {"SessionStart", "Setup"}, "agent": {"PermissionRequest"}}
_INSTALLED = (Reach.EVERY, Reach.UNSAID)
_NO_FAILURE = frozenset({"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"})


@setup_rule("CH102")
def _malformed(setup: Setup) -> Iterator[Remark]:
    yield from setup.configuration.faults


@setup_rule("CH103")
def unknown_event(setup: Setup) -> Iterator[Remark]:
    """Find an event that the agent does not have."""
    known, elsewhere = frozenset(setup.protocol.events), setup.protocol.elsewhere
    for one in setup.configuration.events:
        if one.name not in known:
            near = elsewhere.get(one.name) or near_name(one.name, known)
            meant = f"; did you mean {near}?" if near else ""
            yield Remark(one.place, f"{setup.protocol.title} has no event {one.name}{meant}")


@setup_rule("CH104")
def _matches_nothing(setup: Setup) -> Iterator[Remark]:
    protocol = setup.protocol
    for one in setup.configuration.matchers:
        event = protocol.events.get(one.event)
        if event is None or one.text in {"", "*"} or not written_in(one.text, protocol.listed):
            continue
        for name in names(one.text):
            why = None
            if event.matcher == ANY:
                unanchored = protocol.names is None and any(name in tool for tool in protocol.tools)
                why = None if unanchored else misses(name, protocol)
            elif event.values and name not in event.values:
                meant = protocol.whole_values or near_name(name, event.values)
                told = f"{one.event} has no {name!r}; it is one of {listed(event.values)}"
                why = told if meant else None
            if why is not None:
                yield Remark(one.place, why)


@setup_rule("CH105")
def _broken_matcher(setup: Setup) -> Iterator[Remark]:
    for one in setup.configuration.matchers:
        try:
            read_matcher(one.text, setup.protocol)
        except BrokenMatcherError as error:
            told = f"the matcher {one.text[:60]!r} is no regular expression: {error}"
            yield Remark(one.place, told)


@setup_rule("CH106")
def _ignored_matcher(setup: Setup) -> Iterator[Remark]:
    for one in setup.configuration.matchers:
        event = setup.protocol.events.get(one.event)
        if event is not None and event.matcher == NOTHING and one.text not in {"", "*"}:
            yield Remark(one.place, f"{one.event} has nothing to match: it is run every time")


@setup_rule("CH107")
def _other_unit(setup: Setup) -> Iterator[Remark]:
    unit = setup.protocol.unit
    for handler in setup.configuration.handlers:
        timeout = handler.timeout
        if timeout is None or timeout <= 0 or _is_crabhooks(handler):
            continue
        if unit == 1 and _looks_like_milliseconds(timeout):
            told = f"{timeout:g} is in seconds here, {spelled(timeout)}: was it milliseconds?"
            yield handler.remark("timeout", told)
        elif unit < 1 and timeout < 1000:
            told = f"{timeout:g} is in milliseconds here: was {spelled(timeout)} meant?"
            yield handler.remark("timeout", told)


def _is_crabhooks(handler: Handler) -> bool:
    """Whether crabhook's installer wrote the entry: its timeout is as long as its owner asked."""
    command, args = handler.command
    return is_ours({"type": handler.type, "command": command, "args": list(args or ())})


def _looks_like_milliseconds(timeout: float) -> bool:
    """Whether a time is a round number of milliseconds, and no round number of minutes."""
    if timeout < 1000 or timeout % 500:
        return False
    return bool(timeout % _QUARTER) if timeout <= _DAY else bool(timeout % _DAY)


def spelled(seconds: float) -> str:
    """Return a time in the unit that a person would say it in."""
    for length, unit in ((_DAY, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:g} s"


@setup_rule("CH113")
def _never_runs(setup: Setup) -> Iterator[Remark]:
    if setup.protocol.name != "claude":
        return
    for handler in setup.configuration.handlers:
        event = setup.protocol.events.get(handler.event)
        if event is None:
            continue
        if handler.item.text("if") and event.matcher != ANY:
            told = f'with "if" it never runs on {handler.event}, which has no tool'
            yield handler.remark("if", told)
        if handler.event in _NEVER.get(handler.type, ()):
            yield handler.remark("type", f"{handler.event} runs no {handler.type} handlers")


@setup_rule("CH115")
def _ignored_failure(setup: Setup) -> Iterator[Remark]:
    if setup.protocol.name != "claude":
        return
    for handler in setup.configuration.handlers:
        if handler.value("onFailure") == "block":
            if handler.value("async") is True:
                told = "onFailure of a handler in the background is ignored"
                yield handler.remark("onFailure", told)
            elif handler.event in _NO_FAILURE:
                yield handler.remark("onFailure", f"onFailure on {handler.event} is ignored")


def _moved(setup: Setup, *, installed: bool) -> Iterator[Remark]:
    """Find what the environment moves: hooks as crabhook installs them, or other hooks alone."""
    for move, remark in setup.configuration.moves:
        if (move.reach in _INSTALLED) is installed:
            yield remark


moved_away = setup_rule("CH117")(partial(_moved, installed=True))
moved_by_their_start = setup_rule("CH118")(partial(_moved, installed=False))


@setup_rule("CH116")
def _switched_off(setup: Setup) -> Iterator[Remark]:
    if setup.configuration.handlers:
        yield from setup.configuration.switches
