#!/usr/bin/env python3
# lint today: CH008
# lint standard: HP-004 HP-008
import json
import sys

call = json.load(sys.stdin)
specific = {"hookEventName": "PostToolUse", "updatedInput": {**call["tool_input"], "limit": 5}}
print(json.dumps({"hookSpecificOutput": specific}))
