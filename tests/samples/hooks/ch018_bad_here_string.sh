#!/usr/bin/env bash
# lint today: CH018
# lint standard: HP-001
payload=$(</dev/stdin)
part="${payload%%x*}"
/bin/sh -s <<<"$part"
