"""The operator's server as its own process with a plain desk, and the harness bridge beside its port."""

from __future__ import annotations

import json
from typing import Any

from tests.support.client import sample
from tests.support.forwarder import Forwarder
from tests.support.plain_desk import PlainDesk

SAMPLES = {
    "PreToolUse": "PreToolUse-Bash",
    "PermissionRequest": "PermissionRequest-Bash",
    "PostToolUse": "PostToolUse-Bash",
    "PostToolUseFailure": "PostToolUseFailure-Bash",
    "Stop": "Stop",
    "SubagentStart": "SubagentStart",
    "SubagentStop": "SubagentStop",
    "UserPromptSubmit": "UserPromptSubmit",
    "SessionStart": "SessionStart",
    "SessionEnd": "SessionEnd",
    "Notification": "Notification",
    "PreCompact": "PreCompact",
    "Setup": "Setup",
    "TeammateIdle": "",
    "TaskCompleted": "",
}
"""The fifteen events of the reference, each with the name of its recorded input.

The last two need a team of agents and are made from the protocol's page instead.
"""
_TEAM = {"teammate_name": "helper", "team_name": "builders", "permission_mode": "default"}
_MADE: dict[str, dict[str, Any]] = {
    "TeammateIdle": _TEAM,
    "TaskCompleted": {"task_id": "1", "task_subject": "Paint it", **_TEAM},
}


def event(name: str, **changes: Any) -> bytes:
    """The hook input of one of the fifteen events, some of its fields changed."""
    if recorded := SAMPLES[name]:
        return sample(recorded, **changes)
    fields = json.loads(sample("Stop")) | {"hook_event_name": name, **_MADE[name]}
    for other in ("stop_hook_active", "last_assistant_message", "background_tasks"):
        del fields[other]
    return json.dumps(fields | changes).encode()


class BridgedDesk(PlainDesk):
    """`crabhook serve --plain --ndjson`."""

    def __init__(self, *options: str) -> None:
        super().__init__(*options)
        self.bridge = f"{self.folder}/n"
        self._options = (*self._options, "--ndjson", f"unix:{self.bridge}")
        self._forwarders: list[Forwarder] = []

    def __exit__(self, *how: object) -> None:
        for forwarder in self._forwarders:
            forwarder.end()
        super().__exit__(*how)

    def forward(self, payload: bytes) -> Forwarder:
        """Start a forwarder with a hook's input."""
        self._forwarders.append(Forwarder(self.bridge, payload))
        return self._forwarders[-1]

    def card_of(self, name: str, session: str = r"\S+") -> int:
        """Wait for a new card of this event; return its number."""
        return int(self.wait_for(rf"^#(\d+) {name}( \S+)? session={session} ").group(1))

    def hold(self, name: str) -> None:
        """Let the next event of this name wait for the operator."""
        self.say(f"hold {name} times=1")
        self.wait_for(f"desk: hold {name} times=1$")
