#!/usr/bin/env python3
# lint today: CH011
# lint standard: HP-003 HP-004 HP-008
import json
import sys

call = json.load(sys.stdin)
answer = {"decision": "block", "reason": f"no {call['tool_name']}"}
print(answer)
