#!/usr/bin/env bash
# lint today: CH003 CH021
# lint standard: HP-001 CH021
echo "blocked" >&2
exit 1 # crabhook: ignore[CH003]
