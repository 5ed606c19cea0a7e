#!/usr/bin/env python3
# lint today: CH005
# lint standard: HP-004 HP-008
import json
import sys

call = json.load(sys.stdin)
command = call["tool_input"]["command"]
if command.startswith("npm "):
    answer = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "updatedInput": {"command": command.replace("npm ", "pnpm ", 1)},
        }
    }
    print(json.dumps(answer))
