"""The desk on a wire: its values as messages and back, and the desk of a server elsewhere."""
