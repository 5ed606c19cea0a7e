"""What a person sees who starts the hook by hand."""

from crabhook.hook.wire import Reply

_HELP = """\
This is crabhook's hook: a coding agent starts it and hands it what it wants to
do, the operator decides, and the agent is told.  There is nothing to see here
without an agent.  You may want one of these:

  crabhook serve             open the operator's terminal
  crabhook install claude    have Claude Code ask it
  crabhook --help            see all commands
"""


def help_for(problem: str) -> Reply:
    """Explain, and say what was wrong with the options if anything was."""
    stderr = f"crabhook: {problem}\n" if problem else ""
    return Reply(_HELP.encode(), stderr.encode("utf-8", "replace"))
