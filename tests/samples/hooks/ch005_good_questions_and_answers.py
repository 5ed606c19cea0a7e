#!/usr/bin/env python3
# lint today: none
# lint standard: HP-004 HP-008
import json
import sys

asked = json.load(sys.stdin)["tool_input"]
chosen = {one["question"]: one["options"][0]["label"] for one in asked["questions"]}
print(
    json.dumps(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "updatedInput": {"questions": asked["questions"], "answers": chosen},
            }
        }
    )
)
