"""The hook standard's own checks, HP-001 to HP-008, as it words them."""

from collections.abc import Iterator, Mapping

from crabhook.lint.configuration import protocols
from crabhook.lint.rules import entries
from crabhook.lint.rules.subjects import Hook, Setup, script_rule, setup_rule
from crabhook.lint.script import START, Language, Remark, Source, SourcePlace, ValueShape, Written

SHEBANG = "#!/usr/bin/env python3"
LIMIT_MS = 60_000
"""Every timeout and every wait is shorter, in milliseconds."""

TIMEOUTS_MS: Mapping[str, int] = {
    "PreToolUse": 30_000,
    "PostToolUse": 30_000,
    "SessionStart": 10_000,
    "Stop": 5_000,
    "Notification": 5_000,
}
"""The events for which the standard has a limit of their own: as long at the most."""

ACTIONS = ("continue", "block")


@script_rule("HP-001")
def _shebang(hook: Hook) -> Iterator[Remark]:
    if hook.script.shebang.rstrip() != SHEBANG:
        what_it_does = (
            f"is {hook.script.shebang!r}" if hook.script.shebang else "names no interpreter"
        )
        yield Remark(START, f"the first line {what_it_does}: it must be {SHEBANG}")


@script_rule("HP-002")
def _reads_json(hook: Hook) -> Iterator[Remark]:
    readings = hook.script.readings
    if not _is_python(hook) or any(reading.source is Source.JSON for reading in readings):
        return
    for reading in readings:
        yield Remark(reading.place, f"the input is read from {reading.source}")
    if not readings:
        yield Remark(START, "nothing reads JSON from standard input")


@script_rule("HP-003")
def _prints_json(hook: Hook) -> Iterator[Remark]:
    answers = hook.script.answers
    if _is_python(hook) and all(answer.written is not Written.JSON for answer in answers):
        place = answers[0].place if answers else START
        yield Remark(place, "nothing prints JSON to standard output")


@script_rule("HP-004")
def _handles_errors(hook: Hook) -> Iterator[Remark]:
    for reading in hook.script.readings:
        if reading.source is Source.JSON and not reading.guarded:
            yield Remark(reading.place, "an error in reading the input is not handled")


@script_rule("HP-005")
def _exits_with_zero(hook: Hook) -> Iterator[Remark]:
    for way_out in hook.script.exits:
        if _is_python(hook) and way_out.failing and way_out.code not in {0, None}:
            yield Remark(way_out.place, f"on an error it exits with {way_out.code}")
    for lapse in hook.script.lapses:
        yield Remark(lapse.place, f"this `except` {lapse.message}, with no sys.exit(0)")


@script_rule("HP-006")
def _speaks_on_stderr(hook: Hook) -> Iterator[Remark]:
    for place in hook.script.chatter if _is_python(hook) else ():
        yield Remark(place, "this text goes to standard output")


@script_rule("HP-007")
def _waits_too_long(hook: Hook) -> Iterator[Remark]:
    strictest = min(sorted(hook.events), key=_limit_of, default="")
    for wait in hook.script.waits if _is_python(hook) else ():
        if over := _over(strictest, wait.seconds):
            yield Remark(wait.place, f"{wait.what} may take {wait.seconds * 1000:.15g} ms{over}")


@setup_rule("HP-007")
def _timeout_too_long(setup: Setup) -> Iterator[Remark]:
    for handler in setup.configuration.handlers:
        seconds = handler.seconds(setup.protocol)
        if handler.timeout is not None and (over := _over(handler.event, seconds)):
            message = f"timeout {handler.timeout:.15g} is {seconds * 1000:.15g} ms{over}"
            yield handler.remark(handler.timeout_key, message)


def _over(event: str, seconds: float) -> str:
    """Say how a time is too long for an event; empty if it is not."""
    limit, length = _limit_of(event), seconds * 1000
    if limit < LIMIT_MS and length > limit:
        return f", for {_standard_name(event)} the limit is {limit} ms"
    return f", which is not under {LIMIT_MS}" if length >= LIMIT_MS else ""


def _limit_of(event: str) -> int:
    return TIMEOUTS_MS.get(_standard_name(event), LIMIT_MS)


def _standard_name(event: str) -> str:
    """Return the standard's name for an agent's event, as PreToolUse for BeforeTool."""
    return protocols()["claude"].elsewhere.get(event, event)


@script_rule("HP-008")
def _has_action(hook: Hook) -> Iterator[Remark]:
    for answer in hook.script.answers if _is_python(hook) else ():
        faults: dict[str, SourcePlace] = {}
        for shape in answer.shapes:
            faults |= {what: place for place, what in _amiss(shape, answer.place)}
        for what, place in faults.items():
            yield Remark(place, what)


def _amiss(shape: ValueShape, place: SourcePlace) -> Iterator[tuple[SourcePlace, str]]:
    if shape.members is None:
        return
    if shape.whole and "action" not in shape.members:
        yield place, "this output has no `action`"
    for where, action in shape.literals("action"):
        if action not in ACTIONS:
            yield where, f"`action` is {action!r}: it is one of {', '.join(ACTIONS)}"
        elif action == "block" and shape.whole and "message" not in shape.members:
            yield where, "this output blocks, and has no `message`"


event_names = setup_rule("HP-EVENT")(entries.unknown_event)
"""The standard's event names, which are those of Claude Code."""


def _is_python(hook: Hook) -> bool:
    return hook.script.language is Language.PYTHON
