#!/usr/bin/env python3
# lint today: CH001 CH010
# lint standard: HP-006
import json
import sys

try:
    event = json.load(sys.stdin)
    print("looking at", event["tool_name"])
    print(json.dumps({"action": "continue"}))
except Exception:
    sys.exit(0)
