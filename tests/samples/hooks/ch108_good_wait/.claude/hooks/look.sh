#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
curl --silent --max-time 45 http://127.0.0.1:9/ || true
