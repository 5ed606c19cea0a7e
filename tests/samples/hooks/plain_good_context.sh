#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
# Plain text of a SessionStart hook goes to the model, and is meant to.
echo "Today is $(date +%F)."
git log --oneline -5 2>/dev/null || echo "No history yet."
