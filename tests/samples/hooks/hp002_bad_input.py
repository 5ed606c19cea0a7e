#!/usr/bin/env python3
# lint today: CH001
# lint standard: HP-002 HP-008
import json

line = input()
print(json.dumps({"action": "block" if "rm" in line else "continue"}))
