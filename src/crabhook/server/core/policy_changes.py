"""What changed of the rules, the settings and the team, and which changes nobody answers for.

Each change is a record with both hashes and its author. A change that no desk and no command made
is out of band. It counts as ever, and a red line stands at every desk until a person attests it.
Which changes are open is a document of the record, so that a restart forgets none.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from time import time

from crabhook.datatypes import frozen
from crabhook.model.errors import CrabhookError
from crabhook.model.jsontext import MAX_DEPTH, Value, compact, object_at, parse_object, text_at
from crabhook.rulebook.receipts import ChangeReceipt, ChangeReceipts, digest_of_text
from crabhook.store import entries
from crabhook.store.change import Change, happened, written
from crabhook.store.record import POLICY, Document, RecordKind, iso
from crabhook.store.recorder import Recorder
from crabhook.team.folder import TEAM

_LOG = logging.getLogger(__name__)

LOOK_EVERY = 1.0  # seconds between two looks for an attestation
ATTEST = "crabhook log attest"


_SIGNER = ChangeReceipt("a person with the passphrase of the team's authority", {"kind": "team"})
"""Who changed a team's file: without that signature no server uses the file."""

_PROVIDER = ChangeReceipt("the team's identity provider, as this server looked", {"kind": "oidc"})
"""Who took rights of people away, or gave back what the signed file has."""
TAKEN_AWAY = "what the identity provider takes away"


@frozen
class PolicyChange:
    """A change of a document: its hashes (empty for none), and its author where that is known."""

    kind: RecordKind
    name: str
    before: str
    after: str
    words: str
    by: ChangeReceipt | None = None
    begun: bool = False

    @property
    def out_of_band(self) -> bool:
        """Whether nobody answers for it."""
        return self.by is None and not self.begun


@frozen
class PolicyState:
    """What the document says: the hash of each text by its name, and the open changes."""

    seen: Mapping[str, str]
    open: Mapping[str, Mapping[str, Value]]

    @property
    def text(self) -> str:
        """The document's text."""
        return compact(
            {"seen": dict(self.seen), "open": {k: dict(v) for k, v in self.open.items()}}
        )


def policy_in(text: str) -> PolicyState:
    """Return the state in a document's text; an unreadable text is an empty state."""
    try:
        data = parse_object(text.encode(), MAX_DEPTH) if text else {}
    except CrabhookError:
        data = {}
    seen = {name: str(digest) for name, digest in object_at(data, "seen").items()}
    still = object_at(data, "open")
    return PolicyState(seen, {name: object_at(still, name) for name in still})


class PolicyChanges:
    """Records changes at the server that writes the record, and tells of the open changes."""

    def __init__(self, recorder: Recorder, receipts: ChangeReceipts) -> None:
        self._recorder, self._receipts = recorder, receipts
        self._document: Document | None = None
        self._state: PolicyState | None = None

    def __repr__(self) -> str:
        return f"<PolicyChanges {self._state}>"

    @property
    def trouble(self) -> str:
        """The open changes, in words; empty while somebody answers for each."""
        still = self._state.open if self._state else {}
        if not still:
            return ""
        changed = (f"{name} at {text_at(about, 'at')[11:16]}Z" for name, about in still.items())
        return f"CHANGED BY NO DESK AND NO COMMAND: {'; '.join(changed)}. Look, then: {ATTEST}"

    def answered(self, name: str, before: str, after: str) -> ChangeReceipt | None:
        """Return who made the change from one text to another, by their SHA-256."""
        return self._receipts.answers(name, before, after)

    def recorded(self, change: PolicyChange) -> tuple[Change, ...]:
        """Return what to write for a change; after this it counts as seen."""
        state, now = self._now(), time()
        still = {name: about for name, about in state.open.items() if name != change.name}
        if change.out_of_band:
            still[change.name] = {"sha256": change.after, "at": iso(now), "words": change.words}
        elif (before := state.open.get(change.name)) and not (change.by and change.by.attested):
            # A desk has changed a text of which nobody answers for a part.
            still[change.name] = {**before, "sha256": change.after}
        state = PolicyState({**state.seen, change.name: change.after}, still)
        entry = entries.policy_changed(
            change.kind,
            f"{change.name} was {'begun' if change.begun else 'changed'} by {change.words}",
            {"name": change.name, "from": change.before, "to": change.after},
            now,
            actor=change.by.actor if change.by else {},
            out_of_band=change.out_of_band,
        )
        return happened(entry), self._put(state, now)

    def look_at(
        self,
        kind: RecordKind,
        name: str,
        digest: str,
        words: str,
        by: ChangeReceipt | None = None,
    ) -> None:
        """Record a text that is no document of the record, if it differs from what was seen.

        `digest` is empty where there is no text. `by` answers for it, if not a receipt does.
        Raises StoreError.
        """
        before = self._now().seen.get(name)
        if digest == (before or ""):
            return
        by = by or self.answered(name, before or "", digest)
        change = PolicyChange(kind, name, before or "", digest, words, by, begun=before is None)
        self._recorder.write(*self.recorded(change)).checked()

    async def keep(
        self,
        team_digest: Callable[[], str],
        taken_away: Callable[[], Mapping[str, str]],
        warn: Callable[[str], object],
    ) -> None:
        """Take attestations and changes of the team, about once a second, until cancelled.

        `team_digest` returns the SHA-256 of the team's file; empty for none that can be used.
        `taken_away` returns what its identity provider takes away, by people's names. `warn` hears
        of open changes that come.
        """
        before = self.trouble
        while True:
            await asyncio.sleep(LOOK_EVERY)
            if self.trouble not in ("", before):
                warn(self.trouble)
            before = self.trouble
            try:
                self.take_attestations()
                if digest := team_digest():
                    self.look_at(RecordKind.TEAM_CHANGED, TEAM, digest, _SIGNER.words, _SIGNER)
                self._look_at_taken(taken_away())
            except CrabhookError as error:
                _LOG.warning("what was attested is not recorded: %s", error)

    def _look_at_taken(self, taken: Mapping[str, str]) -> None:
        people = "; ".join(f"{name}: {what}" for name, what in taken.items())
        words = f"{_PROVIDER.words}: {people or 'nothing more'}"
        digest = digest_of_text(people) if people else ""
        self.look_at(RecordKind.TEAM_CHANGED, TAKEN_AWAY, digest, words, _PROVIDER)

    def take_attestations(self) -> None:
        """Record the open changes that a person has attested since. Raises StoreError."""
        state = self._now()
        for name, about in state.open.items():
            digest = text_at(about, "sha256")
            receipt = self._receipts.find(name, digest)
            if receipt is None or not receipt.attested:
                continue
            now = time()
            still = {other: change for other, change in self._now().open.items() if other != name}
            entry = entries.policy_changed(
                RecordKind.ATTESTED,
                f"{name} was attested by {receipt.words}",
                {"name": name, "to": digest},
                now,
                actor=receipt.actor,
                out_of_band=False,
            )
            put = self._put(replace(self._now(), open=still), now)
            self._recorder.write(happened(entry), put).checked()

    def _now(self) -> PolicyState:
        if self._state is None:
            journal = self._recorder.journal
            if journal is None:
                return PolicyState({}, {})
            self._document = journal.documents().get(POLICY)
            self._state = policy_in(self._document.text if self._document else "")
        return self._state

    def _put(self, state: PolicyState, now: float) -> Change:
        before = self._document
        version = before.version + 1 if before else 1
        self._document = Document(POLICY, version, state.text, iso(now), "the server")
        self._state = state
        return written(self._document, self._document.entry(before, now, {}))
