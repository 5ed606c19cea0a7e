"""The agents crabhook can be installed into, by the name a person types."""

from crabhook.install.errors import InstallError

AGENTS = {"claude": "Claude Code"}


def known(agent: str | None) -> str:
    """Return the full name of `agent`.  Raises InstallError, naming those that exist."""
    if agent in AGENTS:
        return AGENTS[agent]
    choice = ", ".join(f"{name} ({title})" for name, title in AGENTS.items())
    problem = f"there is no agent {agent!r}" if agent else "no agent was named"
    raise InstallError(f"{problem}; crabhook can be installed into: {choice}")
