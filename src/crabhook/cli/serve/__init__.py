"""`crabhook serve`: composes a server, opens its desk, and writes its log."""

from crabhook.cli.serve.command import add_arguments, run

__all__ = ["add_arguments", "run"]
