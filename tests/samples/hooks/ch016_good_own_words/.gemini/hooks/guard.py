#!/usr/bin/env python3
# lint today: none
# lint standard: HP-004 HP-008
import json
import sys

call = json.load(sys.stdin)

if "sudo" in call["tool_input"].get("command", ""):
    print(json.dumps({"decision": "deny", "reason": "no sudo"}))
else:
    changed = {**call["tool_input"], "description": "seen by the guard"}
    print(json.dumps({"hookSpecificOutput": {"tool_input": changed}}))
