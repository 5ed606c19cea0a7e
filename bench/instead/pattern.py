# /// script
# requires-python = ">=3.11"
# dependencies = []
# ///
"""The same hook as a script with its dependencies inline, which `uv run --script` starts."""

import json
import sys

event = json.load(sys.stdin)
if event["tool_name"] == "Bash" and event["tool_input"]["command"].startswith("echo "):
    answer = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    sys.stdout.write(json.dumps({"hookSpecificOutput": answer}))
