#!/bin/sh
# A hook as people write it by hand: jq reads the call, a pattern decides, nobody is asked.
# One jq, where most such scripts start one for each field.
case $(jq -r '"\(.tool_name) \(.tool_input.command)"') in
"Bash echo "*)
    echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'
    ;;
esac
