#!/usr/bin/env python3
# lint today: CH006
# lint standard: HP-004 HP-008
import json
import os
import sys

project = os.environ["CLAUDE_PROJECT_DIR"]
call = json.load(sys.stdin)
if not call["tool_input"]["file_path"].startswith(project):
    specific = {"hookEventName": "PreToolUse", "permissionDecision": "block"}
    print(json.dumps({"hookSpecificOutput": specific}))
else:
    print(json.dumps({"decision": "allow"}))
