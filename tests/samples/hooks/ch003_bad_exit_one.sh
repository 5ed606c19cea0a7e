#!/usr/bin/env bash
# lint today: CH003
# lint standard: HP-001
set -euo pipefail
command=$(jq -r '.tool_input.command // ""')

case "$command" in
  *"git push --force"*)
    echo "BLOCKED: force push" >&2
    echo "Open a pull request instead." >&2
    exit 1
    ;;
esac
exit 0
