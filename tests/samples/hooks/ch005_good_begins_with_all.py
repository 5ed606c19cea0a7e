#!/usr/bin/env python3
# lint today: none
# lint standard: HP-004 HP-008
import copy
import json
import sys


def answer(changed):
    specific = {"hookEventName": "PreToolUse", "permissionDecision": "ask", "updatedInput": changed}
    print(json.dumps({"hookSpecificOutput": specific}))


tool_input = json.load(sys.stdin)["tool_input"]
command = tool_input.get("command", "")
if command.startswith("npm "):
    answer({**tool_input, "command": command.replace("npm ", "pnpm ", 1)})
elif command.startswith("pip "):
    changed = copy.deepcopy(tool_input)
    changed["command"] = f"uv {command}"
    answer(changed)
elif command.startswith("make "):
    answer(dict(tool_input, command=f"nice {command}"))
else:
    changed = {"description": "unchanged"}
    changed.update(tool_input)
    answer(changed)
