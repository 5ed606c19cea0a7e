#!/usr/bin/env python3
# lint today: none
# lint standard: HP-003 HP-006
import json
import sys

try:
    event = json.load(sys.stdin)
except Exception:
    sys.exit(0)
print("blocked: not today")
