#!/usr/bin/env python3
# lint today: CH011
# lint standard: HP-003 HP-004
import json
import sys

json.load(sys.stdin)
print("{'decision': 'block', 'reason': 'closed'}")
