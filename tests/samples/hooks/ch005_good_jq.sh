#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
input=$(cat)
jq '{hookSpecificOutput: {hookEventName: "PreToolUse",
  updatedInput: (.tool_input + {command: ("nice " + .tool_input.command)})}}' <<<"$input"
