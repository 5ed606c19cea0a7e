#!/usr/bin/env python3
# lint today: CH012
# lint standard: HP-002 HP-003
import json
import sys

call = json.loads(sys.argv[1])
if call["tool_name"] == "Bash":
    print("blocked", file=sys.stderr)
    sys.exit(2)
