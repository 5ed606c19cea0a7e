"""Whether the agent waits as long as its hooks do."""

import pytest

from crabhook.doctor.checks.installed import patient
from crabhook.doctor.finding import Status
from tests.unit.doctor.home import Home, is_well

FILES = {
    "claude": (".claude/settings.json", "PreToolUse", 120),
    "gemini": (".gemini/settings.json", "BeforeTool", 120_000),
    "codex": (".codex/hooks.json", "PreToolUse", 120),
    "qwen": (".qwen/settings.json", "PreToolUse", 120_000),
    "copilot": (".copilot/hooks/crabhook.json", "PreToolUse", 120),
}


def test_where_nothing_is_hooked_there_is_nothing_to_say(home: Home) -> None:
    assert list(patient(home.case())) == []


@pytest.mark.process
@pytest.mark.parametrize("agent", FILES)
def test_a_timeout_that_is_too_short_in_the_agents_unit_is_mended_by_installing(
    home: Home, agent: str
) -> None:
    file, event, timeout = FILES[agent]
    gate = () if agent == "gemini" else ("--gate",)
    home.install("--wait", "60", *gate, agent=agent)
    (finding,) = patient(home.case(agent))
    assert is_well(finding)
    assert finding.figures == {"timeout_s": 120, "wait_s": 90}

    def shorten(settings: dict[str, dict[str, list[dict[str, list[dict[str, int]]]]]]) -> None:
        (handler,) = settings["hooks"][event][0]["hooks"]
        (key,) = handler.keys() & {"timeout", "timeoutSec"}
        assert handler[key] == timeout
        handler[key] = timeout * 3 // 4

    home.change(shorten, home.folder / file)
    (finding,) = patient(home.case(agent))
    assert (finding.status, finding.what.startswith(event)) == (Status.FAULT, True)
    assert "waits 90 s for a hook that waits 90 s" in finding.what
    home.mend(finding)
    assert is_well(next(patient(home.case(agent))))


@pytest.mark.process
def test_no_timeout_is_the_agents_own_and_too_short_for_a_person(home: Home) -> None:
    home.install("--gate")
    home.change(lambda it: it["hooks"]["PreToolUse"][0]["hooks"][0].pop("timeout"))
    finding = home.look(patient)
    assert "waits 600 s for a hook that waits 86430 s" in finding.what
    home.mend(finding)
    assert is_well(home.look(patient))


@pytest.mark.process
def test_a_server_that_lets_questions_stand_longer_is_told_and_installing_mends(
    home: Home,
) -> None:
    home.install("--gate", "--wait", "60")
    home.write(home.config / "settings.toml", "[server]\nwait = 7200\n")
    finding = home.look(patient)
    assert finding.status is Status.WARNING
    home.mend(finding)
    found = home.look(patient)
    assert (is_well(found), found.figures["wait_s"]) == (True, 7230)


@pytest.mark.parametrize("text", ["[server]\nwait = 30\n", "", "not toml"])
def test_a_server_that_waits_less_or_says_nothing_is_no_matter(home: Home, text: str) -> None:
    home.install("--gate", "--wait", "60")
    home.write(home.config / "settings.toml", text)
    assert is_well(home.look(patient))
