"""Findings are told to people in lines that can be copied, and to programs in keys that stay."""

import json

from crabhook.doctor.finding import SCHEMA, Finding, Status, as_value, heading_of, lines, summary

MEND = "crabhook install claude --gate --server unix:/a/very/long/path/to/a/socket --wait 60"
FAULT = Finding(
    "hook.timeout",
    Status.FAULT,
    "PreToolUse: Claude Code waits 5 s for a hook that waits 30 s for the operator",
    "the hook is ended before its time is over",
    MEND,
    "then start the agent anew",
    agent="claude",
    figures={"wait_s": 30},
)
FINE = Finding("user.root", Status.OK, "you are user 1000, not root")


def test_every_line_keeps_to_the_width_but_commands_stay_whole() -> None:
    told = list(lines(FAULT, 72))
    assert f"{' ' * 27}mend:  {MEND}" in told
    assert all(len(line) <= 72 for line in told if MEND not in line)
    assert told[0].startswith("FAULT  hook.timeout        PreToolUse: Claude")
    assert any(line.startswith(f"{' ' * 27}means: ") for line in told)
    assert any(line.startswith(f"{' ' * 27}note:  ") for line in told)


def test_what_is_well_is_one_line_and_all_of_it_ascii() -> None:
    (line,) = lines(FINE, 80)
    assert line == "ok     user.root           you are user 1000, not root"
    assert "".join(lines(FAULT, 80)).isascii()


def test_a_finding_stands_under_its_agent_or_the_machine() -> None:
    assert (heading_of(FAULT), heading_of(FINE)) == ("Claude Code", "This machine")


def test_the_summary_counts_and_says_what_to_do_next() -> None:
    warned = Finding("hook.alone", Status.WARNING, "", mend="crabhook uninstall claude")
    unseen = Finding("agent.version", Status.UNKNOWN, "")
    assert summary([FINE]) == "all is well."
    assert summary([FINE, warned, FAULT]) == f"1 fault, 1 warning. Next: {MEND}"
    assert summary([warned, warned, unseen]) == (
        "2 warnings, 1 that could not be looked at. Next: crabhook uninstall claude"
    )


def test_the_keys_for_programs_stay() -> None:
    told = json.loads(json.dumps(as_value([FAULT, FINE])))
    assert told.keys() == {"schema", "crabhook", "exit_code", "findings"}
    assert (told["schema"], told["exit_code"]) == (SCHEMA, 1)
    first, second = told["findings"]
    keys = {"id", "status", "what", "means", "mend", "advice", "agent", "figures"}
    assert first.keys() == second.keys() == keys
    assert (first["status"], first["figures"], second["agent"]) == ("fault", {"wait_s": 30}, "")
