#!/usr/bin/env bash
# lint today: CH011
# lint standard: HP-001
cat >/dev/null
echo '{"decision": "block", "reason": "closed for today",}'
