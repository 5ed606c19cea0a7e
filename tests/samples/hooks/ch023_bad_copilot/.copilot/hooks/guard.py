#!/usr/bin/env python3
# lint today: CH023
# lint standard: HP-004 HP-008
import json
import sys

call = json.load(sys.stdin)
if "sudo" in str(call["toolInput"]):
    decision = {"behavior": "deny", "message": "no sudo"}
    print(json.dumps({"hookSpecificOutput": {"decision": decision}}))
