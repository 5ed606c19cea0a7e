"""An agent goes by its name."""

import pytest

from crabhook.install.entries import known
from crabhook.model.errors import InstallError
from crabhook.platforms import HOOKED


@pytest.mark.parametrize(
    ("name", "title"), [("claude", "Claude Code"), ("gemini", "Gemini CLI"), ("codex", "Codex")]
)
def test_a_known_agent_has_its_full_name(name: str, title: str) -> None:
    assert known(name).title == title


@pytest.mark.parametrize("name", HOOKED)
def test_every_agent_is_a_platform_the_server_knows(name: str) -> None:
    assert name in HOOKED
    assert HOOKED[name].settings.stance in HOOKED[name].settings.stances


@pytest.mark.parametrize("name", ["cluade", "", None])
def test_an_unknown_agent_is_refused_with_those_that_exist(name: str | None) -> None:
    with pytest.raises(InstallError) as caught:
        known(name)
    assert all(agent in str(caught.value) for agent in HOOKED)
