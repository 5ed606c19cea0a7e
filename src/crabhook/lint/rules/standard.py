"""The hook standard's own checks, HP-001 to HP-008, as it words them."""

from collections.abc import Iterator, Mapping

from crabhook.lint.finding import START, Remark
from crabhook.lint.protocol import PROTOCOLS
from crabhook.lint.rules.judged import Hook, Setup
from crabhook.lint.rules.setups import unknown_event
from crabhook.lint.script import Language, Source, Written

SHEBANG = "#!/usr/bin/env python3"
LIMIT_MS = 60_000

# The standard's table of timeouts, in milliseconds, by event.
TIMEOUTS_MS: Mapping[str, int] = dict.fromkeys(PROTOCOLS["claude"].events, LIMIT_MS)


def shebang(hook: Hook) -> Iterator[Remark]:
    """HP-001: the first line is `#!/usr/bin/env python3`."""
    if hook.script.shebang.rstrip() != SHEBANG:
        found = f"is {hook.script.shebang!r}" if hook.script.shebang else "names no interpreter"
        yield Remark(START, f"the first line {found}; it must be {SHEBANG}")


def reads_json(hook: Hook) -> Iterator[Remark]:
    """HP-002: JSON is read from standard input, with json.load or json.loads(sys.stdin.read())."""
    readings = hook.script.readings if _is_python(hook) else None
    if readings is None or any(one.source is Source.JSON for one in readings):
        return
    for reading in readings:
        yield Remark(reading.place, f"the input is read from {reading.source}")
    if not readings:
        yield Remark(START, "nothing reads JSON from standard input")


def prints_json(hook: Hook) -> Iterator[Remark]:
    """HP-003: JSON is printed to standard output."""
    if not _is_python(hook):
        return
    if not any(one.written is Written.JSON for one in hook.script.answers):
        place = next((one.place for one in hook.script.answers), START)
        yield Remark(place, "nothing prints JSON to standard output")


def handles_errors(hook: Hook) -> Iterator[Remark]:
    """HP-004: errors are handled, to begin with those of reading the input."""
    for reading in hook.script.readings:
        if reading.source is Source.JSON and not reading.guarded:
            yield Remark(reading.place, "an error in reading the input is not handled")


def exits_with_zero(hook: Hook) -> Iterator[Remark]:
    """HP-005: on an error the script exits with 0."""
    for one in hook.script.exits:
        if _is_python(hook) and one.failing and one.code not in {0, None}:
            yield Remark(one.place, f"on an error it exits with {one.code}")


def speaks_on_stderr(hook: Hook) -> Iterator[Remark]:
    """HP-006: what is for people goes to standard error."""
    for place in hook.script.chatter if _is_python(hook) else ():
        yield Remark(place, "this text goes to standard output")


def waits_too_long(hook: Hook) -> Iterator[Remark]:
    """HP-007, in the script: what it waits for stays under the limit."""
    for wait in hook.script.waits if _is_python(hook) else ():
        if wait.seconds * 1000 >= LIMIT_MS:
            told = f"{wait.what} may take {wait.seconds * 1000:g} ms; the limit is {LIMIT_MS}"
            yield Remark(wait.place, told)


def timeout_too_long(setup: Setup) -> Iterator[Remark]:
    """HP-007, as registered: the timeout, in milliseconds, is under the limit of its event."""
    for handler in setup.configuration.handlers:
        limit = TIMEOUTS_MS.get(handler.event, LIMIT_MS)
        if handler.timeout is not None and handler.timeout >= limit:
            place = handler.item.where("timeout")
            yield Remark(place, f"timeout {handler.timeout:g} is not under {limit} ms")


def has_action(hook: Hook) -> Iterator[Remark]:
    """HP-008: the output has `action`."""
    for answer in hook.script.answers if _is_python(hook) else ():
        for shape in answer.shapes:
            if shape.members is not None and shape.whole and "action" not in shape.members:
                yield Remark(answer.place, "this output has no `action`")
                break


event_names = unknown_event
"""The standard's event names, which are those of Claude Code."""


def _is_python(hook: Hook) -> bool:
    return hook.script.language is Language.PYTHON
