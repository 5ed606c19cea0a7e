#!/usr/bin/env python3
# lint today: none
# lint standard: HP-004 HP-006 HP-008
import json
import sys

call = json.load(sys.stdin)
print("checking", call["tool_name"], file=sys.stderr)
if call["tool_name"] == "Write":
    print(json.dumps({"decision": "block", "reason": "read only"}))
else:
    print("nothing to say about this one")
