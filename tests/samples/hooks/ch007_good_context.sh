#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
branch=$(git branch --show-current)
jq -n --arg branch "$branch" \
  '{hookSpecificOutput: {hookEventName: "SessionStart", additionalContext: "on branch \($branch)"}}'
