#!/usr/bin/env python3
# lint today: none
# lint standard: HP-004 HP-008
import json
import sys

call = json.load(sys.stdin)
changed = {**call["tool_input"], "timeout": 60000}
print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": changed}}))
