"""The applications: a server with its listeners and desks, and how it is found again."""
