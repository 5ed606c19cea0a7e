#!/usr/bin/env bash
# lint today: CH004
# lint standard: HP-001
jq -n '{hookSpecificOutput: {hookEventName: "PreToolCall", permissionDecision: "ask"}}'
