"""What makes a figure worthless."""


class BenchError(Exception):
    """A process under measurement did something else than its work; says what it was."""
