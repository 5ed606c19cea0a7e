"""`crabhook acp`: the proxy, as an editor starts it."""

import argparse

from crabhook.acp.proxy import run as proxied
from crabhook.cli.commands import declaring, reporting

_DESK = ("server", "token_file", "tls_ca", "wait")  # say where the operator is


add_arguments = declaring("acp")


def run(arguments: argparse.Namespace) -> int:
    """Stand between the editor and the agent; return the exit code of the agent."""
    return reporting("acp", _run, arguments)


def _run(arguments: argparse.Namespace) -> int:
    values = {name: getattr(arguments, name) for name in _DESK}
    words = [f"--{name.replace('_', '-')}={value}" for name, value in values.items() if value]
    return proxied(arguments.command, words)
