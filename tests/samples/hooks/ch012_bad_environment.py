#!/usr/bin/env python3
# lint today: CH012
# lint standard: HP-002 HP-003
import os
import sys

if "secret" in os.environ.get("CLAUDE_FILE_PATHS", ""):
    print("not allowed", file=sys.stderr)
    sys.exit(2)
