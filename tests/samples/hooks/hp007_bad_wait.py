#!/usr/bin/env python3
# lint today: CH001
# lint standard: HP-007
import json
import subprocess
import sys

LIMIT = 120

try:
    json.load(sys.stdin)
    subprocess.run(["make", "test"], timeout=LIMIT, capture_output=True)
    print(json.dumps({"action": "continue"}))
except Exception:
    sys.exit(0)
