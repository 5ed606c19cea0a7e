"""Events that only go by, and the words that a line about each has to hold: subject and outcome."""

OBSERVED = [
    ("claude/PostToolUse-Bash", ("Bash", "echo hi > out.txt", "it ran")),
    (
        "claude/PostToolUseFailure-Bash",
        ("Bash", "cat /no/such/file", "it ran and failed: Exit code 1"),
    ),
    ("claude/PostToolUse-Edit", ("Edit", "notes.txt", "it ran")),
    ("claude/Notification", ("Claude needs your permission",)),
    ("claude/CwdChanged", ("/home/dev/project/sub",)),
    ("claude/InstructionsLoaded", ("CLAUDE.md",)),
    ("claude/SessionEnd", ("other", "its session ended")),
    ("gemini/AfterTool-run_shell_command", ("run_shell_command", "it ran")),
    ("codex/PostToolUse-Bash", ("Bash", "it ran")),
]
