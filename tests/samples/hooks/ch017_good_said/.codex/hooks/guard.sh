#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
if jq -e '.tool_input.command | test("sudo")' >/dev/null; then
  echo "no sudo" >&2
  exit 2
fi
