#!/usr/bin/python
# lint today: none
# lint standard: HP-001 HP-003
import json
import sys

try:
    json.load(sys.stdin)
except ValueError:
    sys.exit(0)
