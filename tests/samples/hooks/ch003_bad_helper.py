#!/usr/bin/env python3
# lint today: CH003
# lint standard: HP-003 HP-004
import json
import sys


def block(why):
    print(why, file=sys.stderr)
    sys.exit(1)


call = json.load(sys.stdin)
if "DROP TABLE" in call["tool_input"].get("command", "").upper():
    block("that would lose data")
