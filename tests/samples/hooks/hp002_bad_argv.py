#!/usr/bin/env python3
# lint today: CH001 CH012
# lint standard: HP-002
import json
import sys

event = json.loads(sys.argv[1])
print(json.dumps({"action": "continue", "reason": event["tool_name"]}))
