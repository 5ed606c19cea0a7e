#!/usr/bin/env python3
# lint today: CH007
# lint standard: HP-004 HP-008
import json
import sys

call = json.load(sys.stdin)
if call["tool_name"] == "Bash":
    print(json.dumps({"permissionDecision": "deny", "permissionDecisionReason": "no shell today"}))
