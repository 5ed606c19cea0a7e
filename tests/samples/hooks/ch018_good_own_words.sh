#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
input=$(cat)
setup="set -u"
eval "$setup"
eval "$(ssh-agent -s)"
bash -c 'echo checked' <<<"$input" >&2
jq -r .tool_name <<<"$input" | bash ./log.sh >&2
eval "$(jq -r .setup <<<"$setup")"
