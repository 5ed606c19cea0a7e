"""The operator's screens; they know the model and the desk, and no broker."""
