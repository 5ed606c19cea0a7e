"""Push: calls a person by their phone for a card that waits, and tells what became of the call."""
