"""What is wrong with a registered script: where it is, how long it takes, what it decides."""

from collections.abc import Iterator
from itertools import combinations

from crabhook.lint.configuration.command import own_wait
from crabhook.lint.configuration.matcher import (
    BrokenMatcherError,
    overlap,
    read_matcher,
)
from crabhook.lint.configuration.read import Handler
from crabhook.lint.finding import HIGH, MEDIUM, Remark
from crabhook.lint.rules.entries import spelled
from crabhook.lint.rules.subjects import Hook, Run, Setup, setup_rule
from crabhook.platforms.rows import Protocol


@setup_rule(
    "CH108",
    HIGH,
    "timeout shorter than the hook's own wait",
    "The agent cuts the hook off while it still waits, and goes ahead without its answer.",
    "Register a longer timeout, or have the script wait less.",
)
def too_short(setup: Setup) -> Iterator[Remark]:
    """Find a timeout that ends before what the script, or the command itself, waits for."""
    for run in setup.runs:
        wait = run.script.longest_wait() if run.script is not None else None
        limit, own = _limit(setup, run.handler), own_wait(run.handler)
        registered = "registered" if run.handler.timeout is not None else "default"
        place = run.handler.item.where("timeout")
        begin = f"the {registered} timeout is {spelled(limit)}, but"
        if wait is not None and run.program is not None and wait.seconds > limit:
            who = f"{run.program.written} waits up to {spelled(wait.seconds)}"
            yield Remark(place, f"{begin} {who} ({wait.what}, line {wait.place.line})")
        elif own is not None and own[0] > limit:
            yield Remark(place, f"{begin} the command waits up to {spelled(own[0])} ({own[1]})")


def _limit(setup: Setup, handler: Handler) -> float:
    """Return how long a handler has; on Claude Code's SessionEnd all share the longest's."""
    protocol = setup.configuration.protocol
    if (protocol.name, handler.event) != ("claude", "SessionEnd"):
        return handler.seconds(protocol)
    listed = setup.configuration.handlers
    return max(one.seconds(protocol) for one in listed if one.event == handler.event)


@setup_rule(
    "CH109",
    HIGH,
    "two hooks rewrite the same input",
    "Hooks run side by side, each on the original input; the last answer wins and "
    "the other's changes are lost.",
    "Rewrite in one hook, or give them matchers that never meet.",
)
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


@setup_rule(
    "CH110",
    HIGH,
    "script that is not there",
    "A hook that cannot start blocks nothing: Claude Code and Codex go ahead, Gemini CLI "
    "denies everything.",
    "Mend the path; $CLAUDE_PROJECT_DIR is the project's folder.",
)
def missing_script(setup: Setup) -> Iterator[Remark]:
    """Find a registered script that is not there."""
    for run in setup.runs:
        if run.missing and run.program is not None:
            told = f"there is no {run.program.written}"
            where = f" ({run.program.path})" if str(run.program.path) != run.program.written else ""
            yield Remark(run.handler.item.where("command"), told + where)


@setup_rule(
    "CH111",
    HIGH,
    "script that cannot be started",
    "A hook that cannot start blocks nothing: Claude Code and Codex go ahead, Gemini CLI "
    "denies everything.",
    "chmod +x the script, or name its interpreter before it.",
)
def not_executable(setup: Setup) -> Iterator[Remark]:
    """Find a script that is started itself and does not let itself be."""
    for run in setup.runs:
        program = run.program
        if program is not None and program.direct and not run.missing and not run.executable:
            told = f"{program.written} is not executable"
            yield Remark(run.handler.item.where("command"), told)


@setup_rule(
    "CH112",
    MEDIUM,
    "path that depends on where the agent is",
    "Hooks run in the session's current folder: after a cd the script is not found, and "
    "the action goes ahead.",
    'Write "$CLAUDE_PROJECT_DIR"/… ($GEMINI_PROJECT_DIR there), or the whole path.',
)
def relative_path(setup: Setup) -> Iterator[Remark]:
    """Find a script whose path depends on where the agent is."""
    for run in setup.runs:
        if run.program is not None and run.program.relative:
            told = f"{run.program.written} is looked for wherever the agent is at the moment"
            yield Remark(run.handler.item.where("command"), told)


@setup_rule(
    "CH114",
    HIGH,
    "decides in the background",
    "An asynchronous hook is not waited for, so its decision changes nothing.",
    'Leave "async" out where the hook decides.',
)
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
