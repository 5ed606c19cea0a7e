"""`crabhook log`: read, verify and move the record, beside a running server.

Where this machine has no record but is in a team, `list` and `show` ask the team's server.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from getpass import getuser
from itertools import islice
from pathlib import Path
from socket import gethostname
from time import time
from typing import TYPE_CHECKING, TypeAlias

from crabhook import __version__, config
from crabhook.app.places import receipts, rule_files
from crabhook.cli.arguments import when
from crabhook.cli.commands import actions
from crabhook.cli.past import REPLAYED, run_replay
from crabhook.cli.terminal import about, short
from crabhook.model.actor import HERE, OWNER, Operator
from crabhook.model.errors import CrabhookError
from crabhook.present.safe import safe
from crabhook.store import entries
from crabhook.store.actors import actor_data, actor_in
from crabhook.store.change import happened
from crabhook.store.interface import Batch, History, NoRecordError, Query, StoreError
from crabhook.store.opening import open_history, open_writer
from crabhook.store.record import (
    ORDERS,
    POLICY,
    Cut,
    Head,
    Record,
    RecordKind,
    may_be_by_passkey,
    may_be_signed,
)
from crabhook.store.recorder import id_of
from crabhook.store.strict_allows import StrictAllows
from crabhook.store.verify import (
    ENDS,
    RecordFinding,
    Verified,
    left_open,
    stats,
    verify,
    verify_here,
)
from crabhook.store.writer import head_line, read_head
from crabhook.ui.console import say, say_json

if TYPE_CHECKING:
    from crabhook.store.proofs import Proofs
    from crabhook.store.recorded_past import RecordedPast
    from crabhook.store.signed_decisions import SignedDecisions
    from crabhook.team.membership import Team

ASKED_WIDTH = 50  # letters of a call, before what brought it
LAST = 100  # records shown unless more are asked for
UNREADABLE = 2
"""The exit code where the record cannot be read."""


JSON = "json"
DSSE = "dsse"
FORMATS = (JSON, "ocsf", "cef", "otlp", DSSE)
"""The formats of `log export`; DSSE has signed decisions alone."""

_CHANGES = (
    *(RecordKind.DOCUMENT.value, RecordKind.SETTINGS_CHANGED.value),
    *(RecordKind.TEAM_CHANGED.value, RecordKind.ATTESTED.value),
)
"""The changes of policy that `log list` shows; the rules' own are documents."""

Read: TypeAlias = Callable[[History, argparse.Namespace], int]


def _reads(read: Read) -> Callable[[argparse.Namespace], int]:
    """Return what opens the record and reads it, and ends with 2 where nobody can."""

    def act(arguments: argparse.Namespace) -> int:
        try:
            place = arguments.store or arguments.folder or config.record_place()
            with open_history(place, config.state_folder()) as history:
                return read(history, arguments)
        except BrokenPipeError:
            raise
        except (CrabhookError, OSError, ValueError) as error:
            print(f"crabhook log: {safe(str(error))}", file=sys.stderr)  # noqa: T201 - the output
            return UNREADABLE

    return act


def _reads_or_asks(read: Read, asking: str) -> Callable[[argparse.Namespace], int]:
    """Return what reads the record of this machine, or has the team's server asked."""

    def act(arguments: argparse.Namespace) -> int:
        if _is_elsewhere(arguments):
            from crabhook.cli.verbs import past  # it needs gRPC

            ask: Callable[[argparse.Namespace], int] = getattr(past, asking)
            return ask(arguments)
        return _reads(read)(arguments)

    return act


def _is_elsewhere(arguments: argparse.Namespace) -> bool:
    """Whether the record to read is not on this machine, which is in a team."""
    from crabhook.team.desk_keys import desk_folders  # it needs cryptography

    if arguments.team is not None:
        return True
    if arguments.store or arguments.folder or not any(desk_folders(config.config_folder())):
        return False
    try:
        with open_history(config.record_place(), config.state_folder()):
            return False
    except NoRecordError:
        return True
    except CrabhookError:
        return False


def _list(history: History, arguments: argparse.Namespace) -> int:
    whole = arguments.all_kinds
    query = _query(arguments, () if whole else (*ENDS, *_CHANGES))
    for record in history.find(query):
        if (
            record.kind == RecordKind.DOCUMENT
            and not whole
            and record.data().get("document") in (ORDERS, POLICY)
        ):
            continue  # each order and each change is on record itself
        say_json(_values(record)) if arguments.json else say(_line(record))
    return 0


def _show(history: History, arguments: argparse.Namespace) -> int:
    query = Query(since=arguments.since or "", card=arguments.card)
    empty = True
    for record in history.find(query):
        empty = False
        say_json(_values(record)) if arguments.json else say(_line(record))
    if empty:
        raise StoreError(f"there is no #{arguments.card} on record")
    return 0


def _export(history: History, arguments: argparse.Namespace) -> int:
    records = history.find(_query(arguments))
    if arguments.format == JSON:
        for record in records:
            say_json(_values(record))
        return 0
    if arguments.format == DSSE:
        return _export_signed(history, records)
    from crabhook.export.item import ExportSource, linked
    from crabhook.export.packing import LINES, ExportFormat

    line, key = LINES[ExportFormat(arguments.format)], history.beside().key
    source = ExportSource(gethostname(), __version__, id_of(key).hex() if key else "")
    for item in linked(records, history):
        sys.stdout.write(f"{line(item, source)}\n")  # each of one safe line
    return 0


def _export_signed(history: History, records: Iterable[Record]) -> int:
    """Print the signed decisions, each as an envelope that the team's server signs."""
    from crabhook.export.dsse import EnvelopeSigner, envelopes
    from crabhook.export.item import linked
    from crabhook.store.signed_decisions import signatures_in
    from crabhook.team.certificates import opened, signature_of
    from crabhook.team.folder import Folder, private
    from crabhook.team.membership import fingerprint_of

    folder = Folder(config.team_folder())
    _team_here()  # says what is wrong with it
    key = opened(private(folder.server_key))
    signer = EnvelopeSigner(
        fingerprint_of(private(folder.server)), lambda data: signature_of(key, data)
    )
    for item in linked(filter(may_be_signed, records), history):
        for line in envelopes(item, signatures_in(item.data), signer):
            sys.stdout.write(f"{line}\n")
    return 0


def _stats(history: History, arguments: argparse.Namespace) -> int:
    shares = stats(history.find(_query(arguments, ENDS)))
    if arguments.json:
        say_json(shares.values())
        return 0
    for name, share in (("all", shares.all), *shares.tools.items()):
        by = ", ".join(f"{who} {100 * n / share.number:.0f}%" for who, n in share.by.most_common())
        verdicts = ", ".join(f"{verdict} {n}" for verdict, n in share.verdicts.most_common())
        middle, most = share.percentile(50), share.percentile(90)
        took = "" if middle is None else f", operator's median {middle:.1f} s, p90 {most:.1f} s"
        what = f"{by or '-'}; {verdicts or '-'}{took}"
        say(f"{name or '(no tool)':<14} {share.number:>7}  {what}")
    return 0


def _sessions(history: History, arguments: argparse.Namespace) -> int:
    for agent in history.agents():
        if agent.session.startswith(arguments.session):
            who = f"{agent.agent_type} {agent.agent_id}".strip() or "main"
            span = f"{agent.since[:19]}Z to {agent.until[:19]}Z"
            counts = f"{agent.records} records, {agent.decisions} decisions"
            line = f"{span}  {agent.platform}  {agent.session}  {who}  {counts}"
            say_json(asdict(agent)) if arguments.json else say(line)
    return 0


def _verify(history: History, arguments: argparse.Namespace) -> int:
    heads = list[Head]()
    if path := arguments.head:
        try:
            heads.append(read_head(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise StoreError(f"{path} cannot be read as a head: {error}") from error
    from crabhook.store.recorded_past import RecordedPast

    past, team_files = RecordedPast(), tuple(map(_content, arguments.team_file))
    if team_files:
        _teams(team_files)  # says what is wrong with them
    signatures = _signatures(past, team_files)

    takes = *(each.take for each in signatures), past.take

    def look(record: Record) -> None:
        for take in takes:
            take(record)

    verified = verify_here(history, heads, look=look)
    past.last_file = _last_team_file(history)
    for finding in (finding for each in signatures for finding in each.false()):
        verified.fault(finding.seq, finding.what)
    if arguments.json:
        values = [_verified(verified), *(each.values() for each in signatures)]
        say(json.dumps({name: value for part in values for name, value in part.items()}))
    else:
        for line in (*_findings(verified), *(line for each in signatures for line in each.told())):
            say(line)
    return 0 if verified.sound else 1


class _ByTeam:
    """What `verify` finds of signatures on record, by the team of this machine.

    `name` is of the numbers in JSON, `may_have` looks whether a record may have any, and `begin`
    makes what verifies them; `what` they are, in words. A record without any needs no team, and
    none of the packages.
    """

    def __init__(
        self,
        name: str,
        what: str,
        may_have: Callable[[Record], bool],
        begin: Callable[[], "Proofs | SignedDecisions"],
    ) -> None:
        self._name, self._what = name, what
        self._may_have, self._begin = may_have, begin
        self._proofs: Proofs | SignedDecisions | None = None
        self._unverified, self._why = 0, ""

    def take(self, record: Record) -> None:
        if not self._may_have(record):
            return
        if self._proofs is None and not self._why:
            try:
                self._proofs = self._begin()
            except CrabhookError as error:
                self._why = str(error)
        if self._proofs is not None:
            self._proofs.take(record)
        else:
            self._unverified += 1

    def false(self) -> Sequence[RecordFinding]:
        return self._proofs.false if self._proofs else ()

    def values(self) -> dict[str, object]:
        """Return what JSON tells, nothing where nothing is signed."""
        if self._why:
            return {self._name: {"unverified": self._unverified, "why": self._why}}
        return {self._name: self._proofs.values} if self._proofs else {}

    def told(self) -> Iterable[str]:
        if self._why:
            return (f"{self._what.format(self._unverified)}, not verified here: {self._why}",)
        return self._proofs.told() if self._proofs else ()


def _team_here() -> "Team":
    from crabhook.team.folder import Folder
    from crabhook.team.team_file import team_in

    return team_in(Folder(config.team_folder()))


def _proofs() -> "Proofs":
    from crabhook.store.proofs import Proofs
    from crabhook.team.passkeys import need_library

    need_library()
    return Proofs(_team_here())


def _signed_decisions(past: "RecordedPast", team_files: Iterable[bytes]) -> "SignedDecisions":
    from crabhook.store.signed_decisions import SignedDecisions

    return SignedDecisions(_teams(team_files), past)


def _signatures(
    past: "RecordedPast", team_files: Iterable[bytes]
) -> tuple[_ByTeam | StrictAllows, ...]:
    decisions = partial(_signed_decisions, past, team_files)
    return (
        StrictAllows(),
        _ByTeam("passkeys", "Passkeys opened {} calls", may_be_by_passkey, _proofs),
        _ByTeam("signed", "People signed {} decisions", may_be_signed, decisions),
    )


def _teams(team_files: Iterable[bytes]) -> "dict[str, Team]":
    from crabhook.team.folder import Folder
    from crabhook.team.team_file import teams_by_digest

    _team_here()  # says what is wrong with it
    return teams_by_digest(Folder(config.team_folder()), team_files)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error


def _last_team_file(history: History) -> str:
    """Return the SHA-256 of the team's file that servers saw last; empty if that is unknown."""
    from crabhook.server.core.policy_changes import policy_in
    from crabhook.team.folder import TEAM

    try:
        documents = history.documents()
    except StoreError:  # a fault already
        return ""
    if shared := documents.get(TEAM):
        return shared.hash
    document = documents.get(POLICY)
    return policy_in(document.text if document else "").seen.get(TEAM, "")


def _replay(history: History, arguments: argparse.Namespace) -> int:
    query = _query(arguments, (RecordKind.DECIDED.value,))
    return run_replay(history, query, arguments.project, as_json=arguments.json)


def _head(history: History, _: argparse.Namespace) -> int:
    last = next(history.find(Query(last=1)), None)
    sys.stdout.write(
        head_line(Head(last.seq, last.hash, str(last.at)) if last else Head(0, bytes(32)))
    )
    return 0


def _attest(history: History, _: argparse.Namespace) -> int:
    """Have a person answer for the open changes; the server records that within a second."""
    from crabhook.cli.consent import consent  # it needs the rules
    from crabhook.rulebook.receipts import ChangeReceipt
    from crabhook.server.core.policy_changes import policy_in

    document = history.documents().get(POLICY)
    still = policy_in(document.text if document else "").open
    if not still:
        say("There is no change that nobody answers for.")
        return 0
    lines = [
        f"  {name}, by {change.get('words')}, at {change.get('at')}, SHA-256 {change.get('sha256')}"
        for name, change in still.items()
    ]
    consent(rule_files(), ["No desk and no command made this:", *lines], "Do you answer for it?")
    words = f"the OS user {getuser()}, at a terminal"
    receipt = ChangeReceipt(words, actor_data(OWNER), attested=True)
    for name, change in still.items():
        receipts().leave(name, str(change.get("sha256")), receipt)
    say("It is attested. A server here records that within a second, or when it starts.")
    return 0


MOVED_AT_ONCE = 1000  # records


def _move(arguments: argparse.Namespace) -> None:
    """Copy a whole record with chain, key and waiting requests; continue an interrupted copy."""
    state = config.state_folder()
    with open_history(arguments.source):
        pass  # it exists: opening for writing would create it
    with ExitStack() as opened:
        source = open_writer(arguments.source, beside=state)
        opened.callback(source.close)
        target = open_writer(arguments.target, beside=state)
        opened.callback(target.close)
        end = target.journal.head()
        if end.seq == 0:
            where = arguments.target.partition("?")[0]
            source.write([happened(entries.server(f"the record moves to {where}", time()))])
        elif source.journal.hash_of(end.seq) != end.hash:
            raise StoreError(
                f"{arguments.target} holds another record, of {end.seq}. Empty it first"
            )
        with open_history(arguments.source) as history:
            records = history.find(Query(after=end.seq))
            while some := tuple(islice(records, MOVED_AT_ONCE)):
                cut = Cut(some[0].seq, b"", 0, "", "", "", "") if end.seq == 0 else None
                target.journal.commit(Batch(end, some, cut=cut))
                end = Head(some[-1].seq, some[-1].hash, str(some[-1].at))
        target.journal.take_over(source.journal.key, source.journal.recover(time()))
        head = source.head
    with open_history(arguments.target, state) as history:
        verified = verify(history, [head])
        verified.elsewhere = head.seq
    for line in _findings(verified):
        say(line)
    if not verified.sound:
        raise StoreError("what was moved is not what was written. The first record is as it was")
    say("It is moved. To use it: [record] store in settings.toml, or --store")


log = actions(
    "log",
    {
        "list": _reads_or_asks(_list, "list_past"),
        "show": _reads_or_asks(_show, "show_card"),
        "verify": _reads(_verify),
        "export": _reads(_export),
        "stats": _reads(_stats),
        "sessions": _reads(_sessions),
        "replay": _reads(_replay),
        "head": _reads(_head),
        "attest": _reads(_attest),
        "move": _move,
    },
    {"when": when, "LAST": LAST, "REPLAYED": REPLAYED, "FORMATS": FORMATS},
)


def _query(arguments: argparse.Namespace, kinds: tuple[str, ...] = ()) -> Query:
    return Query(
        since=arguments.since or "",
        until=arguments.until or "",
        tool=arguments.tool,
        session=arguments.session,
        verdict=arguments.verdict,
        kinds=kinds,
        last=max(0, getattr(arguments, "last", 0)),
    )


def _values(record: Record) -> dict[str, object]:
    value: dict[str, object] = record._asdict()
    try:
        value["body"] = json.loads(record.body)
    except ValueError:
        value["body"] = str(record.body)
    value["hash"] = record.hash.hex()
    return value


def _line(record: Record) -> str:
    data = record.data()
    who = _actor(data)
    waited = data.get("waited")
    took = f" after {waited:.1f} s" if isinstance(waited, int | float) else ""
    outcome = record.verdict or record.kind
    card = "" if record.card is None else f"#{record.card}"
    parts = (f"{str(record.at)[:19]}Z", f"{card:>6}", f"{outcome:<9}", f"{record.tool or '-':<12}")
    edited = ", edited" if data.get("edited") is not None else ""
    by = f"  [{who}{took}{edited}]" if who else ""
    return f"{'  '.join(parts)}  {short(_about(record, data))}{by}"


def _actor(data: Mapping[str, object]) -> str:
    """Return who did it: a person with their name and desk, or the rule."""
    actor = actor_in(data) if "actor" in data or "by" in data else None
    if not isinstance(actor, Operator):
        return short(str(data.get("rule") or data.get("by") or ""))
    name = "" if actor.name in ("", OWNER.name) else f" {actor.name}"
    place = "the server's own terminal" if actor.desk == HERE else actor.desk
    desk = f" at {place}" if place else ""
    return short(f"operator{name}{desk}")


def _about(record: Record, data: Mapping[str, object]) -> str:
    """Return a record's subject: its call, or what happened."""
    tool_input = data.get("edited") or data.get("input")
    if isinstance(tool_input, dict):
        return about(tool_input)
    if record.kind == RecordKind.DELIVERED:
        return "the client has its reply" if data.get("whole") else "the client had gone"
    if record.kind == RecordKind.ASKED:
        return _asked(data)
    return next((str(data[key]) for key in ("why", "what", "task", "event") if key in data), "")


def _asked(data: Mapping[str, object]) -> str:
    """Return what was asked, and what brought its card here."""
    fields, because = data.get("fields"), data.get("because")
    tool_input = fields.get("tool_input") if isinstance(fields, dict) else None
    what = about(tool_input) if isinstance(tool_input, dict) else str(data.get("event", ""))
    words = because.get("words") if isinstance(because, dict) else ""
    return f"{short(what, ASKED_WIDTH)} ({words})" if words else what


def _verified(verified: Verified) -> dict[str, object]:
    return {
        "sound": verified.sound,
        "records": verified.records,
        "first": verified.first,
        "head": {"seq": verified.head.seq, "hash": verified.head.hash.hex()},
        "faults": [asdict(fault) for fault in verified.faults],
        "notes": [asdict(note) for note in verified.notes],
        "untold": verified.untold,
        "elsewhere": verified.elsewhere,
        "left_open": list(left_open(verified)),
    }


def _findings(verified: Verified) -> Iterator[str]:
    for name, findings in (("FAULT", verified.faults), ("note", verified.notes)):
        yield from (f"{name}  record {finding.seq}: {finding.what}" for finding in findings)
    if verified.untold:
        yield f"and {verified.untold} findings more"
    span = f"{verified.records} records, {verified.first} to {verified.head.seq}"
    sound = "as they were written" if verified.sound else "NOT as they were written"
    yield f"{span}: {sound}"
    yield f"head {verified.head.seq} {verified.head.hash.hex()}"
    yield from left_open(verified)
