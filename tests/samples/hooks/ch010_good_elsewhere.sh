#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
log() { echo "$1" >>/tmp/hook.log; }
name() { echo "$(hostname) and more"; }
log "running the linter"
echo "running the linter" >&2
where=$(name)
echo "{\"systemMessage\": \"checked on ${where}\"}"
