"""What the operator is asked on the full screen, a dialog a file: its state, keys and drawing."""
