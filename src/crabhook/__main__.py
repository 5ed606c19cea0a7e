"""The door: a person's words lead to the command line, everything else is the hook."""

import posix
import sys


def main() -> int:
    """Run what the arguments ask for; the hook ends the process itself."""
    first = "".join(sys.argv[1:2])
    bare = len(sys.argv) == 1 and posix.isatty(0)
    if bare or first in ("-h", "--help", "--version") or (first and not first.startswith("-")):
        from crabhook.cli import main as command_line

        return command_line()
    try:
        from crabhook.hook.client import main as hook

        hook()
    except KeyboardInterrupt:
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main())
