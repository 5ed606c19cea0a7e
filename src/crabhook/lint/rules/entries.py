"""What is wrong with what a configuration says, and with the scripts that it registers."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations

from crabhook.install.entries import is_ours
from crabhook.install.program import AffectedHooks
from crabhook.lint.configuration import command
from crabhook.lint.configuration.read import Handler
from crabhook.lint.rules.subjects import Hook, Setup, setup_rule
from crabhook.lint.script import HookScript, Remark
from crabhook.platforms.event_table import ANY, NOTHING, Protocol

_QUARTER, _DAY = 900, 86_400
_NEVER = {"http": {"SessionStart", "Setup"}, "agent": {"PermissionRequest"}}
_INSTALLED = (AffectedHooks.EVERY, AffectedHooks.UNSAID)
_NO_FAILURE = frozenset({"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"})


@setup_rule("CH102")
def _malformed(setup: Setup) -> Iterator[Remark]:
    yield from setup.configuration.faults


@setup_rule("CH103")
def unknown_event(setup: Setup) -> Iterator[Remark]:
    """Find an event that the agent does not have."""
    event_names, elsewhere = frozenset(setup.protocol.events), setup.protocol.elsewhere
    for event in setup.configuration.events:
        if event.name not in event_names:
            near = elsewhere.get(event.name) or command.near_name(event.name, event_names)
            meant = f", did you mean {near}?" if near else ""
            yield Remark(event.place, f"{setup.protocol.title} has no event {event.name}{meant}")


@setup_rule("CH104")
def _matches_nothing(setup: Setup) -> Iterator[Remark]:
    protocol = setup.protocol
    for matcher in setup.configuration.matchers:
        event = protocol.events.get(matcher.event)
        names = (
            command.names(matcher.text) if command.written_in(matcher.text, protocol.listed) else ()
        )
        if event is None or matcher.text in {"", "*"}:
            continue
        for name in names:
            why = None
            if event.matcher == ANY:
                unanchored = protocol.names is None and any(name in tool for tool in protocol.tools)
                why = None if unanchored else command.misses(name, protocol)
            elif event.values and name not in event.values:
                meant = protocol.whole_values or command.near_name(name, event.values)
                choices = (
                    f"{matcher.event} has no {name!r}: it is one of {command.listed(event.values)}"
                )
                why = choices if meant else None
            if why is not None:
                yield Remark(matcher.place, why)


@setup_rule("CH105")
def _broken_matcher(setup: Setup) -> Iterator[Remark]:
    for matcher in setup.configuration.matchers:
        try:
            command.read_matcher(matcher.text, setup.protocol)
        except command.BrokenMatcherError as error:
            message = f"the matcher {matcher.text[:60]!r} is no regular expression: {error}"
            yield Remark(matcher.place, message)


@setup_rule("CH106")
def _ignored_matcher(setup: Setup) -> Iterator[Remark]:
    for matcher in setup.configuration.matchers:
        event = setup.protocol.events.get(matcher.event)
        if event is not None and event.matcher == NOTHING and matcher.text not in {"", "*"}:
            yield Remark(
                matcher.place, f"{matcher.event} has nothing to match: it is run every time"
            )


@setup_rule("CH107")
def _other_unit(setup: Setup) -> Iterator[Remark]:
    for handler in setup.configuration.handlers:
        timeout = handler.timeout
        if timeout is None or timeout <= 0 or _is_crabhooks(handler):
            continue
        in_seconds = setup.protocol.seconds(timeout) == timeout
        if in_seconds and _looks_like_milliseconds(timeout):
            message = f"{timeout:g} is in seconds here, {spelled(timeout)}: was it milliseconds?"
            yield handler.remark(handler.timeout_key, message)
        elif setup.protocol.milliseconds_from is not None and not in_seconds:
            if timeout % 500 and not timeout % 60:  # as many seconds are whole minutes
                first = f"{setup.protocol.milliseconds_from:g}"
                message = (
                    f"{timeout:g} is in milliseconds here, as every number from {first} on: were "
                    f"{spelled(timeout)} meant? Write {timeout * 1000:.15g}"
                )
                yield handler.remark(handler.timeout_key, message)
        elif not in_seconds and timeout < 1000:
            message = f"{timeout:g} is in milliseconds here: was {spelled(timeout)} meant?"
            yield handler.remark(handler.timeout_key, message)


def _is_crabhooks(handler: Handler) -> bool:
    """Whether crabhook's installer wrote the entry, with the timeout that its owner asked for."""
    started, args = handler.command
    return is_ours({"type": handler.type, "command": started, "args": list(args or ())})


def _looks_like_milliseconds(timeout: float) -> bool:
    """Whether a time is a round number of milliseconds, but not of minutes."""
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
            message = f'with "if" it never runs on {handler.event}, which has no tool'
            yield handler.remark("if", message)
        if handler.event in _NEVER.get(handler.type, ()):
            yield handler.remark("type", f"{handler.event} runs no {handler.type} handlers")


@setup_rule("CH115")
def _ignored_failure(setup: Setup) -> Iterator[Remark]:
    if setup.protocol.name != "claude":
        return
    for handler in setup.configuration.handlers:
        if handler.value("onFailure") == "block":
            if handler.value("async") is True:
                message = "onFailure of a handler in the background is ignored"
                yield handler.remark("onFailure", message)
            elif handler.event in _NO_FAILURE:
                yield handler.remark("onFailure", f"onFailure on {handler.event} is ignored")


def _moved(setup: Setup, *, installed: bool) -> Iterator[Remark]:
    """Find hooks that the environment moves: crabhook's own, or others."""
    for move, remark in setup.configuration.moves:
        if (move.reach in _INSTALLED) is installed:
            yield remark


moved_away = setup_rule("CH117")(partial(_moved, installed=True))
moved_by_their_start = setup_rule("CH118")(partial(_moved, installed=False))


@setup_rule("CH116")
def _switched_off(setup: Setup) -> Iterator[Remark]:
    if setup.configuration.handlers:
        yield from setup.configuration.switches


_DECISIONS = (("decision",), ("hookSpecificOutput", "permissionDecision"))


@setup_rule("CH108")
def _too_short(setup: Setup) -> Iterator[Remark]:
    for run in setup.runs:
        wait = run.script.longest_wait() if run.script is not None else None
        limit, own = _limit(setup, run.handler), command.own_wait(run.handler)
        if wait is not None and run.program is not None and wait.seconds > limit:
            who, seconds = run.program.written, wait.seconds
            what = f"{wait.what}, line {wait.place.line}"
        elif own is not None and own[0] > limit:
            who, (seconds, what) = "the command", own
        else:
            continue
        registered = "registered" if run.handler.timeout is not None else "default"
        message = f"the {registered} timeout is {spelled(limit)}, but {who} waits up to"
        yield run.handler.remark(run.handler.timeout_key, f"{message} {spelled(seconds)} ({what})")


def _limit(setup: Setup, handler: Handler) -> float:
    """Return a handler's time; on Claude Code's SessionEnd all have the longest time."""
    protocol, sharing = setup.protocol, [handler]
    if (protocol.name, handler.event) == ("claude", "SessionEnd"):
        sharing = [
            sharer for sharer in setup.configuration.handlers if sharer.event == handler.event
        ]
    return max(sharer.seconds(protocol) for sharer in sharing)


@setup_rule("CH109")
def _two_rewriters(setup: Setup) -> Iterator[Remark]:
    key = setup.protocol.input_key
    paths = (("hookSpecificOutput", key), ("hookSpecificOutput", "decision", key))
    rewriters = [run for run in setup.runs if _answers_with(run.script, paths)]
    for earlier, other in combinations(rewriters[:50], 2):
        if (
            earlier.handler.event != other.handler.event
            or earlier.handler.command == other.handler.command
        ):
            continue
        if (
            _meet(earlier.handler, other.handler, setup.protocol)
            and earlier.program
            and other.program
        ):
            message = (
                f"{earlier.program.written} (line {earlier.handler.item.place.line}) and "
                f"{other.program.written} both rewrite the input of {other.handler.event}"
            )
            yield Remark(other.handler.item.place, message)


def _answers_with(script: HookScript | None, paths: Iterable[Sequence[str]]) -> bool:
    """Whether a script may answer with a member at one of these paths."""
    hook = Hook(script) if script is not None else None
    return hook is not None and any(any(True for _ in hook.shapes(*path)) for path in paths)


def _meet(earlier: Handler, other: Handler, protocol: Protocol) -> bool:
    try:
        first, second = (command.read_matcher(each.matcher, protocol) for each in (earlier, other))
    except command.BrokenMatcherError:
        return False
    return first is not None and second is not None and command.overlap(first, second, protocol)


@setup_rule("CH110")
def _missing_script(setup: Setup) -> Iterator[Remark]:
    for run in setup.runs:
        if run.missing and run.program is not None:
            path, written = str(run.program.path), run.program.written
            where = f" ({path})" if path != written else ""
            yield run.handler.remark("command", f"there is no {written}{where}")


@setup_rule("CH111")
def _not_executable(setup: Setup) -> Iterator[Remark]:
    for run in setup.runs:
        program = run.program
        if program is not None and program.direct and not run.missing and not run.executable:
            yield run.handler.remark("command", f"{program.written} is not executable")


@setup_rule("CH112")
def _relative_path(setup: Setup) -> Iterator[Remark]:
    for run in setup.runs:
        if run.program is not None and run.program.relative:
            message = f"{run.program.written} is looked for wherever the agent is at the moment"
            yield run.handler.remark("command", message)


@setup_rule("CH114")
def _decides_too_late(setup: Setup) -> Iterator[Remark]:
    for run in setup.runs:
        if run.script is None or run.handler.value("async") is not True:
            continue
        blocks = any(way_out.code == 2 for way_out in run.script.exits)
        decides = _answers_with(run.script, _DECISIONS)
        if (blocks and run.handler.value("asyncRewake") is not True) or decides:
            message = "the script decides, but in the background nobody waits for its decision"
            yield run.handler.remark("async", message)
