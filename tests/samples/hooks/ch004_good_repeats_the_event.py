#!/usr/bin/env python3
# lint today: none
# lint standard: HP-004 HP-008
import json
import sys

event = json.load(sys.stdin)
specific = {"hookEventName": event["hook_event_name"], "additionalContext": "the build is red"}
print(json.dumps({"hookSpecificOutput": specific}))
