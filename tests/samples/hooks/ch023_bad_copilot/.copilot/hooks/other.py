#!/usr/bin/env python3
# lint today: CH004 CH023
# lint standard: HP-004 HP-008
import json
import sys

call = json.load(sys.stdin)
if "sudo" in str(call["toolArgs"]):
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "deny"}
    print(json.dumps({"hookSpecificOutput": decision}))
