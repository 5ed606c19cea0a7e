"""What is wrong with a registered script: where it is, how long it takes, what it decides."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from crabhook.lint.configuration.command import own_wait
from crabhook.lint.configuration.matcher import BrokenMatcherError, overlap, read_matcher
from crabhook.lint.configuration.read import Handler
from crabhook.lint.finding import Remark
from crabhook.lint.rules.entries import spelled
from crabhook.lint.rules.subjects import Hook, Setup, setup_rule
from crabhook.lint.script import Script
from crabhook.platforms.rows import Protocol

_DECISIONS = (("decision",), ("hookSpecificOutput", "permissionDecision"))


@setup_rule("CH108")
def _too_short(setup: Setup) -> Iterator[Remark]:
    for run in setup.runs:
        wait = run.script.longest_wait() if run.script is not None else None
        limit, own = _limit(setup, run.handler), own_wait(run.handler)
        if wait is not None and run.program is not None and wait.seconds > limit:
            who, seconds = run.program.written, wait.seconds
            what = f"{wait.what}, line {wait.place.line}"
        elif own is not None and own[0] > limit:
            who, (seconds, what) = "the command", own
        else:
            continue
        registered = "registered" if run.handler.timeout is not None else "default"
        told = f"the {registered} timeout is {spelled(limit)}, but {who} waits up to"
        yield run.handler.remark("timeout", f"{told} {spelled(seconds)} ({what})")


def _limit(setup: Setup, handler: Handler) -> float:
    """Return how long a handler has; on Claude Code's SessionEnd all share the longest's."""
    protocol, sharing = setup.protocol, [handler]
    if (protocol.name, handler.event) == ("claude", "SessionEnd"):
        sharing = [one for one in setup.configuration.handlers if one.event == handler.event]
    return max(one.seconds(protocol) for one in sharing)


@setup_rule("CH109")
def _two_rewriters(setup: Setup) -> Iterator[Remark]:
    key = setup.protocol.input_key
    paths = (("hookSpecificOutput", key), ("hookSpecificOutput", "decision", key))
    rewriters = [run for run in setup.runs if _answers_with(run.script, paths)]
    for one, other in combinations(rewriters[:50], 2):
        if one.handler.event != other.handler.event or one.handler.command == other.handler.command:
            continue
        if _meet(one.handler, other.handler, setup.protocol) and one.program and other.program:
            told = (
                f"{one.program.written} (line {one.handler.item.place.line}) and "
                f"{other.program.written} both rewrite the input of {other.handler.event}"
            )
            yield Remark(other.handler.item.place, told)


def _answers_with(script: Script | None, paths: Iterable[Sequence[str]]) -> bool:
    """Whether a script may answer with a member at one of these paths."""
    hook = Hook(script) if script is not None else None
    return hook is not None and any(any(True for _ in hook.shapes(*path)) for path in paths)


def _meet(one: Handler, other: Handler, protocol: Protocol) -> bool:
    try:
        first, second = (read_matcher(each.matcher, protocol) for each in (one, other))
    except BrokenMatcherError:
        return False
    return first is not None and second is not None and overlap(first, second, protocol)


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
            told = f"{run.program.written} is looked for wherever the agent is at the moment"
            yield run.handler.remark("command", told)


@setup_rule("CH114")
def _decides_too_late(setup: Setup) -> Iterator[Remark]:
    for run in setup.runs:
        if run.script is None or run.handler.value("async") is not True:
            continue
        blocks = any(one.code == 2 for one in run.script.exits)
        decides = _answers_with(run.script, _DECISIONS)
        if (blocks and run.handler.value("asyncRewake") is not True) or decides:
            told = "the script decides, but in the background nobody waits for its decision"
            yield run.handler.remark("async", told)
