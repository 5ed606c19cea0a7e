#!/usr/bin/env bash
# lint today: CH014
# lint standard: HP-001
cat >/dev/null
if ! make -s test >&2; then
  echo '{"decision": "block", "reason": "the tests fail"}'
fi
