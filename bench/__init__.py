"""What a hook call costs, beside what cannot be had for less: `make bench`, `python -m bench`.

Nothing here is a test: a machine's speed is no fault of the program, so a goal that is missed is
reported and the exit code stays 0.
"""
