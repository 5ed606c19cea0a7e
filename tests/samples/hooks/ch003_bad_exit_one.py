#!/usr/bin/env python3
# lint today: CH003
# lint standard: HP-003 HP-004
import json
import sys

call = json.load(sys.stdin)
path = call["tool_input"].get("file_path", "")
if path.endswith(".env"):
    print(f"Blocked: {path} holds secrets", file=sys.stderr)
    sys.exit(1)
