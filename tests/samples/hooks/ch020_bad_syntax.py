#!/usr/bin/env python3
# lint today: CH020
# lint standard: CH020
import json
import sys

call = json.load(sys.stdin)
if call["tool_name"] == "Bash"
    sys.exit(2)
