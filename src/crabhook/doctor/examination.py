"""What is looked at, in order; the whole examination."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from crabhook.doctor import commands
from crabhook.doctor.checks import conflicts, installed, program, record, server, surroundings
from crabhook.doctor.facts import Case, Machine, Wish, case, machine
from crabhook.doctor.finding import Finding, told
from crabhook.platforms import PLATFORMS

OF_AN_AGENT: Sequence[Callable[[Case], Iterator[Finding]]] = (
    installed.known_version,
    installed.readable,
    installed.installed,
    installed.current,
    conflicts.switched_on,
    conflicts.permitted,
    conflicts.environment,
    conflicts.alone,
    program.program_runs,
    installed.patient,
    server.answers,
    server.private_socket,
    server.private_token,
    server.takes,
    program.fast,
)

OF_THE_MACHINE: Sequence[Callable[[Machine], Iterator[Finding]]] = (
    surroundings.settings,
    surroundings.rules,
    record.writable,
    record.room,
    record.whole,
    surroundings.own,
    surroundings.no_root,
)


def cases(wish: Wish, environment: Mapping[str, str]) -> Sequence[Case]:
    """Return the agents to look at: the one that is named, else those that are here or hooked.

    Where none is hooked the first that is here is looked at as if it were named.
    """
    if wish.agent is not None:
        return (replace(case(PLATFORMS[wish.agent], wish, environment), wanted=True),)
    found = [case(agent, wish, environment) for agent in PLATFORMS.values()]
    here = [one for one in found if one.program or one.hooked or one.unreadable]
    if here and not any(one.hooked for one in here):
        here[0] = replace(here[0], wanted=True)
    return tuple(here)


def examine(cases: Sequence[Case], wish: Wish) -> Iterator[Finding]:
    """Look at everything; yield each finding as it is made."""
    for one in cases:
        for look in OF_AN_AGENT:
            yield from (replace(finding, agent=one.agent.name) for finding in look(one))
    if not cases:
        names = ", ".join(f"{one.title} (`{one.program}`)" for one in PLATFORMS.values())
        yield told("hook.installed", "nobody", commands.crabhook("demo"), names=names)
    here = machine(wish, cases)
    for check in OF_THE_MACHINE:
        yield from check(here)
