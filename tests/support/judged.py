"""`claude` on the PATH of a judge: the real program, in a folder that has our hooks.

agentack makes a folder of its own, with no settings of its user's, and gives the prompt behind
`--tools`, whose value Claude Code 2.1.332 takes it for. So this trusts the folder, installs our hooks
for it, and ends the options before the prompt. `JUDGED` has a line each: the program, crabhook, the
server, the stance.
"""

import json
import os
import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Become the real program."""
    program, crabhook, server, stance = os.environ["JUDGED"].split("\n")
    arguments = sys.argv[1:]
    if arguments != ["--version"]:
        state = Path(os.environ["HOME"], ".claude.json")
        known = json.loads(state.read_text("utf-8"))
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        known["projects"][str(Path.cwd())] = trusted
        state.write_text(json.dumps(known), "utf-8")
        words = [crabhook, "install", "claude", stance, "--scope", "project", "--server", server]
        subprocess.run(words, check=True, capture_output=True, timeout=60)
        arguments.insert(-1, "--")
    os.execv(program, [program, *arguments])


if __name__ == "__main__":
    main()
