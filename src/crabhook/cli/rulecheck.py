"""What the rules make of a call: explained for a person, or held against a table."""

from pathlib import Path

from crabhook.model.event import Event, ToolCall
from crabhook.policy.engine import Policy
from crabhook.policy.rule import RuleVerdict
from crabhook.policy.ruling import PartRuling, Ruling
from crabhook.policy.tools import Kind, canonical, kind_of
from crabhook.rulebook.files import RulesError, read_text
from crabhook.rulebook.projects import surroundings_here

OPEN = "open"
# Control characters as a table writes them: their pictures, one for each.
PICTURES = {0x2400 + code: code for code in range(0x20)} | {0x2424: 0x0A}

_KEYS = {
    Kind.COMMAND: "command",
    Kind.SEARCH: "path",
    Kind.PATCH: "command",
    Kind.FETCH: "url",
    Kind.AGENT: "subagent_type",
    Kind.SKILL: "skill",
}


def event_of(tool: str, text: str, project: Path, mode: str = "default") -> Event:
    """Return the event of a call of `tool` whose one input that rules look at is `text`."""
    key = "notebook_path" if tool == "NotebookEdit" else _KEYS.get(kind_of(tool), "file_path")
    call = ToolCall(tool, {key: text})
    return Event("claude", "PreToolUse", cwd=str(project), permission_mode=mode, tool=call)


def explained(policy: Policy, event: Event, project: Path) -> str:
    """Return each part of the call with what decides it, then the verdict on the whole."""
    ruling = policy.examine(event, surroundings_here(project))
    tool = canonical(event.tool.name) if event.tool else ""
    lines = [f"{tool}:"]
    lines += [_line(part) for part in ruling.parts]
    lines += [f"  not to be allowed: {trouble}" for trouble in ruling.troubles]
    return "\n".join([*lines, f"verdict: {verdict_of(ruling)}", f"  {ruling.why}"])


def _line(part: PartRuling) -> str:
    mark = "(hidden) " if part.hidden else ""
    said = str(part.verdict or "-")
    text = part.text.replace("\n", "␤")
    return f"  {part.kind:<8} {mark}{text}\n  {'':<8} {said}: {part.why}"


def verdict_of(ruling: Ruling | None) -> str:
    """Return a ruling's verdict as tables write it."""
    return str(ruling.verdict) if ruling and ruling.verdict is not None else OPEN


def hold(policy: Policy, table: Path, project: Path) -> tuple[list[str], int]:
    """Hold the rules against a table; return what differs, and how many lines were held.

    Raises RulesError for a table that cannot be read.
    """
    surroundings = surroundings_here(project)
    failures, number = [], 0
    for at, row in enumerate(read_text(table).split("\n"), 1):
        if not row.strip() or row.startswith("#"):
            continue
        expected, tab, command = row.partition("\t")
        if not tab or expected not in {*RuleVerdict, OPEN}:
            known = ", ".join([*RuleVerdict, OPEN])
            form = f"a verdict ({known}), a tab and a command"
            raise RulesError(f"{table}, line {at}: it must hold {form}")
        number += 1
        event = event_of("Bash", command.translate(PICTURES), project)
        ruling = policy.examine(event, surroundings)
        if verdict_of(ruling) != expected:
            failures.append(
                f"{table}, line {at}: {command}\n"
                f"  expected {expected}, got {verdict_of(ruling)}: {ruling.why}"
            )
    return failures, number
