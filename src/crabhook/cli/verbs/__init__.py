"""The operator's verbs in a shell: each attaches to a desk, does one thing and ends."""
