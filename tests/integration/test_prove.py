"""`crabhook prove`: each installed hook is run as its agent runs it, and its denial is seen."""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from crabhook.platforms import HOOKED
from crabhook.platforms.installation import Transport
from tests.support.http_desk import HttpDesk
from tests.support.plain_desk import CRABHOOK, PlainDesk
from tests.support.team import founded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def desk() -> Iterator[PlainDesk]:
    with PlainDesk() as desk:
        yield desk


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path


def crabhook(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **more}
    return subprocess.run(
        [CRABHOOK, *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        cwd=home / "project",
    )


def install(home: Path, agent: str, address: str, *options: str) -> None:
    crabhook(home, "install", agent, "--server", address, *options).check_returncode()


def proved(home: Path, agent: str) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    """The exit code, and the findings by their ids."""
    ran = crabhook(home, "prove", agent, "--json")
    findings: dict[str, list[dict[str, Any]]] = {}
    for finding in json.loads(ran.stdout)["findings"]:
        findings.setdefault(finding["id"], []).append(finding)
    return ran.returncode, findings


def settings_of(home: Path, agent: str) -> Path:
    platform = HOOKED[agent]
    scope = platform.settings.scopes[0]
    return platform.settings.path(scope, home / "project", {"HOME": str(home)})


STARTED = [
    name for name, platform in HOOKED.items() if Transport.COMMAND in platform.settings.transports
]
SENDS = [name for name, platform in HOOKED.items() if platform.sends is not None]


@pytest.mark.parametrize("agent", STARTED)
def test_each_hook_that_decides_denies_the_marked_call_and_nobody_hears_of_it(
    agent: str, home: Path, desk: PlainDesk
) -> None:
    desk.anew()
    before = desk.record()
    install(home, agent, desk.address)
    code, findings = proved(home, agent)
    proofs = findings["prove.denial"]
    assert [proof["status"] for proof in proofs] == ["ok"] * len(HOOKED[agent].decided)
    assert {proof["what"].partition(":")[0] for proof in proofs} == HOOKED[agent].decided
    others = set(findings) - {"prove.denial", "hook.permitted"}  # what its own user has yet to do
    assert not others
    assert code == (
        1 if any(f["status"] == "fault" for f in findings.get("hook.permitted", ())) else 0
    )
    desk.anew()
    assert desk.said == []
    assert desk.record() == before


def test_a_strict_hook_denies_the_marked_call_in_fixed_words(home: Path, desk: PlainDesk) -> None:
    team = founded(home / "team", time.time())
    team.let_in("ann")
    strict = ("--strict", "--team", str(team.folder.team))
    for options in (("--gate", *strict), (*strict, "--fail-closed")):
        install(home, "claude", desk.address, *options)
        code, findings = proved(home, "claude")
        proofs = findings["prove.denial"]
        assert [proof["status"] for proof in proofs] == ["ok"] * len(HOOKED["claude"].decided)
        assert code == 0


def test_a_person_reads_that_it_reached_nobody(home: Path, desk: PlainDesk) -> None:
    install(home, "claude", desk.address, "--gate")
    ran = crabhook(home, "prove", "claude")
    assert ran.returncode == 0
    assert "PreToolUse: denied, as a gate" in ran.stdout
    assert "3 hooks denied the marked call. It reached nobody, and is in no record." in ran.stdout


@pytest.mark.parametrize(("options", "way"), [((), "nothing"), (("--fail-closed",), "alone")])
def test_without_a_server_it_says_what_starts_one(
    home: Path, options: tuple[str, ...], way: str
) -> None:
    install(home, "claude", f"unix:{home}/nobody", *options)
    code, findings = proved(home, "claude")
    assert code == 7
    assert "serve" in findings["server.answers"][0]["mend"]
    assert all(way in proof["what"] for proof in findings["prove.denial"])
    assert {proof["status"] for proof in findings["prove.denial"]} == {"fault"}


def test_hooks_of_two_stances_are_told_with_what_mends_them(home: Path, desk: PlainDesk) -> None:
    install(home, "claude", desk.address, "--companion")
    path = settings_of(home, "claude")
    settings = json.loads(path.read_text(encoding="utf-8"))
    handler = settings["hooks"]["PreToolUse"][0]["hooks"][0]
    for key in ("command", "args"):
        written = handler.get(key)
        if isinstance(written, list):
            handler[key] = [word for word in written if word != "--companion"]
        elif written:
            handler[key] = written.replace(" --companion", "")
    path.write_text(json.dumps(settings), encoding="utf-8")
    code, findings = proved(home, "claude")
    assert code == 1
    (stance,) = findings["prove.stance"]
    assert "PreToolUse as a gate, PermissionRequest as a companion" in stance["what"]
    assert "install claude --companion" in stance["mend"]
    assert findings["hook.current"][0]["status"] == "fault"


def test_a_hook_whose_program_is_gone_is_told_with_what_mends_it(
    home: Path, desk: PlainDesk
) -> None:
    install(home, "claude", desk.address)
    path = settings_of(home, "claude")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("/crabhook/hook/run.py", "/gone/crabhook/hook/run.py"), "utf-8")
    code, findings = proved(home, "claude")
    assert code == 1
    assert {proof["status"] for proof in findings["prove.denial"]} == {"fault"}
    assert all("install claude" in proof["mend"] for proof in findings["prove.denial"])


def test_a_hook_whose_answer_does_not_arrive_is_no_proof(home: Path, desk: PlainDesk) -> None:
    install(home, "gemini", desk.address)
    path = settings_of(home, "gemini")
    text = path.read_text(encoding="utf-8")
    assert "; echo" in text
    path.write_text(text.replace("; echo", " > /dev/null; echo"), encoding="utf-8")
    code, findings = proved(home, "gemini")
    assert code == 1
    assert {proof["status"] for proof in findings["prove.denial"]} == {"fault"}


def test_where_nothing_is_hooked_it_says_so(home: Path) -> None:
    code, findings = proved(home, "claude")
    assert code == 1
    assert findings["hook.installed"][0]["status"] == "fault"
    assert "install claude" in findings["hook.installed"][0]["mend"]


@pytest.mark.parametrize("agent", SENDS)
def test_hooks_that_the_agent_sends_itself_are_proved_too(agent: str, home: Path) -> None:
    token = home / "token"
    token.write_text("a" * 40, encoding="utf-8")
    token.chmod(0o600)
    with PlainDesk("--http", "127.0.0.1:0", "--token-file", str(token)) as desk:
        url = desk.wait_for(r"http://127\.0\.0\.1:\d+", again=True).group(0)
        options = ("--url", url, "--server", desk.address)
        if agent == "claude":
            options += ("--transport", "http")
        else:
            options += ("--token-file", str(token))
        crabhook(home, "install", agent, *options).check_returncode()
        if agent == "claude":
            path = settings_of(home, agent)
            settings = json.loads(path.read_text(encoding="utf-8"))
            settings["env"] = {"CRABHOOK_TOKEN": "a" * 40}
            path.write_text(json.dumps(settings), encoding="utf-8")
        _, findings = proved(home, agent)
        proofs = findings["prove.denial"]
        assert proofs
        assert {proof["status"] for proof in proofs} == {"ok"}, proofs
        assert not any("#" in line for line in desk.said)


def test_a_provider_for_frameworks_is_proved_too(home: Path) -> None:
    with HttpDesk() as desk:
        before = desk.record()
        ran = crabhook(home, "prove", "--aap", f"{desk.url}/aap", CRABHOOK_TOKEN=desk.token)
        assert ran.returncode == 0, ran.stdout
        assert "The provider denied the marked call. It reached nobody" in ran.stdout
        assert desk.record() == before
