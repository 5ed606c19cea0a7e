"""The core of a server: one fact at a time, what is recorded of it, and the desk here."""
