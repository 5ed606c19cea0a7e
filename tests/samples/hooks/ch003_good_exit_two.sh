#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
command=$(jq -r '.tool_input.command // ""')
if grep -qE '(^|[;&| ])rm +-rf +/' <<<"$command"; then
  echo "BLOCKED: that removes the whole disk" >&2
  exit 2
fi
if ! command -v jq >/dev/null; then
  echo "jq is missing; nothing is blocked" >&2
  exit 1 # crabhook: ignore[CH003] a missing tool is our own failure, and no refusal
fi
