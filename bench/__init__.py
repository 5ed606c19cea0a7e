"""What a hook call costs, measured against its floors in the same run; start it with `make bench`.

Nothing here is a test: a machine's speed is no fault of the program, so a
missed goal is reported and the exit code stays 0.
"""
