#!/usr/bin/env bash
# lint today: CH001
# lint standard: HP-001
input=$(cat)
if jq -e '.tool_input.command | test("sudo")' <<<"$input" >/dev/null; then
  jq -n --arg why "no sudo" '{action: "block", reason: $why}'
fi
