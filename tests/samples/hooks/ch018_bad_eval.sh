#!/usr/bin/env bash
# lint today: CH018
# lint standard: HP-001
input=$(cat)
command=$(jq -r .tool_input.command <<<"$input")
eval "$command"
