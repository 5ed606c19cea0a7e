#!/usr/bin/env python3
# lint today: CH001
# lint standard: HP-004
import json
import sys

event = json.load(sys.stdin)
print(json.dumps({"action": "continue"}))
