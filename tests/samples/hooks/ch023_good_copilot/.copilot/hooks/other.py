#!/usr/bin/env python3
# lint today: none
# lint standard: HP-004 HP-008
import json
import sys

call = json.load(sys.stdin)
if "sudo" in str(call["toolArgs"]):
    print(json.dumps({"permissionDecision": "deny", "permissionDecisionReason": "no sudo"}))
