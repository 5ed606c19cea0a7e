#!/usr/bin/env python3
# lint today: none
# lint standard: HP-004 HP-008
"""Exits with 1 after a JSON answer: the answer decides, whatever the code."""

import json
import sys


def respond(decision, reason):
    print(json.dumps({"decision": decision, "reason": reason}))


prompt = json.load(sys.stdin).get("prompt", "")
if "password" in prompt:
    print("refused a prompt", file=sys.stderr)
    respond("block", "no passwords in prompts")
    sys.exit(1)
