"""Floor 4: the operator's screens; they know the model and the broker's desk alone."""
