#!/usr/bin/env python3
# lint today: none
# lint standard: HP-008
"""Declines every form; here `action` is the protocol's own, inside hookSpecificOutput."""

import json
import sys

try:
    json.load(sys.stdin)
except Exception:
    sys.exit(0)
print(json.dumps({"hookSpecificOutput": {"hookEventName": "Elicitation", "action": "decline"}}))
