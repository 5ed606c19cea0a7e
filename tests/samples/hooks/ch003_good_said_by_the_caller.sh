#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
die() {
  echo "$1" >&2
  exit 1
}

command -v jq > /dev/null || die "jq is missing here"
exit 0
