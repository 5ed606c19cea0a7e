"""The parts of the full screen that only show: the queue, the card, the help."""
