"""Real agent frameworks ask the desk, by the lines of docs/how-to/frameworks.md, and pausing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import frameworks
from tests.support.frameworks import FrameworkRun
from tests.support.http_desk import HttpDesk

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.process, pytest.mark.thorough]

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "frameworks.md"
URL = "http://127.0.0.1:7780/aap"
NAMES = ("langgraph", "pydantic_ai", "openai_agents")
DENIED = "Their note: a manager decides"


@pytest.fixture(autouse=True)
def _installed() -> None:
    frameworks.insist()


RULES = """
[[rule]]
verdict = "allow"
match = "allowed"

[[rule]]
verdict = "deny"
match = "denied"
note = "not on Sundays"
"""


@pytest.fixture(scope="module")
def one_for_all() -> Iterator[HttpDesk]:
    desk = HttpDesk()
    desk.write_rules(RULES)
    with desk:
        yield desk


def page_lines(name: str, url: str) -> str:
    """The page's own lines for a framework, with another address."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = (each for each in blocks if f"agentapprovalprotocol.{name} " in each)
    assert URL in block
    return str(block).replace(URL, url)


@pytest.mark.parametrize("pauses", [False, True], ids=["waits", "pauses"])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_allowed_runs_once_and_a_denial_reaches_the_model(
    one_for_all: HttpDesk, name: str, pauses: bool
) -> None:
    desk = one_for_all.anew()
    url = f"{desk.url}/aap"
    before = len(desk.record())
    run = FrameworkRun(name, url, desk.token, "" if pauses else page_lines(name, url))
    desk.say(f"{desk.card('refund')} allow")
    desk.say(f"{desk.card('refund')} deny a manager decides")
    outcome = run.outcome()
    assert outcome["ran"] == [1]
    assert outcome["read"][0] == "refunded 1"
    assert DENIED in outcome["read"][1]
    told = [entry for entry in desk.record()[before:] if entry["platform"] == "aap"]
    kinds = [entry["kind"] for entry in told]
    assert (kinds.count("asked"), kinds.count("decided"), kinds.count("consumed")) == (2, 2, 1)
    (result,) = (entry["body"] for entry in told if entry["kind"] == "event")
    assert (result["event"], result["call"]["verdict"]) == ("aap.succeeded", "allow")
    (asked, _) = (entry["body"]["fields"] for entry in told if entry["kind"] == "asked")
    assert asked["agent_reasoning"] == "It was charged twice."
    assert asked["context"]["framework"] == name.replace("_", "-")


def test_the_packages_own_gate_finds_the_provider_as_it_expects(one_for_all: HttpDesk) -> None:
    desk = one_for_all.anew()
    laws = frameworks.gate(f"{desk.url}/aap", desk.token)
    assert len(laws) == 10
