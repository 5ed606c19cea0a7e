#!/usr/bin/env -S uv run --script
# lint today: none
# lint standard: HP-001 HP-003
# /// script
# requires-python = ">=3.11"
# ///
"""Writes every event into a log, whatever happens."""

import json
import sys
from datetime import datetime, timezone
from pathlib import Path


def main():
    try:
        event = json.load(sys.stdin)
        folder = Path.home() / ".cache" / "hooks"
        folder.mkdir(parents=True, exist_ok=True)
        stamp = datetime.now(timezone.utc).isoformat()
        line = json.dumps({"at": stamp, "action": "seen", "event": event})
        with (folder / "events.jsonl").open("a") as opened:
            opened.write(line + "\n")
    except Exception:
        pass
    sys.exit(0)


main()
