#!/usr/bin/env python3
# lint today: CH001 CH002
# lint standard: none
import json
import sys


def read():
    return json.load(sys.stdin)


def main():
    event = read()
    blocked = {"action": "block", "message": "not that"}
    print(json.dumps(blocked if "rm" in str(event) else {"action": "continue"}))


try:
    main()
except Exception as error:
    print(error, file=sys.stderr)
    sys.exit(0)
