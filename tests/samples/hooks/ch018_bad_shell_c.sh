#!/usr/bin/env bash
# lint today: CH018
# lint standard: HP-001
jq -r .tool_input.command | while true; do break; done
read -r line
bash -c "$line"
