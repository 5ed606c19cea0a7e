#!/usr/bin/env python3
# lint today: CH001
# lint standard: HP-002
import json

with open("/tmp/event.json") as opened:
    event = json.loads(open("/tmp/event.json").read())
print(json.dumps({"action": "continue", "reason": event["tool_name"]}))
