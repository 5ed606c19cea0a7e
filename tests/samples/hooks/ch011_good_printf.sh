#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
reason="closed for today"
printf '{"decision": "block", "reason": "%s"}\n' "$reason"
