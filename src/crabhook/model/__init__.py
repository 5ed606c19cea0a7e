"""Floor 0: what is asked and what is answered; frozen, without I/O and without a clock."""
