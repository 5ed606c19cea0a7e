"""What the real Claude Code decides: one session a group, with hooks that record and decide nothing.

A headless session asks nobody. A call that ran has a PostToolUse or PostToolUseFailure event; one that
a person would have been asked about has a PermissionRequest; what is left was denied by a rule, and
its result says so. Anything else is trouble, never a verdict.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.agreement.scene import Scene
from tests.support.agent import REPOSITORY
from tests.support.claude import Claude, command_hook, hook_settings
from tests.support.turns import Script, ToolUse

if TYPE_CHECKING:
    from tests.agreement.pairs import Group

SECONDS = 110  # for one session; a call takes a tenth of a second
RECORDED = ("PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure")
RAN = {"PostToolUse", "PostToolUseFailure"}
DENIED = re.compile(
    r"^Permission to (?:use|read|edit) .* has been denied"
    r"|denied by your permission settings"
    r"|covered by a Read deny rule"
    r"|blocked by (?:a deny rule|permission rules)"
    r"|^WebFetch denied access to domain:"
    r"|^Agent type '.*' has been denied by permission rule"
    r"|^<tool_use_error>Error: No such tool available",
    re.DOTALL,
)
SERVERS = ("notes", "notes_old")


@dataclass(frozen=True, slots=True)
class Said:
    """What Claude Code decided of a call, the input its hooks were told, and its own words."""

    verdict: str
    input: Mapping[str, Any]
    words: str


class UnreadableError(Exception):
    """A call came to something that is neither of the three verdicts."""


def claude_says(group: Group, folder: Path) -> Sequence[Said]:
    """Run one session in the folder, and return what was decided of each of the group's calls."""
    scene = Scene(folder)
    log = folder / "events.jsonl"
    record = command_hook(f"cat >> {log}; echo >> {log}")
    hooks = hook_settings({event: [record] for event in RECORDED})
    rules = {"permissions": scene.fill(group.rules)}
    calls = tuple((ToolUse(call.tool, scene.fill(call.input)),) for call in group.calls)
    agent = Claude(
        folder,
        script=Script(calls, {"look around": ()}),
        settings=hooks if group.of_project else hooks | rules,
        environment={
            "PATH": f"{scene.programs}:/usr/local/bin:/usr/bin:/bin",
            "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR": "1",
            "ENABLE_TOOL_SEARCH": "false",
        },
        seconds=SECONDS,
    )
    scene.lay_out()
    if group.of_project:
        (scene.project / ".claude" / "settings.json").write_text(json.dumps(rules))
    servers = ["--mcp-config", str(_servers(folder)), "--strict-mcp-config"]
    run = agent.headless("go", extra_args=servers)
    if run.exit_code:
        raise UnreadableError(f"{group.title}: exit code {run.exit_code}: {run.stderr}")
    results = dict(_results(run.last.body["messages"]))
    sent = list(_sent(run.last.body["messages"]))
    if len(sent) != len(calls):
        raise UnreadableError(f"{group.title}: {len(sent)} of {len(calls)} calls were made")
    events = _events_of(log)
    return [_said(call, events.get(call["id"], []), results[call["id"]]) for call in sent]


def _servers(folder: Path) -> Path:
    server = {
        "type": "stdio",
        "command": sys.executable,
        "args": ["-m", "tests.agreement.notes_server"],
        "env": {"PYTHONPATH": str(REPOSITORY)},
    }
    path = folder / "servers.json"
    path.write_text(json.dumps({"mcpServers": dict.fromkeys(SERVERS, server)}))
    return path


def _said(call: Mapping[str, Any], events: Sequence[Mapping[str, Any]], words: str) -> Said:
    names = {event["hook_event_name"] for event in events}
    inputs = events[0]["tool_input"] if events else call["input"]
    if DENIED.search(words):  # first: an agent that is denied has a PostToolUseFailure too
        return Said("deny", inputs, words)
    if "PermissionRequest" in names:
        return Said("ask", inputs, words)
    if names & RAN:
        return Said("allow", inputs, words)
    raise UnreadableError(f"{call['name']} {call['input']}: {sorted(names)}: {words}")


def _events_of(log: Path) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Return the main agent's events by the call they are about; calls come one after the other."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    last = ""
    # Not splitlines: it also splits at U+2028 and its like, which stand in JSON as they are.
    for line in filter(None, log.read_text(encoding="utf-8").split("\n") if log.exists() else ()):
        event = json.loads(line)
        if "agent_id" in event:
            continue
        last = event.get("tool_use_id", last)  # a PermissionRequest has none
        found.setdefault(last, []).append(event)
    return found


def _blocks(messages: Sequence[Mapping[str, Any]], kind: str) -> Iterator[Mapping[str, Any]]:
    for message in messages:
        if isinstance(message["content"], list):
            yield from (block for block in message["content"] if block["type"] == kind)


def _sent(messages: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    return _blocks(messages, "tool_use")


def _results(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for block in _blocks(messages, "tool_result"):
        content = block.get("content", "")
        texts = [content] if isinstance(content, str) else [one.get("text", "") for one in content]
        yield block["tool_use_id"], "\n".join(texts)
