"""Whether its user lets an agent run our hooks: reviewed for Codex, a trusted folder for Gemini CLI."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from crabhook.doctor.checks.installed import permitted
from crabhook.doctor.finding import Finding, Status
from tests.unit.doctor.home import Home, is_well, typist

HANDLER = {"type": "command", "command": "crabhook --platform codex", "timeout": 60}
STOP = {"event_name": "stop", "hooks": [{"async": False, **HANDLER}]}
"""The handler as a hook of Stop, as Codex hashes it."""


def look(home: Home, agent: str) -> Finding:
    (finding,) = permitted(home.case(agent))
    return finding


class TestCodex:
    """What it hashes was found with Codex 0.169; tests/e2e/test_doctor.py asks the program again."""

    def reviewed(self, home: Home, *keys: str) -> None:
        text = json.dumps(STOP, sort_keys=True, separators=(",", ":"))
        digest = sha256(text.encode()).hexdigest()
        states = (f'[hooks.state."{key}"]\ntrusted_hash = "sha256:{digest}"\n' for key in keys)
        home.write(home.folder / ".codex" / "config.toml", "\n".join(states))

    @pytest.fixture
    def file(self, home: Home) -> Path:
        document = {"hooks": {"Stop": [{"hooks": [HANDLER]}]}}
        return home.write(home.folder / ".codex" / "hooks.json", document)

    def test_hooks_that_nobody_reviewed_are_skipped(self, home: Home, file: Path) -> None:
        finding = look(home, "codex")
        assert (finding.status, finding.mend) == (Status.FAULT, "codex")
        assert "without a word" in finding.means
        self.reviewed(home, f"{file}:stop:0:0")
        assert is_well(look(home, "codex"))

    def test_a_hook_that_has_changed_since_is_to_be_reviewed_again(
        self, home: Home, file: Path
    ) -> None:
        self.reviewed(home, f"{file}:stop:0:0")
        file.write_text(file.read_text().replace("60", "61"))
        finding = look(home, "codex")
        assert (finding.status, "Stop" in finding.what) == (Status.WARNING, True)

    def test_a_review_is_of_a_place(self, home: Home, file: Path) -> None:
        self.reviewed(home, f"{file}:stop:1:0", f"{file}:subagent_stop:0:0", "/x:stop:0:0")
        assert look(home, "codex").status is Status.FAULT

    @pytest.mark.parametrize("text", ["not toml", "hooks = 1", "[hooks]\nstate = 3\n", ""])
    def test_what_is_no_review_counts_for_none(self, home: Home, file: Path, text: str) -> None:
        home.write(file.with_name("config.toml"), text)
        assert look(home, "codex").status is Status.FAULT


class TestGemini:
    @pytest.fixture(autouse=True)
    def folders(self, home: Home) -> Path:
        home.install(agent="gemini")
        return home.folder / ".gemini" / "trustedFolders.json"

    def test_a_folder_that_nobody_spoke_of_is_warned_of(self, home: Home) -> None:
        finding = look(home, "gemini")
        assert (finding.status, finding.mend) == (Status.WARNING, "gemini")

    @pytest.mark.process
    def test_a_folder_that_is_not_trusted_runs_no_hook(self, home: Home, folders: Path) -> None:
        home.write(folders, {str(home.project): "DO_NOT_TRUST"})
        finding = look(home, "gemini")
        assert (finding.status, "no hook at all" in finding.means) == (Status.FAULT, True)
        trusted = json.dumps({str(home.project): "TRUST_FOLDER"})
        home.mend(finding, editor=typist(home.folder, trusted))
        assert is_well(look(home, "gemini"))

    @pytest.mark.parametrize(
        ("words", "status"),
        [
            ({"{home}": "TRUST_FOLDER"}, Status.OK),
            ({"{home}/other": "TRUST_PARENT"}, Status.OK),
            ({"{home}": "TRUST_FOLDER", "{home}/project": "DO_NOT_TRUST"}, Status.FAULT),
            ({"{home}": "DO_NOT_TRUST", "{home}/project": "TRUST_FOLDER"}, Status.OK),
            ({"{home}/proj": "TRUST_FOLDER"}, Status.WARNING),
            ([], Status.WARNING),
        ],
    )
    def test_the_nearest_word_counts(
        self, home: Home, folders: Path, words: object, status: Status
    ) -> None:
        home.write(folders, json.dumps(words).replace("{home}", str(home.folder)))
        assert look(home, "gemini").status is status

    def test_where_trust_is_switched_off_every_folder_is_trusted(self, home: Home) -> None:
        settings = home.folder / ".gemini" / "settings.json"
        home.change(lambda it: it.update(security={"folderTrust": {"enabled": False}}), settings)
        assert is_well(look(home, "gemini"))

    def test_a_list_that_cannot_be_read_could_not_be_looked_at(
        self, home: Home, folders: Path
    ) -> None:
        home.write(folders, "{")
        assert look(home, "gemini").status is Status.UNKNOWN


def test_claude_code_asks_for_no_such_thing(home: Home) -> None:
    home.install()
    assert list(permitted(home.case())) == []
    assert list(permitted(home.case("codex"))) == []
