#!/usr/bin/env bash
# lint today: CH018
# lint standard: HP-001
cmd=$(cat | jq -r .tool_input.command)
eval "echo $cmd"
