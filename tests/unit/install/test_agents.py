"""An agent goes by its name."""

import pytest

from crabhook.install.agents import AGENTS, known
from crabhook.install.errors import InstallError


def test_a_known_agent_has_its_full_name() -> None:
    assert known("claude") == "Claude Code"


@pytest.mark.parametrize("name", ["cluade", "", None])
def test_an_unknown_agent_is_refused_with_those_that_exist(name: str | None) -> None:
    with pytest.raises(InstallError) as caught:
        known(name)
    assert all(agent in str(caught.value) for agent in AGENTS)
