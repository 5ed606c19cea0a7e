#!/usr/bin/env python3
# lint today: CH001
# lint standard: HP-004 HP-008
import json
import sys

call = json.loads(sys.stdin.read())
answer = {}
if call["tool_name"] == "WebFetch":
    answer["action"] = "block"
    answer["reason"] = "stay offline"
if answer:
    print(json.dumps(answer))
