"""Floor 0: requests and answers; frozen, without I/O and without a clock."""
