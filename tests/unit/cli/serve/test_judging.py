"""Events are judged by the law itself, or with a clock beside it."""

from pathlib import Path

from crabhook.cli.serve.command import judging
from crabhook.model.event import Event, ToolCall
from crabhook.rulebook.files import RuleFiles
from crabhook.server.law import Law

RULE = '[[rule]]\nverdict = "allow"\nmatch = "Bash(ls)"\n'


def test_unmeasured_it_is_the_laws_own(tmp_path: Path) -> None:
    law = Law(RuleFiles(tmp_path))
    ways = judging(law, measured=False)
    assert (ways.judge, ways.study, ways.metrics) == (law.judge, law.study, None)


async def test_measured_it_says_the_same_and_is_timed(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(RULE)
    law = Law(RuleFiles(tmp_path))
    ways = judging(law, measured=True)
    event = Event("claude", "PreToolUse", cwd="/p", tool=ToolCall("Bash", {"command": "ls"}))
    await ways.study(event, long=True)
    assert ways.judge(event) == law.judge(event)
    assert ways.metrics is not None
    text = ways.metrics.exposition().decode()
    for when in ("at-once", "ahead"):
        assert f'crabhook_rules_seconds_count{{when="{when}"}} 1.0' in text
