#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
# The message of a PermissionRequest's denial is read: it is inside the decision.
cat >/dev/null
cat <<'ANSWER'
{"hookSpecificOutput": {"hookEventName": "PermissionRequest",
  "decision": {"behavior": "deny", "message": "ask me again tomorrow"}}}
ANSWER
