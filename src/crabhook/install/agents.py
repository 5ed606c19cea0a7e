"""The agents crabhook can be installed into, by the name a person types."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from crabhook.install import claude, codex, gemini, hooks, places
from crabhook.install.errors import InstallError
from crabhook.install.hooks import Group, Installation
from crabhook.install.places import Scope
from crabhook.install.transport import Transport
from crabhook.model.request import Stance


@dataclass(frozen=True, slots=True)
class Agent:
    """How crabhook is installed into one agent.

    `title` is its full name, `program` what starts it.  `stances`: those it
    can be hooked in, the usual one first, each with what it means there.
    `scopes`: whom its settings can be for.  `groups`, `path` and `switches`
    say what is written, where, and which settings there keep it from
    running; `troubles`, which other files beside it do.  `unreachable`: what
    happens where no server can be reached.  `cautions`: what else its user
    has to know.  `transports`: the ways its hooks can go, the usual one first.
    """

    title: str
    program: str
    stances: Mapping[Stance, str]
    scopes: tuple[Scope, ...]
    groups: Callable[[Installation], dict[str, Group]]
    path: Callable[[Scope, Path, Mapping[str, str]], Path]
    switches: Callable[[str], Iterator[str]]
    unreachable: str
    cautions: tuple[str, ...] = ()
    troubles: Callable[[Path], Iterator[str]] = lambda _: iter(())
    transports: tuple[Transport, ...] = (Transport.COMMAND,)

    @property
    def stance(self) -> Stance:
        """The stance that is meant where none is named."""
        return next(iter(self.stances))


AGENTS: Mapping[str, Agent] = {
    "claude": Agent(
        title="Claude Code",
        program="claude",
        stances={
            Stance.COMPANION: "Companion: Claude Code asks its own user as always, the operator "
            "may answer too, and the first answer wins.  What your rules deny or want asked is "
            "denied or held in every mode.",
            Stance.GATE: "Gate: every tool call is held for the operator before Claude Code's own "
            "rules see it.",
        },
        scopes=tuple(Scope),
        groups=hooks.groups,
        path=places.settings_path,
        switches=claude.switches,
        unreachable="If no server can be reached, Claude Code goes on by its own rules.",
        transports=tuple(Transport),
    ),
    "gemini": Agent(
        title="Gemini CLI",
        program="gemini",
        stances={
            Stance.GATE: "Gate: every tool call is held for the operator before Gemini CLI's own "
            "policy sees it.",
        },
        scopes=(Scope.USER, Scope.PROJECT),
        groups=gemini.groups,
        path=gemini.settings_path,
        switches=gemini.switches,
        unreachable="If no server can be reached, Gemini CLI goes on by its own policy, and in "
        "yolo mode every call runs; --fail-closed denies them instead.",
        cautions=gemini.CAUTIONS,
    ),
    "codex": Agent(
        title="Codex",
        program="codex",
        stances={
            Stance.COMPANION: "Companion: what Codex would ask its own user is held for the "
            "operator first; Codex's dialog comes up when the operator passes.  What your rules "
            "deny or want asked is denied or held under every policy.",
            Stance.GATE: "Gate: every tool call is held for the operator before Codex's own rules "
            "see it, and what is allowed there is not asked again.",
        },
        scopes=(Scope.USER, Scope.PROJECT),
        groups=codex.groups,
        path=codex.settings_path,
        switches=lambda _: iter(()),
        unreachable="If no server can be reached, Codex goes on by its own rules.",
        cautions=codex.CAUTIONS,
        troubles=codex.troubles,
    ),
}


def known(agent: str | None) -> Agent:
    """Return what is known of `agent`.  Raises InstallError, naming those that exist."""
    if agent is not None and agent in AGENTS:
        return AGENTS[agent]
    choice = ", ".join(f"{name} ({one.title})" for name, one in AGENTS.items())
    problem = f"there is no agent {agent!r}" if agent else "no agent was named"
    raise InstallError(f"{problem}; crabhook can be installed into: {choice}")
