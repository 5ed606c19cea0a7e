"""Calls people by their phones: `Push` is what a web desk's routes and its server have of it.

`Waking` decides who is called. Here the messages go out, each phone's on its own: a service that is
slow or in trouble holds up no other. Each phone is kept up to date: when a card ends that its
notification names, a quiet message replaces that.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hmac import compare_digest
from pathlib import Path
from time import time
from typing import NamedTuple

from crabhook.datatypes import Bounded
from crabhook.desk.updates import News, Snapshot
from crabhook.model.actor import OWNER, Role
from crabhook.model.card import Card
from crabhook.model.errors import CrabhookError
from crabhook.remote.inputs import Inputs
from crabhook.server.core.attendance import Attendance
from crabhook.server.core.runner import Runner
from crabhook.server.metrics.tally import Pushed
from crabhook.server.operators.rights import target_of
from crabhook.server.push import message
from crabhook.server.push.delivery import Carrier, Fate, PushMessage, ServiceAnswer
from crabhook.server.push.endpoints import Services
from crabhook.server.push.phone_book import GoneSubscription, Subscription
from crabhook.server.push.server_key import ServerKey
from crabhook.server.push.sharing import PhonesOnRecord, SealedRecord
from crabhook.server.push.subscriptions import kept_in
from crabhook.server.push.waking import Waking
from crabhook.team.membership import Principal, Team, TeamRefusal

_LOG = logging.getLogger(__name__)

LOOK_EVERY = 1.0  # seconds between two looks while anything waits
VISIBLE_FOR = 25.0  # seconds that a page counts as looked at after its last heartbeat
AT_TERMINAL_FOR = (
    300.0  # seconds that a terminal counts as looked at after its person did something
)
SEEN_EVERY = 60  # seconds at least between two times that are kept of a look at a page
QUIETLY_APART = 5.0  # seconds at least between two quiet messages to a phone
FIRST_REST, LONGEST_REST = 5.0, 60.0  # seconds to wait for a service in trouble
TOKEN_FOR = 24 * 3600  # seconds that a message's token counts
PAGES_KEPT = 256
RECORDED_WITHIN = 5.0  # seconds for a page to hear that the servers share its change


class PhonesElsewhereError(CrabhookError):
    """Another server keeps the phones of all."""


class PageOf(NamedTuple):
    """A page by its person's id, their passkey's, and the name that it gave itself."""

    person: str
    passkey: str
    page: str


class _PageBeat(NamedTuple):
    """The last beat of a page; it counts as looked at `until` then, on the runner's clock."""

    number: int
    until: float


@dataclass(slots=True)
class _PhoneState:
    """What goes on with one phone: the cards that its notification names, and what it is owed.

    `owed`: a call. `busy`: a message is under way. After `tries` without success it rests.
    """

    shows: frozenset[int] = frozenset()
    owed: bool = False
    busy: bool = False
    tries: int = 0
    rests_until: float = 0.0
    quiet_until: float = 0.0

    def is_out_of_date(self, cards: Sequence[Card], now: float) -> bool:
        """Whether to send a message, where its person was called for these cards."""
        if self.owed and cards:
            return True
        return now >= self.quiet_until and bool(self.shows - {card.number for card in cards})

    def take(self, answer: ServiceAnswer, cards: Sequence[Card], now: float) -> None:
        """Note what became of the message about these cards."""
        self.busy = False
        if answer.fate is Fate.LATER:
            wait = answer.again or min(FIRST_REST * 2**self.tries, LONGEST_REST)
            self.tries, self.rests_until = self.tries + 1, now + wait
            return
        self.owed, self.tries = False, 0
        accepted = answer.fate is Fate.ACCEPTED
        self.shows = frozenset(card.number for card in cards if accepted)
        self.quiet_until = now + QUIETLY_APART


class Push:
    """The people's phones, and what they are told.

    `folder` has the key and the subscriptions, `team` returns who is in it, `after` is how many
    seconds a card waits before anybody is called. Raises ServerKeyError, SubscriptionError.

    Servers that `share` a record have the same phones, and the server that writes it keeps these.
    """

    def __init__(
        self,
        folder: Path,
        services: Services,
        team: Callable[[], Team | TeamRefusal],
        after: float,
        share: SealedRecord | None = None,
    ) -> None:
        self._kept = kept_in(folder, services)
        self._kept.make_key()
        self._team, self._waking, self._inputs = team, Waking(after), Inputs()
        self._every = min(LOOK_EVERY, after)
        self._states: dict[str, _PhoneState] = {}
        self._pages: Bounded[PageOf, _PageBeat] = Bounded(PAGES_KEPT)
        self._runner: Runner | None = None
        self._stop: Callable[[], object] = lambda: None
        self._news = asyncio.Event()
        self._kept.copied &= share is not None
        self._on_record = PhonesOnRecord(self._kept, share, self._news.set) if share else None

    def __repr__(self) -> str:
        return f"<Push {self._kept!r} {self._waking!r}>"

    # For the routes of the page.

    @property
    def public_key(self) -> str:
        """The `applicationServerKey` for a page's subscription, in base64url."""
        return self._kept.key.public

    def subscribe(self, person: str, passkey: str, sent: object, page: str) -> Subscription:
        """Take a `PushSubscription.toJSON()` of a person's page, by the origin of that page.

        Raises CrabhookError with the reason if it cannot be used, also as PhonesElsewhereError.
        """
        self._kept_here()
        made = self._kept.add(person, passkey, sent, page, time())
        self._news.set()
        return made

    def forget(self, person: str, url: str) -> None:
        """Forget a person's subscription by its address, as when push is turned off.

        Raises PhonesElsewhereError.
        """
        self._kept_here()
        for subscription in self._kept.of(person):
            if subscription.url == url:
                self._kept.forget(subscription.id)
        self._news.set()

    def _kept_here(self) -> None:
        """Raise PhonesElsewhereError where another server keeps the phones of all."""
        if self._on_record and self._stands_by() and self._runner:
            page = self._runner.sharing.page_at
            raise PhonesElsewhereError(
                "another server takes calls now: turn notices on or off at its page"
                + (f", {page}" if page else "")
            )

    async def recorded(self) -> None:
        """Wait until the other servers of the record will know of the phones as they are now.

        Raises CrabhookError where that is not so.
        """
        if self._on_record is None or self._runner is None:
            return
        try:
            async with asyncio.timeout(RECORDED_WITHIN):
                await self._on_record.put(self._runner).wait()
        except TimeoutError:
            raise CrabhookError("the record does not answer: look at this page again") from None

    def phones(self, person: str) -> tuple[Subscription, ...]:
        """Return the person's subscriptions, with what became of the last message to each."""
        return self._kept.of(person)

    def gone(self, person: str) -> tuple[GoneSubscription, ...]:
        """Return the person's subscriptions that ended by themselves."""
        return self._kept.gone(person)

    def beat(self, of: PageOf, number: int, *, visible: bool) -> None:
        """Take a page's beat: whether a person looks at it now.

        A page numbers its beats from 1. A beat that was overtaken on its way changes nothing.
        """
        before = self._pages.get(of)
        if before is not None and number <= before.number:
            return
        self._pages[of] = _PageBeat(number, self._now() + VISIBLE_FOR if visible else 0.0)
        if not visible:
            self._news.set()
            return
        for subscription in self._kept.of(of.person):
            if subscription.passkey == of.passkey:
                # The page shows what waits, and takes the notification away.
                self._states[subscription.id] = _PhoneState()
                self._note_seen(subscription)

    def _note_seen(self, subscription: Subscription) -> None:
        """Keep that a phone's passkey looks at a page; no more often than a file should change."""
        if (now := int(time())) - subscription.seen >= SEEN_EVERY:
            self._kept.note(subscription.id, seen=now)
            self._news.set()

    def device(self, phone: Subscription | GoneSubscription) -> str:
        """Return what the device is called that the phone's passkey was made on; "" if unknown."""
        team = self._team()
        members = team.members if isinstance(team, Team) else ()
        keys = (key for member in members if member.id == phone.person for key in member.passkeys)
        return next((key.name for key in keys if key.id == phone.passkey), "")

    def reported(self, token: str) -> bool:
        """Take a worker's report that a message was shown; False for a token that is not ours."""
        if (subscription := self._of_token(token)) is None:
            return False
        self._kept.note(subscription.id, shown=int(time()), trouble="")
        self._count(Pushed.SHOWN)
        self._news.set()
        return True

    def closed(self, token: str) -> bool:
        """Take that the person closed a notification, as by its "Deny"."""
        if (subscription := self._of_token(token)) is None:
            return False
        self._states[subscription.id] = _PhoneState()
        return True

    def later(self, token: str) -> bool:
        """Call the token's person again for what waits then, after a while."""
        if (subscription := self._of_token(token)) is None:
            return False
        self._waking.later(subscription.person, self._now())
        return self.closed(token)

    async def test(self, person: str) -> list[tuple[Subscription, ServiceAnswer]]:
        """Send a message to each phone of a person; return what each service answered."""
        self._principals()
        async with Carrier.opened() as carrier:
            sends = (self._test(carrier, phone) for phone in self._kept.of(person))
            return list(await asyncio.gather(*sends))

    async def _test(
        self, carrier: Carrier, phone: Subscription
    ) -> tuple[Subscription, ServiceAnswer]:
        answer = await self._bring(carrier, phone, message.trial(self._addressee(phone)))
        return phone, answer

    # For the server.

    def follow(self, runner: Runner) -> None:
        """Hear of cards from this runner from now on."""
        self._stop()
        self._runner = runner
        if self._on_record:
            self._on_record.begin(runner)
            self._news.set()
        self._stop = runner.listen(self._hear)

    def _hear(self, news: News) -> None:
        self._waking.hear(news)
        if isinstance(news, Snapshot | Card):
            self._news.set()

    async def keep(self) -> None:
        """Call people while cards wait, and keep the file, until cancelled."""
        try:
            async with Carrier.opened() as carrier, asyncio.TaskGroup() as sends:
                if self._on_record:
                    sends.create_task(self._on_record.follow(self._stands_by))
                while True:
                    self._news.clear()
                    try:
                        self._look(carrier, sends)
                        await self._save()
                    except Exception:  # noqa: BLE001 - a fault here must not end all later calls
                        _LOG.exception("a look at who must be called failed")
                    await self._pause()
        finally:
            self._stop()
            await self._save()

    async def _pause(self) -> None:
        """Wait for news; no longer than a look's time while there is something to look at."""
        busy = self._waking.anything_waits or any(state.shows for state in self._states.values())
        with suppress(TimeoutError):
            async with asyncio.timeout(self._every if busy and len(self._kept) else None):
                await self._news.wait()
        # Many changes at once are one look.
        await asyncio.sleep(min(self._every, 0.05))

    def _stands_by(self) -> bool:
        return self._runner is None or self._runner.elsewhere is not None

    async def _save(self) -> None:
        if self._on_record and self._runner:
            self._on_record.put(self._runner)
        if self._kept.changed:
            content = self._kept.content()
            try:
                await asyncio.to_thread(self._kept.write, content)
            except CrabhookError as error:
                self._warn(f"which phones are called is not kept: {error}")

    # Who is called.

    def _look(self, carrier: Carrier, sends: asyncio.TaskGroup) -> None:
        runner = self._runner
        if runner is None or self._stands_by():
            return
        now, principals = self._now(), self._principals()
        visible = partial(self._is_visible, runner.attendance)
        may = partial(_may_decide, principals)
        called = self._waking.look(now, principals, visible, may)
        for phone in self._kept:
            state = self._states.setdefault(phone.id, _PhoneState())
            state.owed = (state.owed or phone.person in called) and not visible(phone.person)
            if phone.person in principals and not state.busy and now >= state.rests_until:
                cards = tuple(
                    filter(partial(may, phone.person), self._waking.called_for(phone.person))
                )
                if state.is_out_of_date(cards, now):
                    state.busy = True
                    sends.create_task(self._tell(carrier, phone, state, cards))
        for name in self._states.keys() - {phone.id for phone in self._kept}:
            del self._states[name]

    def _principals(self) -> dict[str, Principal]:
        """Return the people with phones; forget a phone whose passkey counts no more."""
        team = self._team()
        if isinstance(team, TeamRefusal):
            return {}
        principals: dict[str, Principal] = {}
        for phone in self._kept:
            match team.by_passkey(phone.person, phone.passkey, time()):
                case Principal() as principal:
                    principals[phone.person] = principal
                case _:
                    self._kept.forget(phone.id)
        return principals

    def _is_visible(self, attendance: Attendance, person: str) -> bool:
        """Whether a person looks at a page, or is at a terminal and did something lately."""
        now = self._now()
        if any(of.person == person and beat.until > now for of, beat in self._pages.items()):
            return True
        acted_at, ids = self._waking.acted_at(person), (person, *self._at_own_terminal(person))
        return any(
            now < max(desk.since, acted_at) + AT_TERMINAL_FOR
            for desk in attendance.attached()
            # Any program can attach with a closing key.
            if not desk.closing and desk.by.id in ids
        )

    def _at_own_terminal(self, person: str) -> tuple[str, ...]:
        """Return a person's id at the server's own terminal, which is the team's founder's."""
        team = self._team()
        founded = isinstance(team, Team) and team.members[:1] and team.members[0].id == person
        return (OWNER.id,) if founded else ()

    # What a phone is told.

    async def _tell(
        self, carrier: Carrier, phone: Subscription, state: _PhoneState, cards: tuple[Card, ...]
    ) -> None:
        """Tell a phone which cards wait."""
        calls = state.owed and bool(cards)
        try:
            to, seen = self._addressee(phone), await self._seen(cards)
            content = message.waiting(cards, to, self._now(), calls=calls, seen=seen)
            answer = await self._bring(carrier, phone, content)
        except Exception:  # noqa: BLE001 - a fault with one phone must not end the calls of others
            _LOG.exception("a phone was not called")
            answer = ServiceAnswer(Fate.REFUSED)
        state.take(answer, cards, self._now())
        self._news.set()

    async def _seen(self, cards: Sequence[Card]) -> bytes:
        """Return what names the inputs of a card that is alone."""
        if len(cards) != 1:
            return b""
        await self._inputs.prepare(cards[0])
        return self._inputs.seen(cards[0])

    async def _bring(
        self, carrier: Carrier, phone: Subscription, content: PushMessage
    ) -> ServiceAnswer:
        """Send a message, and keep what became of it."""
        try:
            endpoint = self._kept.endpoint(phone)
            shows = self._kept.key_of(phone).header(endpoint.origin, time())
            answer = await carrier.bring(content, endpoint, phone.keys, shows)
        except CrabhookError as error:
            answer = ServiceAnswer(Fate.REFUSED, str(error))
        self._count(Pushed(answer.fate.value))
        match answer.fate:
            case Fate.ACCEPTED:
                self._kept.note(phone.id, accepted=int(time()), trouble="")
            case Fate.GONE:
                self._kept.lose(phone.id, time())
                self._warn(
                    f"a phone of {self._name(phone)} is not called any more, for its push service "
                    f"says so ({answer.why}): turn notifications on again on its page"
                )
            case _:
                if not phone.trouble:
                    self._warn(f"a phone of {self._name(phone)} cannot be called: {answer.why}")
                self._kept.note(phone.id, trouble=answer.why)
        return answer

    def _name(self, phone: Subscription) -> str:
        team = self._team()
        members = team.members if isinstance(team, Team) else ()
        return next((member.name for member in members if member.id == phone.person), phone.person)

    def _count(self, what: Pushed) -> None:
        if self._runner is not None:
            self._runner.witness.pushed(what)

    def _warn(self, text: str) -> None:
        if self._runner is not None:
            self._runner.warn(text, alarm=False)

    def _now(self) -> float:
        return self._runner.now() if self._runner is not None else 0.0

    # Tokens: they need no memory, so another process of ours can send a message too.

    def _addressee(self, phone: Subscription) -> message.Addressee:
        return addressee(self._kept.key_of(phone), phone, time())

    def _of_token(self, token: str) -> Subscription | None:
        name, at, mac = (*token.split("."), "", "")[:3]
        if (phone := self._kept.get(name)) is None:
            return None
        ours = self._kept.key_of(phone).mac(f"{name}.{at}")
        if not compare_digest(mac.encode("utf-8", "replace"), ours.encode()):
            return None
        fresh = at.isdigit() and abs(time() - int(at)) < TOKEN_FOR
        return phone if fresh else None


def addressee(key: ServerKey, phone: Subscription, now: float) -> message.Addressee:
    """Return where a message's phone has its page, and the token that it shows."""
    about = f"{phone.id}.{int(now)}"
    return message.Addressee(phone.page, f"{about}.{key.mac(about)}")


def _may_decide(principals: dict[str, Principal], person: str, card: Card) -> bool:
    principal = principals[person]
    within = principal.scope.everything or principal.scope.takes_in(target_of(card))
    return within and principal.role.includes(Role.DECIDER) and card.needs(person)
