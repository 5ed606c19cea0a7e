#!/usr/bin/env python3
# lint today: CH004
# lint standard: HP-004 HP-008
import json
import sys

call = json.load(sys.stdin)
if call["tool_name"] == "WebSearch":
    decision = {"permissionDecision": "deny", "permissionDecisionReason": "search the docs first"}
    print(json.dumps({"hookSpecificOutput": decision}))
