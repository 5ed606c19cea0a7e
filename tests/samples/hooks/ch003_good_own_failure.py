#!/usr/bin/env python3
# lint today: none
# lint standard: HP-003 HP-005
"""Exits with 1 where it has failed itself, which is what 1 is for."""

import json
import sys
from pathlib import Path

try:
    call = json.load(sys.stdin)
except json.JSONDecodeError as error:
    print(f"cannot read the input: {error}", file=sys.stderr)
    sys.exit(1)
try:
    blocked = Path(".claude/blocked.txt").read_text().splitlines()
except OSError:
    print("could not load the list of blocked words", file=sys.stderr)
    sys.exit(1)
if any(word in str(call) for word in blocked):
    print("blocked by the list", file=sys.stderr)
    sys.exit(2)
