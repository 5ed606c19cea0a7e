#!/usr/bin/env python3
# lint today: CH001 CH002
# lint standard: none
"""Keeps every one of the standard's checks; today's agents read nothing of its answer."""

import json
import subprocess
import sys


def main():
    try:
        event = json.loads(sys.stdin.read())
        done = subprocess.run(["git", "status", "--short"], capture_output=True, timeout=10)
        if done.stdout and event.get("tool_name") == "Bash":
            answer = {"action": "block", "message": "commit first"}
        else:
            answer = {"action": "continue"}
        print(json.dumps(answer))
        sys.exit(0)
    except Exception as error:
        print(f"hook failed: {error}", file=sys.stderr)
        sys.exit(0)


if __name__ == "__main__":
    main()
