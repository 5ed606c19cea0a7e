"""Take crabhook's hooks out of an agent's settings again."""

import argparse
import sys

from crabhook.cli.install import add_place_arguments, chosen_path, refusing, report, say
from crabhook.install import agents
from crabhook.install.change import plan
from crabhook.install.claude import without_hooks


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare which agent's settings are meant, and which of its files."""
    add_place_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Uninstall; return 0, or 1 with the reason on standard error and nothing changed."""
    return refusing("uninstall", lambda: _uninstall(arguments))


def _uninstall(arguments: argparse.Namespace) -> None:
    agent = agents.known(arguments.agent)
    path = chosen_path(arguments)
    change = plan(path, without_hooks)
    if arguments.dry_run:
        sys.stdout.write(change.difference())
    elif change.is_none:
        say(f"There are no hooks of crabhook in {path}; nothing was written.")
    else:
        report(change, f"{agent.title}'s settings without crabhook")
        say("A session that runs already may ask the operator until it ends.")
