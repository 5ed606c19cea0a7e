"""OpenCode's permissions as it reads them: the last line that fits counts, in files of any shape."""

from pathlib import Path

import pytest

from crabhook.lint.linting import lint
from crabhook.lint.rules import TODAY
from crabhook.lint.rules.permissions import PermissionRule
from crabhook.lint.script import START
from tests.support.rows import every_row


def rule(permission: str, pattern: str) -> PermissionRule:
    return PermissionRule(permission, pattern, "ask", START)


@every_row(
    "wider, narrower, covers",
    [
        (("*", "*"), ("bash", "git push*"), True),
        (("bash", "git *"), ("bash", "git push *"), True),
        (("bash", "ls *"), ("bash", "ls"), True),  # a blank and a star may be left out
        (("bash", "ls*"), ("bash", "ls"), True),
        (("bash", "ls *"), ("bash", "lsof"), False),
        (("bash", "git push*"), ("bash", "git *"), False),
        (("echo_*", "*"), ("echo_order", "*"), True),
        (("echo_?", "*"), ("echo_order", "*"), False),
        (("edit", "*"), ("bash", "*"), False),
        (("bash", "a.c"), ("bash", "abc"), False),
        (("bash", "*"), ("bash", "two\nlines"), True),
    ],
)
def test_a_pattern_fits_as_opencode_fits_it(
    wider: tuple[str, str], narrower: tuple[str, str], covers: bool
) -> None:
    assert rule(*wider).covers(rule(*narrower)) is covers


@pytest.fixture
def found(tmp_path: Path) -> Path:
    return tmp_path / "opencode.json"


def test_a_section_of_any_shape_is_judged(found: Path) -> None:
    for section in ("[1]", "null", "7", '{"bash": ["ask"]}', '{"bash": {"x": {"y": 1}}}', "true"):
        found.write_text(f'{{"permission": {section}}}', encoding="utf-8")
        rules = {finding.rule.id for finding in lint([found], TODAY).findings}
        assert "CH119" in rules, section
    for text in ('{"permission": {"bash": {}}}', '{"agent": [1], "mode": 7, "plugin": {"a": 1}}'):
        found.write_text(text, encoding="utf-8")
        rules = {finding.rule.id for finding in lint([found], TODAY).findings}
        assert "CH119" not in rules, text


def test_a_folder_has_its_file_found_where_it_speaks_of_permissions(found: Path) -> None:
    found.write_text('{"model": "a/b"}', encoding="utf-8")
    assert not lint([found.parent], TODAY).files
    found.write_text('{"permission": "allow", // of all\n}', encoding="utf-8")
    assert [finding.rule.id for finding in lint([found.parent], TODAY).findings] == ["CH122"]


def test_another_agents_file_with_such_a_key_is_not_judged(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"hooks": {}, "permission": "allow", "plugin": ["x"]}', encoding="utf-8")
    assert not lint([file], TODAY).findings
