#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
input=$(cat)
cd "$CLAUDE_PROJECT_DIR" || exit 1
if jq -r .tool_input.command <<<"$input" | grep -q 'rm -rf'; then
  echo "blocked" >&2
  exit 2
fi
