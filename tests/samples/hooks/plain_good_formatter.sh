#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
# After an edit: format the file, and tell the model what could not be mended.
set -uo pipefail

file=$(jq -r '.tool_input.file_path // empty')
[[ -z "$file" || ! -f "$file" ]] && exit 0

case "${file##*.}" in
  py) tool=(ruff format --quiet) ;;
  ts | tsx) tool=(npx prettier --write) ;;
  *) exit 0 ;;
esac

if ! report=$(timeout 20 "${tool[@]}" "$file" 2>&1); then
  echo "$report" >&2
  exit 2
fi
