"""The proof by a marked call: each hook that decides a call is run as its agent would run it.

Nothing but the server's denial of this very call, in the agent's words, shows that a denial holds.
The call reaches no person and no record (crabhook.model.marked_call). An older server would take it
for a call of an agent, so it is not sent there.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from secrets import token_hex
from time import monotonic
from typing import TypeAlias

from crabhook.datatypes import frozen
from crabhook.doctor.checks import installed, server
from crabhook.doctor.checks.server import asking
from crabhook.doctor.entry import HookEntry
from crabhook.doctor.facts import Case, InspectedSettings
from crabhook.doctor.finding import FAULT, OK, Finding, crabhook_command, make_finding
from crabhook.doctor.processes import ProgramError, ask, posted, run
from crabhook.hook import Unanswered
from crabhook.hook.failover import listed
from crabhook.hook.fallback import fall_back
from crabhook.hook.signed import NOBODY_SIGNED
from crabhook.hook.wire import WireReply
from crabhook.model.card import Stance
from crabhook.model.decision import Reply
from crabhook.model.errors import PayloadError
from crabhook.model.json_source import parse
from crabhook.model.marked_call import denial, marked_call
from crabhook.platforms.sending import STANCE, TOKEN
from crabhook.present.phrases import joined

WITHIN = 30.0  # seconds that one hook may take
_LONGEST = 200  # letters of what a hook printed
NO_SERVER = ("server.answers", "server.http", "provider.answers")
"""The checks whose fault is that no server takes calls in."""

PROOFS = ("prove.denial", "prove.provider")

_FIRST = (
    installed.readable,
    installed.installed,
    installed.current,
    installed.switched_on,
    installed.permitted,
    installed.environment,
    server.answers,
    server.takes,
)
"""The checks that say why a proof fails, and what mends it."""

Printed: TypeAlias = tuple[object, str, int]
"""A hook's standard output as JSON, its standard error, and its exit code."""


@frozen
class _Proof:
    """A marked call of one entry."""

    case: Case
    settings: InspectedSettings
    entry: HookEntry
    mark: str

    @property
    def payload(self) -> bytes:
        """The input of the hook."""
        return marked_call(self.entry.event, str(self.case.wish.project), self.mark)

    @property
    def expected(self) -> Printed:
        """What the hook prints if the server denies the call; raises PayloadError."""
        agent = self.case.agent
        reply = agent.write(agent.read(self.payload), denial(self.mark))
        if self.entry.options.team:
            return self._in_fixed_words(reply)
        if self.entry.url and agent.sends is not None:
            return _read(agent.sends.body(reply).decode()), "", 0
        return _read(reply.stdout.decode()), reply.stderr, reply.exit_code

    def _in_fixed_words(self, reply: Reply) -> Printed:
        """Return what a strict hook prints for a denial that nobody signed, as the server's own."""
        unsigned = WireReply(reply.stdout, reply.stderr.encode(), reply.exit_code)
        unanswered = Unanswered("unsigned", NOBODY_SIGNED, unsigned=unsigned)
        fixed = fall_back(self.entry.options, self.payload, unanswered)
        return _read(fixed.stdout.decode()), fixed.stderr.decode(), fixed.exit_code

    @property
    def is_one(self) -> bool:
        """Whether a denial of this call says anything: silence would prove nothing."""
        try:
            return self.expected != (None, "", 0)
        except PayloadError:
            return True  # which the outcome tells

    def sent(self) -> Printed:
        """Run the hook as the agent would; return what it printed. Raises ProgramError."""
        if self.entry.url:
            return _read(_posted(self.case, self.entry, self.payload)), "", 0
        ran = run(
            _words(self.entry),
            seconds=min(WITHIN, self.case.patience(self.entry)),
            environment=_environment(self.case),
            folder=self.case.wish.project,
            stdin=self.payload,
        )
        return _read(ran.stdout), ran.stderr, ran.code


def prove(case: Case) -> Iterator[Finding]:
    """Send a marked call through each hook of an agent that decides a call; yield what came of it.

    What keeps the hooks from being asked comes first, with what mends it.
    """
    for finding in _proved(case):
        yield replace(finding, agent=case.agent.name)


def _proved(case: Case) -> Iterator[Finding]:
    yield from (finding for look in _FIRST for finding in look(case) if finding.status is not OK)
    for settings in case.hooked:
        deciding = [entry for entry in settings.ours if entry.event in case.agent.decided]
        yield from _stances(case, deciding)
        proofs = (_Proof(case, settings, entry, token_hex(16)) for entry in deciding)
        yield from (_outcome(proof) for proof in proofs if proof.is_one)


def exit_code(findings: Sequence[Finding]) -> int:
    """Return 0 where every denial held, 7 without a server, else 1 on a fault and 2 in doubt."""
    faults = {finding.id for finding in findings if finding.status is FAULT}
    if faults.intersection(NO_SERVER):
        return 7
    proofs = [finding.status for finding in findings if finding.id in PROOFS]
    in_doubt = not proofs or any(status is not OK for status in proofs)
    return 1 if faults else 2 if in_doubt else 0


def _stances(case: Case, deciding: Sequence[HookEntry]) -> Iterator[Finding]:
    """Yield a fault where the hooks of one file are not of one stance, or of one unknown there."""
    stances = {entry.event: _stance(entry) for entry in deciding}
    possible = set(map(str, case.agent.settings.stances))
    if len(set(stances.values())) > 1 or not set(stances.values()) <= possible:
        which = ", ".join(f"{event} as a {stance}" for event, stance in stances.items())
        mend = case.reinstalling(deciding[0])
        yield make_finding("prove.stance", "mixed", mend, which=which, title=case.title)


def _outcome(proof: _Proof) -> Finding:
    case, entry = proof.case, proof.entry
    words = {"event": entry.event, "path": proof.settings.path, "title": case.title}
    again = crabhook_command("prove", case.agent.name, "--trust-project")
    if not case.may_start(entry) or not (case.may_ask(entry) or entry.url):
        return make_finding("prove.denial", "unasked", again, **words)
    listening = _listening(entry)
    if older := next((address for address, proves in listening if not proves), ""):
        return make_finding("prove.denial", "older", **words, server=older)
    began = monotonic()
    try:
        expected, printed = proof.expected, proof.sent()
    except (ProgramError, PayloadError) as error:
        return make_finding("prove.denial", "fails", case.reinstalling(entry), **words, error=error)
    took = 1000 * (monotonic() - began)
    if printed == expected:
        figures = {"took_ms": round(took, 1)}
        fine = {"event": entry.event, "stance": _stance(entry), "took": took}
        return make_finding("prove.denial", "fine", "", figures, **fine)
    output, stderr, code = printed
    written = json.dumps(output)[:_LONGEST] if output is not None else "no output"
    beside = " ".join(stderr.split())[:_LONGEST]
    heard = joined(f"exit code {code}", written, beside)
    failed = {"event": entry.event, "title": case.title, "printed": heard}
    closed = entry.given("--when-unreachable") == "deny" and (output is not None or code != 0)
    way = "closed" if closed else "silent" if output in (None, {}) and not code else "other"
    mend = case.reinstalling(entry) if listening or entry.url else ""  # else it lacks a server
    return make_finding("prove.denial", way, mend, **failed)


def _listening(entry: HookEntry) -> Sequence[tuple[str, bool]]:
    """Return the servers of an entry that take calls in, and whether each knows marked calls."""
    addresses = listed(entry.options.server) if not entry.url else ()
    answers = [(address, ask(asking(entry, address))) for address in addresses]
    return [(address, answer.proves) for address, answer in answers if answer.there]


def _stance(entry: HookEntry) -> str:
    """Return the stance in which an entry asks."""
    return str(Stance.COMPANION if "--companion" in entry.arguments else Stance.GATE)


def _words(entry: HookEntry) -> Sequence[str]:
    """Return what the agent starts: a program with its arguments, or a shell with a line."""
    line = entry.handler.get("command")
    if isinstance(entry.handler.get("args"), list) or not isinstance(line, str):
        return entry.command
    return ("/bin/sh", "-c", line)


def _environment(case: Case) -> Mapping[str, str]:
    """Return the environment of the agent's hooks: ours, and what its settings add."""
    environment = dict(os.environ)
    for settings in case.readable if case.agent.protocol.sets_environment else ():
        added = parse(settings.text).member("env")
        values = added.value if added and isinstance(added.value, dict) else {}
        environment |= {key: value for key, value in values.items() if isinstance(value, str)}
    return environment


def _posted(case: Case, entry: HookEntry, payload: bytes) -> str:
    """Send a payload as the agent sends a hook by HTTP; return the body. Raises ProgramError."""
    headers = entry.handler.get("headers")
    token = server.token_of(case, entry)
    named = headers if isinstance(headers, dict) else {}
    sent = {"Authorization": f"Bearer {token}", STANCE: _stance(entry)}
    sent |= {
        name: value.replace(f"${TOKEN}", token)
        for name, value in named.items()
        if isinstance(value, str)
    }
    status, text = posted(entry.url, payload, sent, WITHIN)
    if status != 200:  # agents read a decision of no other
        raise ProgramError(f"{entry.url}: status {status}: {text.strip()[:_LONGEST]}")
    return text


def _read(output: str) -> object:
    """Return a hook's output as JSON, None for nothing, and the text itself where it is no JSON."""
    with suppress(ValueError):
        return json.loads(output) if output.strip() else None
    return output
