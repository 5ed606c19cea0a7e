#!/usr/bin/env bash
# lint today: CH002
# lint standard: HP-001
cat >/dev/null
echo '{"message": "remember to run the tests", "continue": true}'
