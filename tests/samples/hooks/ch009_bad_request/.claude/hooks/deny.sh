#!/usr/bin/env bash
# lint today: CH009
# lint standard: HP-001
command=$(jq -r .tool_input.command)
if [[ "$command" == *"rm -rf"* ]]; then
  echo "denied" >&2
  exit 2
fi
