#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
# Rings a bell; it blocks nothing, and the word is only in what it shows.
input=$(cat)
message=$(echo "$input" | jq -r '.message // "blocked on you"')
if [ -z "$message" ]; then
  echo "nothing to show" >&2
  exit 1
fi
printf '\a' >/dev/tty 2>/dev/null || true
exit 0
