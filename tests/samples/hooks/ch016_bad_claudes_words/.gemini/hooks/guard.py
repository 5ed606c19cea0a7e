#!/usr/bin/env python3
# lint today: CH016
# lint standard: HP-004 HP-008
import json
import sys

call = json.load(sys.stdin)

if "sudo" in call["tool_input"].get("command", ""):
    decision = {"permissionDecision": "deny", "permissionDecisionReason": "no sudo"}
    print(json.dumps({"hookSpecificOutput": decision}))
