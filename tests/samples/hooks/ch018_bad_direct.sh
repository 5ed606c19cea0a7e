#!/usr/bin/env bash
# lint today: CH018
# lint standard: HP-001
eval "$(jq -r .tool_input.command)"
