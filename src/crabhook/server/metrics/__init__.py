"""The numbers of a server: what is shown, and how it is counted and timed."""
