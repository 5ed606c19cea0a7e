#!/usr/bin/env bash
# lint today: CH010
# lint standard: HP-001
echo "running the linter"
if ! ruff check . >&2; then
  echo '{"decision": "block", "reason": "the linter complains"}'
fi
