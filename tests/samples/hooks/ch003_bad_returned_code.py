#!/usr/bin/env python3
# lint today: CH003
# lint standard: HP-003
import json
import sys


def main() -> int:
    try:
        call = json.load(sys.stdin)
    except json.JSONDecodeError:
        return 0
    if call.get("tool_name") == "Bash" and "curl" in call["tool_input"]["command"]:
        sys.stderr.write("Access to the network is not allowed\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
