#!/usr/bin/env bash
# lint today: none
# lint standard: HP-001
cat >>/tmp/calls.jsonl
