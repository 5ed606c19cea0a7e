#!/usr/bin/env python3
# lint today: none
# lint standard: HP-005 HP-008
"""A guard as people write larger ones: classes, tables, several events."""

import json
import os
import re
import sys
from dataclasses import dataclass

RULES = [(re.compile(r"\bsudo\b"), "no sudo"), (re.compile(r"chmod\s+777"), "too wide")]


@dataclass
class Verdict:
    allowed: bool
    reason: str = ""


class Guard:
    def __init__(self, event):
        self.event = event

    def judge(self):
        command = self.event.get("tool_input", {}).get("command", "")
        for pattern, reason in RULES:
            if pattern.search(command):
                return Verdict(False, reason)
        return Verdict(True)


def build(event_name, verdict):
    output = {"hookEventName": event_name, "permissionDecision": "deny"}
    if verdict.reason:
        output["permissionDecisionReason"] = verdict.reason
    return {"hookSpecificOutput": output}


def main():
    try:
        event = json.loads(sys.stdin.read() or "{}")
    except json.JSONDecodeError:
        return
    verdict = Guard(event).judge()
    if not verdict.allowed:
        if os.environ.get("HOOK_DEBUG"):
            print(f"denied: {verdict.reason}", file=sys.stderr)
        json.dump(build("PreToolUse", verdict), sys.stdout)


if __name__ == "__main__":
    main()
