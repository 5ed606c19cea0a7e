#!/usr/bin/env bash
# lint today: CH005
# lint standard: HP-001
input=$(cat)
command=$(jq -r .tool_input.command <<<"$input")
jq -n --arg command "nice $command" '{
  hookSpecificOutput: {
    hookEventName: "PreToolUse",
    updatedInput: {command: $command}
  }
}'
