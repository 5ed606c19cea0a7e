#!/usr/bin/env python3
# lint today: none
# lint standard: HP-003 HP-004
import json
import sys

match json.load(sys.stdin):
    case {"tool_name": "Bash"}:
        print("no shell", file=sys.stderr)
        sys.exit(2)
