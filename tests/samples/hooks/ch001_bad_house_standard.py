#!/usr/bin/env python3
# lint today: CH001 CH002
# lint standard: none
"""Stops a recursive removal, in the answer of the house standard."""

import json
import sys


def main():
    try:
        call = json.load(sys.stdin)
        command = call.get("tool_input", {}).get("command", "")
        if "rm -rf" in command:
            print(json.dumps({"action": "block", "message": "no recursive removal here"}))
        else:
            print(json.dumps({"action": "continue"}))
        sys.exit(0)
    except Exception as error:
        print(f"guard: {error}", file=sys.stderr)
        sys.exit(0)


main()
