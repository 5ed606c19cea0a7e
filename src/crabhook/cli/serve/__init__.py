"""`crabhook serve`: what composes a server, which desk it opens, and its log."""

from crabhook.cli.serve.command import add_arguments, run

__all__ = ["add_arguments", "run"]
