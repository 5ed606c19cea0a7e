"""The doctor's rows say what the documents and the other tables say."""

from pathlib import Path

import pytest

from crabhook.doctor.checks.installed import version_in
from crabhook.install import program
from crabhook.lint.configuration import protocols
from crabhook.model.card import Stance
from crabhook.platforms import HOOKED
from crabhook.platforms.installation import Installation
from tests.support.requirements import pinned_version

DOCS = Path(__file__).parents[3] / "docs"
PAGES = {
    "claude": (DOCS / "reference" / "protocols.md", "Claude Code"),
    "gemini": (DOCS / "how-to" / "gemini.md", "Gemini CLI"),
    "codex": (DOCS / "how-to" / "codex.md", "Codex CLI"),
    "qwen": (DOCS / "how-to" / "qwen.md", "Qwen Code"),
    "copilot": (DOCS / "how-to" / "copilot.md", "GitHub Copilot CLI"),
    "opencode": (DOCS / "how-to" / "opencode.md", "OpenCode"),
}
"""Each agent's page, and the agent's name there."""


@pytest.mark.parametrize("name", HOOKED)
def test_the_known_versions_are_those_of_the_documents_and_of_the_tests(name: str) -> None:
    newest = HOOKED[name].settings.versions[-1]
    page, agent = PAGES[name]
    version = newest if name == "claude" else newest.removesuffix(".0")
    assert f"{agent} {version}" in page.read_text("utf-8")
    assert newest == pinned_version(name)


@pytest.mark.parametrize("name", HOOKED)
def test_a_timeout_has_the_unit_that_the_linter_reads_it_in(name: str) -> None:
    protocol = protocols()[name]
    assert protocol is HOOKED[name].protocol
    assert HOOKED[name].decided <= set(protocol.events)


@pytest.mark.parametrize("name", HOOKED)
def test_what_this_version_writes_decides_where_the_row_says(name: str) -> None:
    gate = Installation(program.interpreter(), program.stub(), Stance.GATE)
    assert HOOKED[name].decided <= set(HOOKED[name].settings.groups(gate))


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("2.1.330 (Claude Code)\n", "2.1.330"),
        ("codex-cli 0.169.0\n", "0.169.0"),
        ("GitHub Copilot CLI 1.0.102.\nRun 'copilot update'", "1.0.102"),
        ("0.61.0-preview.1", "0.61.0-preview.1"),
        ("no version at all", ""),
    ],
)
def test_a_version_is_read_out_of_what_a_program_says(said: str, version: str) -> None:
    assert version_in(said) == version
