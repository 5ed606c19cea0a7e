#!/usr/bin/env python3
# lint today: none
# lint standard: HP-004 HP-008
import json
import sys

call = json.load(sys.stdin)
verdict = "deny" if ".git/" in str(call["tool_input"]) else "ask"
specific = {"hookEventName": "PreToolUse", "permissionDecision": verdict}
specific["permissionDecisionReason"] = "the repository's own files"
print(json.dumps({"hookSpecificOutput": specific}))
