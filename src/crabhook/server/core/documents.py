"""The documents of a shared record, at the server that writes it: all its servers use these texts.

On a single machine the server reads the owner's files, and there are no documents. In a shared
record a file's text is a document, so that the next writer judges by the same rules. Only this
server changes documents; other servers and people propose, and it accepts or refuses with a reason.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from socket import gethostname
from time import time
from typing import TYPE_CHECKING

from crabhook.model.actor import Actor, Operator
from crabhook.model.errors import CrabhookError
from crabhook.model.jsontext import Value, compact, parse_object
from crabhook.rulebook.files import (
    RULES,
    TRUSTED,
    RuleFiles,
    RulesError,
    read_text,
    read_trusted,
)
from crabhook.rulebook.receipts import digest_of_text
from crabhook.server.address import Tokens, digest_of
from crabhook.server.core.policy_changes import PolicyChange, PolicyChanges
from crabhook.server.core.rules_in_force import OWN_TEXTS, RulesInForce
from crabhook.store import entries
from crabhook.store.actors import actor_data
from crabhook.store.change import Change, happened, written
from crabhook.store.commit import Commit
from crabhook.store.interface import Journal, Proposal, StoreError, WriterEndedError
from crabhook.store.opening import Place, open_document, open_history
from crabhook.store.record import TOKEN, Document, Entry, RecordKind, iso
from crabhook.store.recorder import Recorder
from crabhook.store.verify import amiss
from crabhook.team.folder import AUTHORITY, TEAM, TeamError

if TYPE_CHECKING:
    from crabhook.team.team_file import TeamReader

_LOG = logging.getLogger(__name__)

LOOK_EVERY = 1.0  # seconds between two looks at the proposals
LARGEST = 4 << 20  # characters of a document
_LONGEST_NAME = 100  # characters of a proposer's name, and of the host

Check = Callable[[str, str], object]
"""Raises a CrabhookError for a document, by its name, whose text is not usable."""


_POLICIES = {
    RULES: RecordKind.RULES_CHANGED,
    TRUSTED: RecordKind.RULES_CHANGED,
    TEAM: RecordKind.TEAM_CHANGED,
}
"""The documents whose changes are changes of policy."""


class Documents:
    """The documents; also a `rulebook.files.SharedTexts`.

    `check` is called with each proposed text, `is_signed` with each proposal, and `changed` with
    the name of each document with a new text.
    """

    where = "the shared record"

    def __init__(self, recorder: Recorder, journal: Journal, wrong: Mapping[str, str]) -> None:
        """`wrong` has the reasons why documents that differ from the record are not used."""
        self._recorder, self._journal, self._wrong = recorder, journal, dict(wrong)
        self._known = dict(journal.documents())
        self.check: Check = lambda _name, _text: None
        self.is_signed: Callable[[Proposal], bool] = lambda _: True
        self.changed: Callable[[str], object] = lambda _: None
        self._names = frozenset[str]()
        self.unused: tuple[str, ...] = ()
        self._team: TeamReader | None = None

    def __repr__(self) -> str:
        kept = ", ".join(f"{document.name} {document.version}" for document in self._known.values())
        return f"<Documents {kept}>"

    def begin(self, own: Mapping[str, Path]) -> None:
        """Make documents of this machine's files where there are none; report unused files.

        Raises CrabhookError for a file that should become a document and is wrong.
        """
        unused = list[str]()
        self._names |= own.keys()
        for name, path in own.items():
            version = self._known.get(name)
            if name in self._wrong:
                continue
            if version is None:
                text = read_text(path)
                self.check(name, text)
                self._put(name, text, f"the server on {gethostname()}, of {path}", None)
            elif _is_another(path, version.text):
                unused.append(
                    f"{path} is not used: all servers go by {name} in {self.where}, "
                    f"version {version.version}"
                )
        self.unused = tuple(unused)
        for remark in unused:
            _LOG.warning("%s", remark)

    def begin_team(self, team: "TeamReader") -> None:
        """Use the team on record; this machine's team file becomes a copy of it.

        Raises CrabhookError where another team is on record.
        """
        for name, path in team.folder.shared.items():
            if name not in self._known and name not in self._wrong:
                self._put(name, read_text(path), f"the server on {gethostname()}, of {path}", None)
        if self.read(AUTHORITY).encode() != team.authority:
            raise TeamError(
                f"the team in {self.where} is not the team in {team.folder.path}: move "
                "that folder away, and take the other by `crabhook team pull`"
            )
        self._names, self._team = self._names | {TEAM}, team
        self._copy()

    def begin_token(self, tokens: Tokens) -> str:
        """Return the digest of the token that all servers of the record admit; "" without one.

        The first server gives its own, and replaces it when its token file has another. A server
        with a token of its own says so: its hooks are refused where the next server leads.
        """
        name = f"{gethostname()}:{tokens.file}"
        own = digest_of(tokens.own) if tokens.own else ""
        kept = None if TOKEN in self._wrong else self._known.get(TOKEN)
        digest, whose = token_in(kept.text if kept else "")
        if own and (not digest or (whose == name and digest != own)):
            text = compact({"sha256": own, "of": name})
            self._put(TOKEN, text, f"the server on {gethostname()}, of {tokens.file}", None)
            return own
        if own and own != digest:
            _LOG.warning(
                "hooks that show the token in %s are admitted at this server alone: after a "
                "fail-over the others refuse them. Copy %s here, restart this server, and give "
                "its hooks that token",
                tokens.file,
                whose,
            )
        return digest

    def _copy(self) -> None:
        """Copy the team on record into this machine's file."""
        if self._team is None:
            return
        from crabhook.team.team_file import take  # the team's reader has it

        try:
            take(self._team.folder, self.read(TEAM).encode())
        except CrabhookError as error:
            _LOG.error("the team in %s is not taken: %s", self.where, error)

    # For the rules.

    def read(self, name: str) -> str:
        """Return a text, empty for none; raises RulesError if it differs from the record."""
        if wrong := self._wrong.get(name):
            raise RulesError(f"{wrong}. `crabhook log verify` tells more")
        version = self._known.get(name)
        return version.text if version else ""

    def write(self, name: str, text: str, by: Actor) -> None:
        """Replace a text; the new text is on record before any decision by it."""
        self.read(name)
        self._put(name, text, _words(by), by)

    def edition(self, name: str) -> object:
        """Return a value that differs for each version."""
        version = self._known.get(name)
        return version and (version.version, version.at)

    def _put(self, name: str, text: str, words: str, by: Actor | None) -> Commit:
        # A decision by the new text is committed after the text.
        before = self._known.get(name)
        change = self.next(name, text, words, by)
        beside = [] if name not in _POLICIES else [happened(self._policy(name, before, by))]
        return self._recorder.write(*beside, change).checked()

    def _policy(self, name: str, before: Document | None, by: Actor | None) -> Entry:
        """Return the entry of who changed the policy of all servers, of which none is unsigned."""
        now = self._known[name]
        hashes: dict[str, Value] = {
            "name": name,
            "from": before.hash if before else "",
            "to": now.hash,
        }
        what = f"{name} was {'changed' if before else 'begun'} by {now.by}"
        actor = actor_data(by) if by else {}
        return entries.policy_changed(
            _POLICIES[name], what, hashes, time(), actor=actor, out_of_band=False
        )

    def next(self, name: str, text: str, words: str, by: Actor | None = None) -> Change:
        """Return the change that replaces a text, for the record at once.

        `words` name the author, and `by` does so for programs.
        """
        before, now = self._known.get(name), time()
        version = before.version + 1 if before else 1
        document = Document(name, version, text, iso(now), words)
        actor = {} if by is None else actor_data(by)
        self._known = {**self._known, name: document}
        self._wrong.pop(name, None)  # the record's text replaces the wrong text
        return written(document, document.entry(before, now, actor))

    # For others.

    @asynccontextmanager
    async def kept(self, in_force: RulesInForce) -> AsyncIterator[None]:
        """Answer proposals while the context lasts; accepted rules are in force at once."""
        self.changed = lambda name: (
            self._copy() if name == TEAM else in_force.look_again(reported=False)
        )
        keeping = asyncio.ensure_future(self._keep())
        try:
            yield
        finally:
            keeping.cancel()

    async def _keep(self) -> None:
        """Answer proposals, about once a second, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            try:
                for proposal in await asyncio.to_thread(self._journal.proposals):
                    refusal = await self.answered(proposal)
                    await asyncio.to_thread(self._journal.answer, proposal.id, refusal)
            except StoreError as error:
                _LOG.debug("what is proposed was not read: %s", error)
            self._copy()  # again, since a command may have left the file half changed

    async def answered(self, proposal: Proposal) -> str:
        """Accept a proposal, or return the reason of the refusal; empty where it is on record."""
        signed = self.is_signed(proposal)
        if refusal := self._refusal(proposal, signed=signed):
            return refusal
        by = self.proposer(proposal, signed=signed)
        try:
            if not await self._put(proposal.document, proposal.text, _words(by), by).wait():
                return "it could not be recorded"
        except WriterEndedError:
            return "this server writes the record no more: propose it again"
        self.changed(proposal.document)
        return ""

    def proposer(self, proposal: Proposal, *, signed: bool) -> Operator:
        """Return the proposer: an operator of the team, if its authority `signed` the proposal."""
        if self._team is not None and proposal.signature and signed:
            from crabhook.team.membership import Principal, TeamRefusal  # the team's reader has it

            team = self._team.current()
            principal = (
                team
                if isinstance(team, TeamRefusal)
                else team.principal(proposal.name, proposal.desk, time())
            )
            if isinstance(principal, Principal):
                return Operator(
                    principal.operator, principal.name, principal.device_name, role=principal.role
                )
        name, host = proposal.name[:_LONGEST_NAME], proposal.desk[:_LONGEST_NAME]
        return Operator("", f"the OS user {name}", f"the host {host}")

    def _refusal(self, proposal: Proposal, *, signed: bool) -> str:
        if proposal.document not in self._names:
            return f"there is no document {proposal.document}"
        version = self._known.get(proposal.document)
        if version is not None and proposal.follows != version.version:
            return (
                f"{proposal.document} is of version {version.version} by now, by {version.by}, and "
                f"this follows version {proposal.follows}: look at it again"
            )
        if len(proposal.text) > LARGEST:
            return f"{proposal.document} would be larger than {LARGEST} characters"
        if proposal.document != TEAM and not signed:  # the team's file is signed itself
            return "it takes the passphrase of the team's authority"
        try:
            self.check(proposal.document, proposal.text)
        except CrabhookError as error:
            return str(error)
        return ""


class OwnTexts:
    """Records each change of the owner's files, where the record is of this machine alone.

    Each version is a document of that record, as in a shared record. A change that was made while
    no server ran is recorded when the next server begins.
    """

    def __init__(
        self, recorder: Recorder, files: RuleFiles, changes: PolicyChanges | None = None
    ) -> None:
        """`changes` records who made each change."""
        self._recorder, self._files, self._changes = recorder, files, changes
        self._known: Mapping[str, Document] | None = None

    def __repr__(self) -> str:
        return f"<OwnTexts {sorted(self._known or ())}>"

    def take(self, texts: Iterable[str]) -> None:
        """Record the texts, of OWN_TEXTS, that differ from those on record."""
        for name, text in zip(OWN_TEXTS, texts, strict=False):
            try:
                self._take(name, text)
            except StoreError as error:
                _LOG.warning("that %s changed was not recorded: %s", name, error)

    def _take(self, name: str, text: str) -> None:
        if self._known is None:
            if self._recorder.journal is None:
                raise StoreError("the record is not open yet")
            self._known = self._recorder.journal.documents()
        before, now = self._known.get(name), time()
        if text == (before.text if before else ""):
            return
        path = self._files.path(name)
        words = f"the file {path}, of {_owner_of(path)}"
        version = before.version + 1 if before else 1
        digests = digest_of_text(before.text if before else ""), digest_of_text(text)
        by = self._changes.answered(name, *digests) if self._changes else None
        words, actor = (by.words, by.actor) if by else (words, {"kind": "file"})
        document = Document(name, version, text, iso(now), words)
        change = PolicyChange(
            RecordKind.RULES_CHANGED,
            name,
            before.hash if before else "",
            document.hash,
            words,
            by,
            begun=before is None,
        )
        beside = self._changes.recorded(change) if self._changes else ()
        entry = document.entry(before, now, actor)
        self._recorder.write(*beside, written(document, entry)).checked()
        self._known = {**self._known, name: document}


def _owner_of(path: Path) -> str:
    """Say whose file this is: who wrote it is not known of a file."""
    try:
        return f"the OS user {path.owner()}"
    except FileNotFoundError:
        return "nobody, for it is gone"
    except (OSError, KeyError):
        return "an OS user without a name"


async def shared(
    files: RuleFiles, recorder: Recorder, place: Place, team: "TeamReader | None"
) -> Documents | None:
    """Return the documents of the record at `place`; None for one machine's record.

    A machine whose record has none yet copies its own rules there. Where there is a team, a
    proposal needs a signature by its authority's passphrase. Raises CrabhookError.
    """
    if recorder.journal is None or not recorder.journal.shared:
        return None
    wrong = await asyncio.to_thread(_wrong_in, place)
    documents = Documents(recorder, recorder.journal, wrong)
    documents.check = partial(_usable, documents, team)
    if team is not None:
        documents.is_signed = partial(_signed, team.authority)
        documents.begin_team(team)
    elif documents.edition(TEAM):
        _LOG.warning(
            "%s has a team, and this machine none: nobody can attach here (crabhook team pull)",
            documents.where,
        )
    own = {RULES: files.user, TRUSTED: files.trusted}
    documents.begin(own)
    return documents


def token_in(text: str) -> tuple[str, str]:
    """Return the digest in the document of the token, and whose it is; "" for none."""
    with suppress(CrabhookError):
        content = parse_object((text or "{}").encode())
        return str(content.get("sha256", "")), str(content.get("of", ""))
    return "", ""


def token_on_record(place: Place) -> str:
    """Return the digest of the token on record; "" where none is read."""
    there = open_document(str(place), TOKEN)
    try:
        return token_in(there.text())[0]
    except CrabhookError as error:
        _LOG.debug("the token on record was not read: %s", error)
        return ""
    finally:
        there.close()


def _wrong_in(place: Place) -> dict[str, str]:
    with open_history(place) as history:
        return {name: why for name, (_, why) in amiss(history).items()}


def _signed(authority: bytes, proposal: Proposal) -> bool:
    from crabhook.team.certificates import signed_by  # it needs cryptography

    return signed_by(authority, proposal.signature, proposal.signed)


def _usable(there: Documents, team: "TeamReader | None", name: str, text: str) -> None:
    if name == TEAM and team is not None:
        from crabhook.team.team_file import read_team  # it needs cryptography

        newer, before = read_team(text.encode(), team.authority).version, 0
        with suppress(CrabhookError):  # a document changed by hand has no version
            before = read_team(there.read(TEAM).encode(), team.authority).version
        if newer <= before:
            raise TeamError(f"the team on record is of version {before} already")
    elif name == RULES:
        from crabhook.policy.rulefile import read_rules  # it brings the shell's readers

        read_rules(text, RULES)
    elif name == TRUSTED:
        read_trusted(text, TRUSTED)


async def follow(team: "TeamReader") -> None:
    """Keep the team's file here equal to the record that another server writes, until cancelled."""
    from crabhook.team.team_file import take  # it needs cryptography

    there = open_document(team.shared, TEAM)
    try:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            try:
                if text := await asyncio.to_thread(there.text):
                    take(team.folder, text.encode())
            except CrabhookError as error:
                _LOG.debug("the team on record was not read: %s", error)
    finally:
        there.close()


def _is_another(path: Path, text: str) -> bool:
    """Whether a file has a different text, as far as it is readable."""
    try:
        here = read_text(path)
    except CrabhookError:
        return True
    return here not in ("", text)


def _words(by: Actor) -> str:
    return f"{by.name} at {by.desk}" if isinstance(by, Operator) else "the server"
