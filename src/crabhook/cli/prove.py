"""Send a harmless call through each installed hook, and see it denied."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from crabhook.cli.commands import declaring
from crabhook.cli.doctor import shown
from crabhook.doctor.examination import cases
from crabhook.doctor.facts import DoctorTask
from crabhook.doctor.finding import OK, Finding, as_value, make_finding, summary
from crabhook.doctor.provider import prove_provider
from crabhook.doctor.proving import exit_code, prove
from crabhook.platforms import HOOKED
from crabhook.ui.console import say, say_json

add_arguments = declaring("prove", {"agents": tuple(HOOKED), "named": ", ".join(HOOKED)})


def run(arguments: argparse.Namespace) -> int:
    """Prove it; return 0 where every denial held, 1 on a fault, 2 in doubt, 7 without a server."""
    proving = iter([prove_provider(arguments.aap)]) if arguments.aap else _hooks(arguments)
    findings: list[Finding] = list(shown(proving, as_json=arguments.json))
    code = exit_code(findings)
    if arguments.json:
        say_json({**as_value(findings), "exit_code": code})
    else:
        proofs = sum(each.id == "prove.denial" and each.status is OK for each in findings)
        hooks = f"{proofs} {'hook' if proofs == 1 else 'hooks'}"
        held = f"{'The provider' if arguments.aap else hooks} denied the marked call"
        say("")
        say(f"{held}. It reached nobody, and is in no record." if code == 0 else summary(findings))
    return code


def _hooks(arguments: argparse.Namespace) -> Iterator[Finding]:
    """Yield what the installed hooks prove; without any, that there is none."""
    wish = DoctorTask(
        project=arguments.project or Path.cwd(),
        agent=arguments.agent,
        trusting=arguments.trust_project,
    )
    every = [case for case in cases(wish, os.environ) if case.hooked or case.wanted]
    yield from (finding for case in every for finding in prove(case))
    if not every:
        yield make_finding("hook.installed", "nobody", names=", ".join(HOOKED))
