#!/usr/bin/env python3
# lint today: none
# lint standard: HP-003 HP-004 HP-007
import json
import sys
import time

PAUSE = 2


def answered():
    for _ in range(90):
        time.sleep(PAUSE)
    return None


call = json.load(sys.stdin)
if answered() is None:
    print("nobody answered: denied", file=sys.stderr)
    sys.exit(2)
