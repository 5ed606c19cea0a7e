#!/usr/bin/env python3
# lint today: CH013
# lint standard: HP-003 HP-004
import json
import sys
from pathlib import Path

event = json.load(sys.stdin)
log = Path(event["working_directory"]) / "hooks.log"
with log.open("a") as opened:
    opened.write(f"{event.get('conversation_id')} {event['tool_name']}\n")
