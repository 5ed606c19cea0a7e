#!/usr/bin/env python3
# lint today: CH005
# lint standard: HP-004 HP-008
import json
import sys

asked = json.load(sys.stdin)["tool_input"]["questions"]
answers = {one["question"]: one["options"][0]["label"] for one in asked}
specific = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
specific["updatedInput"] = {"answers": answers}
print(json.dumps({"hookSpecificOutput": specific}))
