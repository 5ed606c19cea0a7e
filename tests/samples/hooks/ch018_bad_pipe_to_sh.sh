#!/usr/bin/env bash
# lint today: CH018
# lint standard: HP-001
jq -r '.tool_input.command' | sed 's/x/y/' | sh
