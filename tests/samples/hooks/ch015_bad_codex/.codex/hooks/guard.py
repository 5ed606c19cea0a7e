#!/usr/bin/env python3
# lint today: CH015
# lint standard: HP-004 HP-008
import json
import sys

command = json.load(sys.stdin)["tool_input"].get("command", "")
if "sudo" in command:
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "deny"}
    print(json.dumps({"hookSpecificOutput": decision}))
elif "git push" in command:
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "ask"}
    print(json.dumps({"hookSpecificOutput": decision, "note": "look twice"}))
else:
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    print(json.dumps({"hookSpecificOutput": decision, "suppressOutput": True}))
