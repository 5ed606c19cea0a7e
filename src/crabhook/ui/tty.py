"""Another way to a terminal: one on which writing never blocks.

A terminal that nobody reads (a halted tmux, a stopped ssh) takes some bytes
and then makes the writer wait, and with it every hook that the same loop
serves.  Making standard output itself non-blocking would change the terminal
for the shell that we came from; a file of its own changes nobody else's.
"""

import os


def reopened(descriptor: int) -> int | None:
    """Return a non-blocking descriptor of the same terminal; None where there is none to be had."""
    try:
        return os.open(os.ttyname(descriptor), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:  # no terminal, or another user's
        return None
