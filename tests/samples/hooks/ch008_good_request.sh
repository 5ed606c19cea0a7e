#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
jq -n '{hookSpecificOutput: {hookEventName: "PermissionRequest", decision: {behavior: "allow"}}}'
