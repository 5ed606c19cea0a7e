"""Files that a repository brings, or an agent names: no other agent waits for one."""

from __future__ import annotations

import hashlib
import json
import time

import pytest

from tests.support.client import Client, sample
from tests.support.examples import share
from tests.support.hostile_files import TRAPS, make
from tests.support.service import Service

RULES = '[[rule]]\nverdict = "deny"\nmatch = "Bash(rm *)"\nnote = "use the trash"\n'
TRUSTED = '[[trusted]]\nfolder = "{}"\nsha256 = "{}"\nlevel = "restrict"\n'


SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def test_a_sessions_end_puts_a_redacted_summary_on_record() -> None:
    with Service("--headless") as service:
        path = service.folder / "transcript.jsonl"
        said = {"type": "user", "message": {"content": f"Use the token {SECRET} to push."}}
        path.write_text(json.dumps(said) + "\n")
        told = sample("SessionEnd", session_id="over", transcript_path=str(path))
        assert Client(service.address, told).finish().silent
        deadline = time.monotonic() + 60
        while "summary" not in service.audit("list", "--all-kinds"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        exported = service.audit("export")
        records = [json.loads(line) for line in exported.splitlines()]
        (found,) = [one for one in records if one["kind"] == "summary"]
        assert found["session"] == "over"
        assert SECRET not in exported
        assert "Use the token [redacted github-token" in json.dumps(found)


@pytest.mark.parametrize("kind", share(list(TRAPS), 0))
def test_no_other_agent_waits_for_a_file_that_one_names(kind: str) -> None:
    with Service("--headless", rules=RULES) as service:
        folder, projects = service.folder / ".config" / "crabhook", service.folder / "projects"
        trusted = ""
        for name in ("trusted", "unknown"):
            make(projects / name / ".crabhook" / "rules.toml", kind)
        make(service.folder / "transcript.jsonl", kind)
        found = hashlib.sha256(b"").hexdigest()
        trusted += TRUSTED.format(projects / "trusted", found)
        (folder / "trusted.toml").write_text(trusted)
        hostile = [
            sample(
                "PreToolUse-Bash",
                cwd=str(projects / name),
                tool_use_id=name,
                tool_input={"command": "rm -rf x"},
                transcript_path=str(service.folder / "transcript.jsonl"),
            )
            for name in ("trusted", "unknown")
        ]
        other = sample(
            "PreToolUse-Bash",
            cwd="/nowhere",
            tool_use_id="other",
            tool_input={"command": "rm -rf y"},
        )
        began = time.monotonic()
        asking = [Client(service.address, one) for one in hostile]
        answers = [Client(service.address, other).finish()]
        answers += [one.finish() for one in asking]
        assert time.monotonic() - began < 10  # a hook's own start, on a machine that is busy
        for answer in answers:  # the owner's rules hold in those projects as well
            assert (
                answer.output["hookSpecificOutput"]["permissionDecisionReason"] == "use the trash"
            )
