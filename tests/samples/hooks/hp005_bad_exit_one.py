#!/usr/bin/env python3
# lint today: CH001
# lint standard: HP-005
import json
import sys

try:
    event = json.load(sys.stdin)
    print(json.dumps({"action": "continue"}))
except Exception as error:
    print(error, file=sys.stderr)
    sys.exit(1)
