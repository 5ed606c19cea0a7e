#!/usr/bin/env bash
# lint today: CH017
# lint standard: HP-001
jq -e '.tool_input.command | test("sudo")' >/dev/null && exit 2
exit 0
