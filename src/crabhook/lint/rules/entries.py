"""What is wrong with what a configuration says, whatever scripts it registers."""

from collections.abc import Iterator

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
from crabhook.lint.finding import CRITICAL, HIGH, LOW, MEDIUM, Remark
from crabhook.lint.rules.subjects import Setup, setup_rule
from crabhook.platforms.rows import ANY, NOTHING

_QUARTER, _DAY = 900, 86_400
_NEVER = {"http": {"SessionStart", "Setup"}, "agent": {"PermissionRequest"}}
_INSTALLED = (Reach.EVERY, Reach.UNSAID)
_NO_FAILURE = frozenset({"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"})


@setup_rule(
    "CH102",
    CRITICAL,
    "malformed entry",
    "An entry that cannot be loaded is dropped; under PreToolUse or PermissionRequest "
    "Claude Code refuses the part of the file it is in, permissions included.",
    "Three levels: an event, a list of matcher groups, in each a list of handlers under "
    '"hooks", each with its "type".',
)
def _malformed(setup: Setup) -> Iterator[Remark]:
    yield from setup.configuration.faults


@setup_rule(
    "CH103",
    HIGH,
    "unknown event",
    "The agent drops the entry, at the most with a warning: the hook never runs.",
    "Write the event's name as the agent does, capitals too.",
)
def unknown_event(setup: Setup) -> Iterator[Remark]:
    """Find an event that the agent does not have."""
    known, elsewhere = frozenset(setup.protocol.events), setup.protocol.elsewhere
    for one in setup.configuration.events:
        if one.name not in known:
            near = elsewhere.get(one.name) or near_name(one.name, known)
            meant = f"; did you mean {near}?" if near else ""
            yield Remark(one.place, f"{setup.protocol.title} has no event {one.name}{meant}")


@setup_rule(
    "CH104",
    HIGH,
    "matcher that matches nothing",
    "The hook never runs for this name.",
    "Write a tool's name as the agent does, or a pattern such as mcp__server__.*",
)
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


@setup_rule(
    "CH105",
    HIGH,
    "matcher that cannot be read",
    "A pattern that is no regular expression matches nothing that is meant.",
    "Mend the pattern; for every tool leave the matcher out, or write *.",
)
def _broken_matcher(setup: Setup) -> Iterator[Remark]:
    for one in setup.configuration.matchers:
        try:
            read_matcher(one.text, setup.protocol)
        except BrokenMatcherError as error:
            told = f"the matcher {one.text[:60]!r} is no regular expression: {error}"
            yield Remark(one.place, told)


@setup_rule(
    "CH106",
    LOW,
    "matcher that is ignored",
    "The event has nothing to match: the hook is run every time.",
    "Leave the matcher out, and tell cases apart in the hook.",
)
def _ignored_matcher(setup: Setup) -> Iterator[Remark]:
    for one in setup.configuration.matchers:
        event = setup.protocol.events.get(one.event)
        if event is not None and event.matcher == NOTHING and one.text not in {"", "*"}:
            yield Remark(one.place, f"{one.event} has nothing to match: it is run every time")


@setup_rule(
    "CH107",
    HIGH,
    "seconds and milliseconds mixed up",
    "Claude Code and Codex count a timeout in seconds, Gemini CLI in milliseconds. Too "
    "long, and a hook that hangs holds the agent; too short, and it is cut off and the "
    "action goes ahead.",
    "Write the timeout in the agent's own unit.",
)
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


@setup_rule(
    "CH113",
    HIGH,
    "handler that its event never runs",
    "The handler is there and is never run.",
    'Leave "if" to tool events, http off SessionStart and Setup, agent off PermissionRequest.',
)
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


@setup_rule(
    "CH115",
    MEDIUM,
    "onFailure that is ignored",
    "What reads as fail-closed is not: a failure of this hook blocks nothing.",
    "Put the guard on an event that heeds onFailure, such as PreToolUse.",
)
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


@setup_rule(
    "CH117",
    HIGH,
    "environment that moves a hook",
    "A hook of crabhook's that does not name its server itself asks another, or nobody; "
    "what the linker is told runs in every hook.",
    "Take the variable out of env; say --server to `crabhook install`.",
)
def _moved_away(setup: Setup) -> Iterator[Remark]:
    yield from _moved(setup, installed=True)


@setup_rule(
    "CH118",
    LOW,
    "environment that moves hooks started in some ways",
    "A hook that is found on PATH, goes through a shell or starts Python without -I can "
    "be made to run something else. What `crabhook install` writes cannot.",
    "Take the variable out of env, or start each hook by an absolute path and Python with -I.",
)
def _moved_by_its_start(setup: Setup) -> Iterator[Remark]:
    yield from _moved(setup, installed=False)


def _moved(setup: Setup, *, installed: bool) -> Iterator[Remark]:
    """Find what the environment moves: hooks as crabhook installs them, or other hooks alone."""
    for move, remark in setup.configuration.moves:
        if (move.reach in _INSTALLED) is installed:
            yield remark


@setup_rule(
    "CH116",
    MEDIUM,
    "hooks that are switched off",
    "None of the file's hooks runs.",
    "Take the switch out, or the hooks.",
)
def _switched_off(setup: Setup) -> Iterator[Remark]:
    if setup.configuration.handlers:
        yield from setup.configuration.switches
