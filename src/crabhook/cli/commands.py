"""The commands by name: what each is for, an example of it, and the page that has the whole."""

from typing import NamedTuple


class About(NamedTuple):
    """What `crabhook --help` and a command's own help say of it; `page` is a file of docs/."""

    what: str
    example: str
    page: str


COMMANDS = {
    "serve": About(
        "open the operator's terminal and listen for requests",
        "crabhook serve",
        "reference/settings.md",
    ),
    "install": About(
        "write crabhook's hooks into an agent's settings",
        "crabhook install claude --gate",
        "how-to/install.md",
    ),
    "uninstall": About(
        "take crabhook's hooks out of an agent's settings again",
        "crabhook uninstall claude",
        "how-to/install.md",
    ),
    "rules": About(
        "see, change, try and explain the rules that decide without you",
        "crabhook rules explain 'pytest -q && rm -rf build'",
        "reference/rules.md",
    ),
    "away": About(
        "be away, from another terminal: nothing waits for you meanwhile",
        "crabhook away --for 2h",
        "reference/desk.md",
    ),
    "here": About(
        "be back, from another terminal: requests wait for you again",
        "crabhook here",
        "reference/desk.md",
    ),
    "passphrase": About(
        "set the passphrase that `crabhook away` asks for",
        "crabhook passphrase",
        "reference/desk.md",
    ),
    "audit": About(
        "read the record of what was asked and decided, and verify it",
        "crabhook audit --since 2h --verdict deny",
        "reference/audit.md",
    ),
    "supervisor-hook": About(
        "be the hook that has a stop, or a question, reviewed before you are asked",
        'echo \'{"session_id": "s"}\' | crabhook supervisor-hook',
        "how-to/supervisor.md",
    ),
    "supervisor-review": About(
        "review with Claude Code itself: a reviewer for the settings",
        "crabhook supervisor-review --claude 'claude --model haiku' < review.json",
        "how-to/supervisor.md",
    ),
    "doctor": About(
        "see whether all is in order, and what mends it",
        "crabhook doctor claude",
        "reference/doctor.md",
    ),
    "lint": About(
        "find what hook scripts and configurations get wrong",
        "crabhook lint ~/.claude",
        "reference/lint.md",
    ),
    "demo": About(
        "see it work: a scripted agent asks, you decide",
        "crabhook demo",
        "tutorial/first-morning.md",
    ),
    "completion": About(
        "print what lets your shell complete crabhook's commands",
        "crabhook completion bash > ~/.local/share/bash-completion/completions/crabhook",
        "how-to/install.md",
    ),
}

ACTIONS = {
    "rules list": "crabhook rules list --project ~/shop",
    "rules add": "crabhook rules add deny 'Bash(git push *--force*)' --note 'no forced pushes'",
    "rules remove": "crabhook rules remove 1",
    "rules test": "crabhook rules test expected.tsv",
    "rules explain": "crabhook rules explain --tool Edit src/main.py",
    "rules suggest": "crabhook rules suggest",
    "rules trust": "crabhook rules trust ~/shop",
}
"""An example of each action of a command that has several."""

HOOK_OPTIONS = {
    "--server ADDRESS": ("CRABHOOK_SERVER", "where to ask, as unix:PATH or HOST:PORT"),
    "--token-file FILE": ("CRABHOOK_TOKEN, the token itself", "the file with the server's token"),
    "--tls-ca FILE": ("", "the certificate to know the server by; without it no TLS"),
    "--wait SECONDS": ("CRABHOOK_WAIT", "how long to wait for all of it (3630)"),
    "--reconnect SECONDS": ("", "how long to look for a server that was lost (120)"),
    "--when-unreachable WISH": ("CRABHOOK_WHEN_UNREACHABLE", "pass, ask or deny (pass)"),
    "--when-lost WISH": ("CRABHOOK_WHEN_LOST", "pass, ask or deny (pass)"),
    "--platform NAME": ("", "whose hook it is: claude, gemini, codex (claude)"),
    "--companion": (
        "",
        "leave the agent's own dialogs usable; else every call is held",
    ),
}
"""The hook's own options: the variable that says the same, if there is one, and what it is for."""
