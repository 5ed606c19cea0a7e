#!/usr/bin/env python3
# lint today: none
# lint standard: HP-008
"""Denies what the protocol lets it deny, in the protocol's own words."""

import json
import sys


def deny(reason):
    print(
        json.dumps(
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": reason,
                }
            }
        )
    )
    sys.exit(0)


try:
    call = json.load(sys.stdin)
except ValueError:
    sys.exit(0)
if "rm -rf" in call.get("tool_input", {}).get("command", ""):
    deny("no recursive removal here")
