"""See whether crabhook is in order for an agent, and which command mends it."""

import argparse
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from crabhook import config
from crabhook.cli.commands import declaring
from crabhook.doctor.checks.installed import strict_hooks_of
from crabhook.doctor.examination import cases, examine
from crabhook.doctor.facts import DoctorTask
from crabhook.doctor.finding import Finding, Status, as_value, exit_code, heading_of, lines, summary
from crabhook.doctor.live_check import prove
from crabhook.platforms import HOOKED
from crabhook.server.unix_socket import pages_in, read_status
from crabhook.team.folder import Folder
from crabhook.ui.console import say, say_json

DESK = "desk"
"""What is named to look at this device's keys for a desk elsewhere, and the way to its server."""

WEB = "web"
"""What is named to look at the page of the server here: what a phone would miss."""

_WIDEST = 110  # columns; longer lines are hard to read


add_arguments = declaring(
    "doctor", {"agents": (*HOOKED, DESK, WEB), "named": ", ".join((*HOOKED, DESK, WEB))}
)


def run(arguments: argparse.Namespace) -> int:
    """Look; return 0 where nothing is wrong, 1 on a fault, 2 where something was not seen."""
    if arguments.program and not arguments.agent:
        sys.stderr.write("crabhook doctor: --program needs the agent's name before it\n")
        return 2
    findings: list[Finding] = []
    try:
        findings.extend(shown(_examined(arguments), as_json=arguments.json))
        if arguments.json:
            say_json(as_value(findings))
        else:
            say("")
            say(summary(findings))
    except BrokenPipeError:  # the reader needs no more
        sys.stderr.close()
    return exit_code(findings)


def _examined(arguments: argparse.Namespace) -> Iterator[Finding]:
    if arguments.agent == DESK:
        from crabhook.doctor.checks.desk import examine_desks  # needs the extra

        here = cases(DoctorTask(arguments.project or Path.cwd()), os.environ)
        yield from examine_desks(config.config_folder(), strict_hooks_of(here))
        return
    if arguments.agent == WEB:
        from crabhook.app.running import socket_of  # as for a desk
        from crabhook.doctor.checks.page import examine_pages, shared_phones

        pages = pages_in(read_status(socket_of(None).path))
        yield from examine_pages(pages)
        if pages:
            yield from shared_phones(config.record_place(), Folder(config.team_folder()))
        return
    wish = DoctorTask(
        project=arguments.project or Path.cwd(),
        agent=arguments.agent,
        program=arguments.program.absolute() if arguments.program else None,
        quick=arguments.quick,
        trusting=arguments.trust_project,
    )
    to_examine = cases(wish, os.environ)
    yield from examine(to_examine, wish)
    if arguments.live:
        yield from (prove(case) for case in to_examine if case.hooked or case.wanted)


def shown(findings: Iterable[Finding], *, as_json: bool) -> Iterator[Finding]:
    """Show each finding as it is made, since some take their time; pass it on."""
    width = min(shutil.get_terminal_size((_WIDEST, 0)).columns, _WIDEST)
    heading = ""
    for finding in findings:
        if not as_json:
            if heading != heading_of(finding):
                if heading:
                    say("")
                heading = heading_of(finding)
                say(heading)
            for line in lines(finding, width):
                say(line, warning=finding.status is Status.FAULT)
            sys.stdout.flush()
        yield finding
