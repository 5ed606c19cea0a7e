#!/usr/bin/env python3
# lint today: none
# lint standard: HP-008
import json
import sys

try:
    json.load(sys.stdin)
    print(json.dumps({"decision": "block", "reason": "closed"}))
except Exception:
    sys.exit(0)
