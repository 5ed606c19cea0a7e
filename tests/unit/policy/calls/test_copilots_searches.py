"""Copilot's tools have Claude Code's names, and inputs of their own, which alone are read."""

from typing import Any

from tests.support.rows import every_row
from tests.unit.policy.law import OPEN, call, denying, policy, rule, verdict

IN, OUT = "/work/app/src/a", "/etc/a"


@every_row(
    "tool, inputs, said",
    [
        ("Read", {"path": IN}, "allow"),
        ("Read", {"path": OUT}, OPEN),
        ("Read", {"file_path": IN}, OPEN),  # which Copilot does not read
        ("Read", {"path": OUT, "file_path": IN}, OPEN),
        ("Edit", {"path": IN, "old_str": "a", "new_str": "b"}, "allow"),
        ("Write", {"path": OUT, "file_text": "a"}, OPEN),
        ("Grep", {"pattern": "x"}, "allow"),
        ("Grep", {"pattern": "x", "paths": "/work/app/src"}, "allow"),
        ("Grep", {"pattern": "x", "paths": "src"}, "allow"),
        ("Grep", {"pattern": "x", "paths": "/etc"}, OPEN),
        ("Grep", {"pattern": "x", "paths": ["/etc"]}, OPEN),
        ("Grep", {"pattern": "x", "paths": "/etc", "path": "src"}, OPEN),  # `paths` counts there
        ("Grep", {"pattern": "x", "path": "/etc"}, OPEN),
        ("Glob", {"pattern": "*", "paths": ["../b"]}, OPEN),
    ],
)
def test_each_path_is_read_where_copilot_reads_it(
    tool: str, inputs: dict[str, Any], said: str
) -> None:
    law = policy(rule("allow", "Read(./**)", "Edit(./src/**)"))
    assert verdict(law, call(tool, platform="copilot", **inputs)) == said


@every_row(
    "tool, inputs",
    [
        ("Read", {"path": OUT}),
        ("Grep", {"pattern": "x", "paths": "/etc"}),
        ("Grep", {"pattern": "x", "paths": ["/etc"]}),
        ("Grep", {"pattern": "x", "path": "/etc"}),
    ],
)
def test_a_denial_of_a_folder_is_not_passed_by(tool: str, inputs: dict[str, Any]) -> None:
    law = denying("Read(//etc/**)")
    assert verdict(law, call(tool, platform="copilot", **inputs)) == "deny"
