"""What is wrong with a configuration, by itself or together with the scripts it registers."""

from collections.abc import Iterator
from itertools import combinations

from crabhook.install.entries import is_ours
from crabhook.install.environment import Reach
from crabhook.lint.configuration.command import own_wait
from crabhook.lint.configuration.facts import Handler
from crabhook.lint.configuration.matcher import (
    BrokenMatcherError,
    misses,
    names,
    near_name,
    overlap,
    read_matcher,
    written_in,
)
from crabhook.lint.finding import Remark
from crabhook.lint.rules.judged import Hook, Run, Setup
from crabhook.platforms.protocol import ANY, NOTHING, Protocol

_QUARTER, _DAY = 900, 86_400
_NEVER_HTTP = frozenset({"SessionStart", "Setup"})
_INSTALLED = (Reach.EVERY, Reach.UNSAID)
_NO_FAILURE = frozenset({"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"})


def malformed(setup: Setup) -> Iterator[Remark]:
    """Find entries that are not of the shape that the agent reads."""
    yield from setup.configuration.faults


def unknown_event(setup: Setup) -> Iterator[Remark]:
    """Find an event that the agent does not have."""
    protocol = setup.configuration.protocol
    for one in setup.configuration.events:
        if one.name not in protocol.events:
            near = protocol.elsewhere.get(one.name) or near_name(
                one.name, frozenset(protocol.events)
            )
            meant = f"; did you mean {near}?" if near else ""
            yield Remark(one.place, f"{protocol.title} has no event {one.name}{meant}")


def matches_nothing(setup: Setup) -> Iterator[Remark]:
    """Find a matcher, or a name in it, that surely hits nothing."""
    protocol = setup.configuration.protocol
    for one in setup.configuration.matchers:
        event = protocol.events.get(one.event)
        if event is None or one.text in {"", "*"} or not _is_names(one.text, protocol):
            continue
        for name in names(one.text):
            why = None
            if event.matcher == ANY:
                why = _missed(name, protocol)
            elif event.values and name not in event.values:
                near = near_name(name, event.values)
                values = ", ".join(sorted(event.values))
                why = f"{one.event} has no {name!r}; it is one of {values}"
                why = why if near or protocol.whole_values else None
            if why is not None:
                yield Remark(one.place, why)


def _is_names(text: str, protocol: Protocol) -> bool:
    return written_in(text, protocol.listed)


def _missed(name: str, protocol: Protocol) -> str | None:
    unanchored = protocol.names is None and any(name in tool for tool in protocol.tools)
    return None if unanchored else misses(name, protocol)


def broken_matcher(setup: Setup) -> Iterator[Remark]:
    """Find a matcher that is no regular expression."""
    for one in setup.configuration.matchers:
        try:
            read_matcher(one.text, setup.configuration.protocol)
        except BrokenMatcherError as error:
            yield Remark(
                one.place, f"the matcher {one.text[:60]!r} is no regular expression: {error}"
            )


def ignored_matcher(setup: Setup) -> Iterator[Remark]:
    """Find a matcher on an event that has nothing to match."""
    protocol = setup.configuration.protocol
    for one in setup.configuration.matchers:
        event = protocol.events.get(one.event)
        if event is not None and event.matcher == NOTHING and one.text not in {"", "*"}:
            yield Remark(one.place, f"{one.event} has nothing to match: it is run every time")


def other_unit(setup: Setup) -> Iterator[Remark]:
    """Find a timeout that was most likely meant in another unit."""
    protocol = setup.configuration.protocol
    for handler in setup.configuration.handlers:
        timeout = handler.timeout
        if timeout is None or timeout <= 0 or _is_crabhooks(handler):
            continue
        place = handler.item.where("timeout")
        if protocol.unit == 1 and _looks_like_milliseconds(timeout):
            told = f"{timeout:g} is in seconds here, {_said(timeout)}: was it milliseconds?"
            yield Remark(place, told)
        elif protocol.unit < 1 and timeout < 1000:
            told = f"{timeout:g} is in milliseconds here: was {_said(timeout)} meant?"
            yield Remark(place, told)


def _is_crabhooks(handler: Handler) -> bool:
    """Whether it is an entry of crabhook's own installer, whose timeouts are as long as asked."""
    command, args = handler.command
    return is_ours({"type": handler.type, "command": command, "args": list(args or ())})


def _looks_like_milliseconds(timeout: float) -> bool:
    """Whether it is a round number of milliseconds, and no round number of minutes."""
    if timeout < 1000 or timeout % 500:
        return False
    return bool(timeout % _QUARTER) if timeout <= _DAY else bool(timeout % _DAY)


def _said(seconds: float) -> str:
    for length, unit in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:g} s"


def too_short(setup: Setup) -> Iterator[Remark]:
    """Find a timeout that ends before what the script, or the command itself, waits for."""
    for run in setup.runs:
        wait = run.script.longest_wait() if run.script is not None else None
        limit, own = _limit(setup, run.handler), own_wait(run.handler)
        registered = "registered" if run.handler.timeout is not None else "default"
        place = run.handler.item.where("timeout")
        begin = f"the {registered} timeout is {_said(limit)}, but"
        if wait is not None and run.program is not None and wait.seconds > limit:
            who = f"{run.program.written} waits up to {_said(wait.seconds)}"
            yield Remark(place, f"{begin} {who} ({wait.what}, line {wait.place.line})")
        elif own is not None and own[0] > limit:
            yield Remark(place, f"{begin} the command waits up to {_said(own[0])} ({own[1]})")


def _limit(setup: Setup, handler: Handler) -> float:
    """Return how long a handler has; on Claude Code's SessionEnd all share the longest's."""
    protocol = setup.configuration.protocol
    if (protocol.name, handler.event) != ("claude", "SessionEnd"):
        return handler.seconds(protocol)
    listed = setup.configuration.handlers
    return max(one.seconds(protocol) for one in listed if one.event == handler.event)


def two_rewriters(setup: Setup) -> Iterator[Remark]:
    """Find two handlers that may both rewrite the input of the same call."""
    protocol = setup.configuration.protocol
    rewriters = [run for run in setup.runs if run.script is not None and _rewrites(run, protocol)]
    for one, other in combinations(rewriters[:50], 2):
        if one.handler.event != other.handler.event or one.handler.command == other.handler.command:
            continue
        if _meet(one.handler, other.handler, protocol) and one.program and other.program:
            told = (
                f"{one.program.written} (line {one.handler.place.line}) and {other.program.written}"
                f" both rewrite the input of {other.handler.event}"
            )
            yield Remark(other.handler.place, told)


def _rewrites(run: Run, protocol: Protocol) -> bool:
    if run.script is None:
        return False
    key = protocol.input_key
    paths = (("hookSpecificOutput", key), ("hookSpecificOutput", "decision", key))
    shapes = list(Hook(run.script).shapes())
    return any(True for shape in shapes for path in paths for _ in shape.of(*path))


def _meet(one: Handler, other: Handler, protocol: Protocol) -> bool:
    try:
        first, second = (read_matcher(each.matcher, protocol) for each in (one, other))
    except BrokenMatcherError:
        return False
    return first is not None and second is not None and overlap(first, second, protocol)


def missing_script(setup: Setup) -> Iterator[Remark]:
    """Find a registered script that is not there."""
    for run in setup.runs:
        if run.missing and run.program is not None:
            told = f"there is no {run.program.written}"
            where = f" ({run.program.path})" if str(run.program.path) != run.program.written else ""
            yield Remark(run.handler.item.where("command"), told + where)


def not_executable(setup: Setup) -> Iterator[Remark]:
    """Find a script that is started itself and does not let itself be."""
    for run in setup.runs:
        program = run.program
        if program is not None and program.direct and not run.missing and not run.executable:
            told = f"{program.written} is not executable"
            yield Remark(run.handler.item.where("command"), told)


def relative_path(setup: Setup) -> Iterator[Remark]:
    """Find a script whose path depends on where the agent is."""
    for run in setup.runs:
        if run.program is not None and run.program.relative:
            told = f"{run.program.written} is looked for wherever the agent is at the moment"
            yield Remark(run.handler.item.where("command"), told)


def never_runs(setup: Setup) -> Iterator[Remark]:
    """Find a handler that its event never runs (Claude Code)."""
    protocol = setup.configuration.protocol
    if protocol.name != "claude":
        return
    for handler in setup.configuration.handlers:
        event = protocol.events.get(handler.event)
        if event is None:
            continue
        if handler.item.text("if") and event.matcher != ANY:
            place = handler.item.where("if")
            yield Remark(place, f'with "if" it never runs on {handler.event}, which has no tool')
        if handler.type == "http" and handler.event in _NEVER_HTTP:
            yield Remark(handler.item.where("type"), f"{handler.event} runs no http handlers")
        if handler.type == "agent" and handler.event == "PermissionRequest":
            yield Remark(handler.item.where("type"), "PermissionRequest runs no agent handlers")


def decides_too_late(setup: Setup) -> Iterator[Remark]:
    """Find a handler in the background whose script decides something."""
    for run in setup.runs:
        script = run.script
        if script is None or run.handler.value("async") is not True:
            continue
        blocks = any(one.code == 2 for one in script.exits)
        decides = any(
            True
            for shape in Hook(script).shapes()
            for path in (("decision",), ("hookSpecificOutput", "permissionDecision"))
            for _ in shape.of(*path)
        )
        if (blocks and run.handler.value("asyncRewake") is not True) or decides:
            told = "the script decides, but in the background nobody waits for its decision"
            yield Remark(run.handler.item.where("async"), told)


def ignored_failure(setup: Setup) -> Iterator[Remark]:
    """Find an onFailure that is not looked at (Claude Code)."""
    if setup.configuration.protocol.name != "claude":
        return
    for handler in setup.configuration.handlers:
        if handler.value("onFailure") == "block":
            asynchronous = handler.value("async") is True
            if handler.event in _NO_FAILURE or asynchronous:
                what = "of a handler in the background" if asynchronous else f"on {handler.event}"
                yield Remark(handler.item.where("onFailure"), f"onFailure {what} is ignored")


def moved_away(setup: Setup) -> Iterator[Remark]:
    """Find what the file puts into its hooks' environment that moves crabhook's (Claude Code)."""
    for move, remark in setup.configuration.moves:
        if move.reach in _INSTALLED:
            yield remark


def moved_by_its_start(setup: Setup) -> Iterator[Remark]:
    """Find what moves those hooks alone that do not start as `crabhook install` writes them."""
    for move, remark in setup.configuration.moves:
        if move.reach not in _INSTALLED:
            yield remark


def switched_off(setup: Setup) -> Iterator[Remark]:
    """Find what keeps the file's hooks from running."""
    if setup.configuration.handlers:
        yield from setup.configuration.switches
