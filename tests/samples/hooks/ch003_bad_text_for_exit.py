#!/usr/bin/env python3
# lint today: CH003
# lint standard: HP-003
import json
import sys

try:
    branch = json.load(sys.stdin).get("tool_input", {}).get("branch")
except Exception:
    branch = None
if branch == "main":
    sys.exit("Denied: nobody pushes to main")
