#!/usr/bin/env python3
# lint today: CH003
# lint standard: HP-003 HP-004
import json
import sys


def stop(why: str) -> int:
    sys.stderr.write("Refused: " + why)
    return 1


def main() -> int:
    call = json.load(sys.stdin)
    if "push" in call["tool_input"].get("command", ""):
        return stop("no push from here")
    return 0


sys.exit(main())
