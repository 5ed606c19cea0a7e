"""What an operator may command, and how it is written; both desks share it."""
