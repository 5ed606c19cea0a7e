#!/usr/bin/env bash
# lint today: CH007
# lint standard: HP-001
branch=$(git branch --show-current)
jq -n --arg branch "$branch" '{additionalContext: "on branch \($branch)"}'
