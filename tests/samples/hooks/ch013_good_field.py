#!/usr/bin/env python3
# lint today: none
# lint standard: HP-003 HP-004
import json
import sys
from pathlib import Path

event = json.load(sys.stdin)
settings = json.loads(Path("hook.json").read_text())
log = Path(event["cwd"]) / settings.get("working_directory", "hooks.log")
with log.open("a") as opened:
    opened.write(f"{event.get('session_id')} {event['tool_name']}\n")
