#!/usr/bin/env bash
# lint today: CH003
# lint standard: HP-001
deny() {
  printf '%s\n' "$1" >&2
  exit 1
}

file=$(jq -r .tool_input.file_path)
[[ "$file" == *.lock ]] && deny "lock files are written by their tools"
exit 0
