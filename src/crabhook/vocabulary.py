"""The agents' words, for the floors that know no agent (the rules and the screens), united."""

from collections.abc import Mapping
from functools import cache

from crabhook.datatypes import frozen
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.platforms.rows import Phase


@frozen
class Vocabulary:
    """The tools of all agents, and their files and programs.

    `aliases`: agents' names for Claude Code's tools. `titles`: the agents' full names. `owners`:
    the agent of each name. `parts`: the events about a part of a call. `questions` and `plans`:
    tools that ask a person, or present a plan. `path_keys`: the input with a tool's path.
    `loosening`: inputs that ask for more than the sandbox. `settings`, `credentials`: path
    patterns; `commands` change the settings. `programs` start the agents.
    """

    aliases: Mapping[str, str]
    titles: Mapping[str, str]
    owners: Mapping[str, str]
    parts: frozenset[str]
    questions: frozenset[str]
    plans: frozenset[str]
    path_keys: Mapping[str, str]
    loosening: frozenset[str]
    settings: tuple[str, ...]
    credentials: tuple[str, ...]
    commands: tuple[str, ...]
    programs: tuple[str, ...]


@cache  # asked several times a call; who registers another agent clears it
def vocabulary() -> Vocabulary:
    """Return the words of the agents that are registered."""
    platforms = list(PLATFORMS.values())
    tools = [one.tools for one in platforms]
    return Vocabulary(
        aliases={own: name for one in tools for own, name in one.aliases.items()},
        titles={one.name: one.title for one in platforms},
        owners={own: one.name for one in platforms for own in one.tools.aliases},
        parts=frozenset(
            name for one in platforms for name, row in one.events.items() if row.phase is Phase.PART
        ),
        questions=frozenset[str]().union(*(one.questions for one in tools)),
        plans=frozenset[str]().union(*(one.plans for one in tools)),
        path_keys={tool: key for one in tools for tool, key in one.path_keys.items()},
        loosening=frozenset[str]().union(*(one.loosening for one in tools)),
        settings=tuple(path for one in tools for path in one.settings.split()),
        credentials=tuple(path for one in tools for path in one.credentials.split()),
        commands=tuple(command for one in tools for command in one.commands),
        programs=tuple(one.program for one in platforms),
    )


def folder_keys(agent: str) -> tuple[str, ...]:
    """Return the inputs that say where a command of an agent runs."""
    return PLATFORMS[agent].tools.folder_keys if agent in PLATFORMS else ()


def plan_folder(event: Event) -> str:
    """Return the folder of plan files, of an event before a call in plan mode; else nothing."""
    return PLATFORMS[event.platform].plan_folder(event) if event.platform in PLATFORMS else ""
