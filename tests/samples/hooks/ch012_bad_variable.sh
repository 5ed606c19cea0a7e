#!/usr/bin/env bash
# lint today: CH012
# lint standard: HP-001
if echo "$CLAUDE_TOOL_INPUT" | grep -q 'rm -rf'; then
  echo "blocked" >&2
  exit 2
fi
