"""The agents' words, for the floors that know no agent (the rules and the screens), united."""

from collections.abc import Mapping
from functools import cache

from crabhook.datatypes import frozen
from crabhook.model.event import Event
from crabhook.platforms import HOOKED, PLATFORMS
from crabhook.platforms.event_table import Phase


@frozen
class Vocabulary:
    """The tools of all agents, and their files and programs.

    `aliases`: agents' names for Claude Code's tools. `titles`: the agents' full names. `owners`:
    the agents that have a tool of each name. `parts`: the events about a part of a call.
    `questions` and `plans`: tools that ask a person, or present a plan. `path_keys`: the input with
    a tool's path, by the tool and then by the agent. Agents differ in the inputs of tools with one
    name.
    `loosening`: inputs that ask for more than the sandbox. `settings`, `credentials`: path
    patterns; `commands` change the settings. `programs` start the agents.
    `hooked`: the agents that hooks can be installed into.
    """

    aliases: Mapping[str, str]
    titles: Mapping[str, str]
    owners: Mapping[str, tuple[str, ...]]
    parts: frozenset[str]
    questions: frozenset[str]
    plans: frozenset[str]
    path_keys: Mapping[str, Mapping[str, str]]
    loosening: frozenset[str]
    settings: tuple[str, ...]
    credentials: tuple[str, ...]
    commands: tuple[str, ...]
    programs: tuple[str, ...]
    hooked: tuple[str, ...]


@cache  # asked several times a call; who registers another agent clears it
def vocabulary() -> Vocabulary:
    """Return the words of the agents that are registered."""
    platforms = list(PLATFORMS.values())
    tools = [platform.tools for platform in platforms]
    return Vocabulary(
        aliases={own: name for tools_of in tools for own, name in tools_of.aliases.items()},
        titles={platform.name: platform.title for platform in platforms},
        owners={
            own: tuple(agent.name for agent in platforms if own in agent.tools.aliases)
            for platform in platforms
            for own in platform.tools.aliases
        },
        parts=frozenset(
            name
            for platform in platforms
            for name, row in platform.events.items()
            if row.phase is Phase.PART
        ),
        questions=frozenset[str]().union(*(tools_of.questions for tools_of in tools)),
        plans=frozenset[str]().union(*(tools_of.plans for tools_of in tools)),
        path_keys={
            tool: {
                agent.name: agent.tools.path_keys[tool]
                for agent in platforms
                if tool in agent.tools.path_keys
            }
            for tools_of in tools
            for tool in tools_of.path_keys
        },
        loosening=frozenset[str]().union(*(tools_of.loosening for tools_of in tools)),
        settings=tuple(path for tools_of in tools for path in tools_of.settings.split()),
        credentials=tuple(path for tools_of in tools for path in tools_of.credentials.split()),
        commands=tuple(command for tools_of in tools for command in tools_of.commands),
        programs=tuple(platform.program for platform in platforms if platform.program),
        hooked=tuple(HOOKED),
    )


def folder_keys(tool: str, agent: str) -> tuple[str, ...]:
    """Return the inputs that say where a command of an agent's tool runs.

    The tool's own name tells the agent, where only other agents have such a tool; where several of
    them have it, each of their inputs counts.
    """
    owners = vocabulary().owners.get(tool, ())
    agents = (agent,) if agent in owners or not owners else owners
    platforms = (PLATFORMS[name] for name in agents if name in PLATFORMS)
    return tuple(dict.fromkeys(key for platform in platforms for key in platform.tools.folder_keys))


def path_key(tool: str, *agents: str) -> str:
    """Return the input that holds a path, of a tool of the first of these agents that has it.

    It is another agent's of this name where none of them has.
    """
    keys = vocabulary().path_keys.get(tool, {})
    return next((keys[agent] for agent in (*agents, *keys) if agent in keys), "")


def plan_folder(event: Event) -> str:
    """Return the folder of plan files, of an event before a call in plan mode; else nothing."""
    return PLATFORMS[event.platform].plan_folder(event) if event.platform in PLATFORMS else ""
