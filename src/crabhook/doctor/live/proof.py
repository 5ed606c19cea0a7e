"""The proof itself: the real agent does what our server allows, and not what it denies."""

import shlex
from time import monotonic

from crabhook.doctor.facts import Case
from crabhook.doctor.finding import Finding, Status
from crabhook.doctor.live.model import ScriptedModel
from crabhook.doctor.live.stage import ALLOWED, DENIED, REASON, Stage, stage
from crabhook.doctor.processes import ProgramError, Ran, run

WITHIN = 60.0  # seconds for the whole proof
_ID = "live.denial"

COMMANDS = tuple(f"touch {name}" for name in (ALLOWED, DENIED))


def prove(case: Case) -> Finding:
    """Start the agent and see: an allowed call happens, a denied one does not, and it hears why."""
    if case.program is None:
        what = f"there is no `{case.agent.program}` on PATH to be started"
        advice = "name its program with --program"
        return Finding(_ID, Status.UNKNOWN, what, advice=advice, agent=case.agent.name)
    agent, until = case.agent.stage, monotonic() + WITHIN
    try:
        with stage(case.agent.name) as one, ScriptedModel(agent, COMMANDS) as model:
            agent.prepare(one, model.address)
            ran = run(
                agent.command(case.program, "Make two files."),
                seconds=max(1.0, until - monotonic()),
                environment={**one.environment, **agent.environment(model.address)},
                folder=one.project,
            )
            return _judged(case, one, model, ran)
    except ProgramError as error:
        return Finding(_ID, Status.UNKNOWN, f"{error}", agent=case.agent.name)


def _judged(case: Case, one: Stage, model: ScriptedModel, ran: Ran) -> Finding:
    if model.asked < len(COMMANDS) + 1:
        what = f"{case.title} asked its model {model.asked} times of {len(COMMANDS) + 1}"
        words = f"{what}, and ended with {ran.code}: {ran.last_words}"
        return Finding(_ID, Status.UNKNOWN, words, agent=case.agent.name)
    told = model.heard[-1] if model.heard else ""
    wrong = [
        words
        for so, words in (
            ((one.project / DENIED).exists(), "a call was made that the server had denied"),
            (REASON not in told, f"the model was not told why: {shlex.quote(told[:200])}"),
            (not (one.project / ALLOWED).exists(), "a call was not made that it had allowed"),
        )
        if so
    ]
    if wrong:
        means = f"this {case.title} does not heed the hook as it should: do not rely on it"
        return Finding(_ID, Status.FAULT, "; ".join(wrong), means, agent=case.agent.name)
    what = (
        f"{case.title} ran against a scripted model: the call that a rule allowed was made, the "
        f"one that a rule denied was not, and the model read: {REASON}"
    )
    return Finding(_ID, Status.OK, what, agent=case.agent.name)
