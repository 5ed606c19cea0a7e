#!/usr/bin/env python3
# lint today: CH001
# lint standard: none
import json
import sys


def read():
    return json.load(sys.stdin)


def main():
    event = read()
    print(json.dumps({"action": "block" if "rm" in str(event) else "continue"}))


try:
    main()
except Exception as error:
    print(error, file=sys.stderr)
    sys.exit(0)
