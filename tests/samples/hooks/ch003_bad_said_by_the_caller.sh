#!/usr/bin/env bash
# lint today: CH003
# lint standard: HP-001
die() {
  echo "$1" >&2
  exit 1
}

command=$(jq -r .tool_input.command)
[[ "$command" == *"git push"* ]] && die "Blocked: no push from here"
exit 0
