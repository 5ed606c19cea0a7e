"""What a hook printed, read as its agent would read it and with nothing of crabhook's own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

NOBODY = {
    "unreachable": "crabhook cannot ask the operator (",
    "lost": "crabhook lost the operator while the request waited (",
    "late": "crabhook got no decision from the operator (",
}
"""The first words on standard error of a hook that does as it was installed to do, by kind."""

_DENIES = {
    ("claude", "PreToolUse"),
    ("claude", "PermissionRequest"),
    ("gemini", "BeforeTool"),
    ("codex", "PreToolUse"),
    ("codex", "PermissionRequest"),
}
"""The events that a hook denies where it was installed to: to all others a no is an obstacle."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A hook's end: its exit code and both streams."""

    code: int
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True, slots=True)
class Said:
    """What the agent was told: a verdict, "" for no opinion; why; and a changed input."""

    verdict: str
    reason: str = ""
    changed: Any = None


class UnreadableError(ValueError):
    """Something that no agent could read."""


def read(agent: str, printed: Printed) -> Said:
    """Return what an agent takes a hook's output for; raises UnreadableError."""
    if printed.code not in (0, 2):
        raise UnreadableError(f"exit code {printed.code}")
    if printed.code == 2:
        return Said("deny", printed.stderr.decode("utf-8", "replace"))
    if not printed.stdout.strip():
        return Said("")
    try:
        output = json.loads(printed.stdout)
    except ValueError as error:
        raise UnreadableError(f"no JSON: {printed.stdout[:200]!r}") from error
    if not isinstance(output, dict):
        raise UnreadableError(f"no object: {printed.stdout[:200]!r}")
    specific = output.get("hookSpecificOutput") or {}
    return _gemini(output, specific) if agent == "gemini" else _claude(output, specific)


def _claude(output: dict[str, Any], specific: dict[str, Any]) -> Said:
    if "permissionDecision" in specific:
        reason = specific.get("permissionDecisionReason", "")
        return Said(specific["permissionDecision"], reason, specific.get("updatedInput"))
    if decision := specific.get("decision"):
        changed = decision.get("updatedInput")
        return Said(decision["behavior"], decision.get("message", ""), changed)
    if "action" in specific:
        return Said(specific["action"])
    if output.get("decision") == "block":
        return Said("block", output.get("reason", ""))
    return Said("")


def _gemini(output: dict[str, Any], specific: dict[str, Any]) -> Said:
    return Said(output.get("decision", ""), output.get("reason", ""), specific.get("tool_input"))


def fallback(printed: Printed) -> str:
    """Return why a hook did as it was installed to do, a key of NOBODY; "" where it was answered."""
    words = printed.stderr.decode("utf-8", "replace")
    return next((kind for kind, said in NOBODY.items() if said in words), "")


def own_way(agent: str, event: str, *, fail_closed: bool) -> str:
    """Return the verdict a hook gives by itself when nobody answers."""
    return "deny" if fail_closed and (agent, event) in _DENIES else ""
