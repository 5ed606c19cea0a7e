"""How Codex reads what a hook prints, written from the protocol's page and not from our writer.

Codex fails open: what it does not take is void, and the action goes on.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any


class Fate(StrEnum):
    """What comes of an answer."""

    VOID = "the hook is marked failed, and the action goes on"
    NOTHING = "the action goes on"
    DENIED = "the call is blocked, or its result replaced, and the model reads why"
    APPROVED = "the call runs without a dialog"
    REWRITTEN = "the call goes on with another input"
    GOES_ON = "the agent that wanted to stop goes on"
    HALTED = "the session ends"


_TOP = {"continue": bool, "stopReason": str, "suppressOutput": bool, "systemMessage": str}
_BLOCKING = {"decision": str, "reason": str}
_BLOCKS = frozenset({"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop"})
_CONTEXT = frozenset(
    {"PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SubagentStart"}
)
_SPECIFIC: dict[str, dict[str, type]] = {
    "PreToolUse": {
        "permissionDecision": str,
        "permissionDecisionReason": str,
        "updatedInput": dict,
    },
    "PermissionRequest": {"decision": dict},
}
_SILENT = frozenset({"SessionEnd"})
_MESSAGE_ALONE = frozenset({"Interrupt"})
DEEPEST = 127
"""Levels of nesting that a Rust program's reader takes."""


def fate(event: str, stdout: bytes, tool: str = "") -> Fate:
    """What comes of these bytes on standard output, with exit code 0, at this event."""
    if not stdout.strip():
        return Fate.NOTHING
    try:
        output = json.loads(stdout.decode("utf-8", "strict"))
        json.dumps(output, ensure_ascii=False).encode("utf-8", "strict")
    except ValueError:
        return Fate.VOID
    if not isinstance(output, dict) or _depth(output) > DEEPEST or not _known(event, output):
        return Fate.VOID
    specific = output.get("hookSpecificOutput") or {}
    if event == "PreToolUse":
        return _before_call(output, specific, tool)
    if event == "PermissionRequest":
        return _request(output, specific)
    return _other(event, output)


def _known(event: str, output: dict[str, Any]) -> bool:
    """Whether every key is one of the event's, with a value of its type."""
    if event in _SILENT:
        return not output
    top = {"systemMessage": str} if event in _MESSAGE_ALONE else dict(_TOP)
    top |= _BLOCKING if event in _BLOCKS else {}
    inner = dict(_SPECIFIC.get(event, {}))
    inner |= {"additionalContext": str} if event in _CONTEXT else {}
    if inner:
        top["hookSpecificOutput"] = dict
    if not _fits(output, top):
        return False
    specific = output.get("hookSpecificOutput")
    if specific is None:
        return True
    if specific.get("hookEventName") != event:
        return False
    decision = specific.get("decision")
    if decision is not None and not _fits(decision, {"behavior": str, "message": str}):
        return False
    return _fits(specific, inner | {"hookEventName": str})


def _fits(given: dict[str, Any], keys: dict[str, type]) -> bool:
    return all(
        key in keys and (value is None or isinstance(value, keys[key]))
        for key, value in given.items()
    )


def _before_call(output: dict[str, Any], specific: dict[str, Any], tool: str) -> Fate:
    if output.get("continue") is False or output.get("stopReason") or output.get("suppressOutput"):
        return Fate.VOID
    if output.get("decision"):
        blocked = output["decision"] == "block" and (output.get("reason") or "").strip()
        return Fate.DENIED if blocked else Fate.VOID
    said, updated = specific.get("permissionDecision"), specific.get("updatedInput")
    if said == "deny":
        reason = specific.get("permissionDecisionReason") or ""
        return Fate.DENIED if reason.strip() and updated is None else Fate.VOID
    if said == "allow":
        complete = tool not in ("Bash", "apply_patch") or (
            updated is not None and isinstance(updated.get("command"), str)
        )
        return Fate.REWRITTEN if updated is not None and complete else Fate.VOID
    if said is not None or updated is not None or specific.get("permissionDecisionReason"):
        return Fate.VOID
    return Fate.NOTHING


def _request(output: dict[str, Any], specific: dict[str, Any]) -> Fate:
    if output.get("continue") is False or output.get("stopReason") or output.get("suppressOutput"):
        return Fate.VOID
    decision = specific.get("decision") or {}
    match decision.get("behavior"):
        case None:
            return Fate.NOTHING
        case "allow":
            return Fate.APPROVED
        case "deny":
            return Fate.DENIED
        case _:
            return Fate.VOID


def _other(event: str, output: dict[str, Any]) -> Fate:
    if output.get("decision"):
        if output["decision"] != "block" or not (output.get("reason") or "").strip():
            return Fate.VOID
        return Fate.GOES_ON if event in ("Stop", "SubagentStop") else Fate.DENIED
    if output.get("continue") is False:
        return Fate.HALTED if event == "SessionStart" else Fate.VOID
    return Fate.NOTHING


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inner), default=0)
