"""A hook's output in the specification's shape, and as a platform's JSON (REQ-006.5 to 006.7)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from crabhook.sdk.compat.names import NORMALIZED_TO_EVENT, NormalizedEvent, Platform


@dataclass
class HookOutput:
    """What the agent is told; all empty is no opinion.

    `context` becomes what 006.6 says, which on most events of Claude Code is
    a message to the user and does not reach the model.  `raw_output` are
    further members of the JSON, which never replace those made from the rest.
    """

    decision: str = ""
    reason: str = ""
    context: str = ""
    continue_loop: bool = True
    stop_reason: str = ""
    suppress_output: bool = False
    raw_output: dict[str, Any] = field(default_factory=dict)


def denormalize_output(output: HookOutput, platform: Platform, event: NormalizedEvent) -> str:
    """Return the JSON that the platform reads on this event, "{}" where nothing is said."""
    said: dict[str, Any] = {}
    if output.decision:
        said["decision"] = _decision(output.decision, platform)
    if output.reason:
        said["reason"] = output.reason
    if not output.continue_loop:
        said["continue"] = False
        if output.stop_reason:
            said["stopReason"] = output.stop_reason
    if output.suppress_output:
        said["suppressOutput"] = True
    if output.context:
        said |= _context(output.context, platform, event)
    return json.dumps(_merged(said, output.raw_output))


def _decision(decision: str, platform: Platform) -> str:
    return "deny" if decision == "block" and platform is Platform.GEMINI else decision


def _context(text: str, platform: Platform, event: NormalizedEvent) -> dict[str, Any]:
    if platform is not Platform.GEMINI and event is not NormalizedEvent.SESSION_START:
        return {"systemMessage": text}
    name = NORMALIZED_TO_EVENT[platform][event]
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def _merged(said: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return `said` with what only `more` has, inside objects that both have as well."""
    whole = {**more, **said}
    for key in said.keys() & more.keys():
        if isinstance(said[key], dict) and isinstance(more[key], dict):
            whole[key] = _merged(said[key], more[key])
    return whole
