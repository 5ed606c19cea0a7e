#!/usr/bin/env python3
# lint today: none
# lint standard: HP-004 HP-008
import json
import sys

call = json.load(sys.stdin)
decision = {"hookEventName": "PreToolUse"}
if "sudo" in call["tool_input"].get("command", ""):
    decision["permissionDecision"] = "deny"
    decision["permissionDecisionReason"] = "no sudo"
else:
    decision["permissionDecision"] = "allow"
    decision["updatedInput"] = {**call["tool_input"], "timeout": 60}
print(json.dumps({"hookSpecificOutput": decision}))
