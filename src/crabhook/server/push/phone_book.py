"""The phones that are called, and the keys that call them, as a value that is written and read."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any, TypeVar

from crabhook.datatypes import frozen
from crabhook.server.push.sealing import BrowserKeys
from crabhook.server.push.server_key import ServerKey


@frozen
class Subscription:
    """A browser that takes messages for a person; times are seconds since 1970, 0 for never.

    `page` is the origin of the page that it shows. `accepted`: when its push service last took a
    message. `shown`: when it last reported one as shown, which not every phone can. `seen`: when
    its passkey last looked at a page, to the minute. `trouble`: what went wrong the last time.
    `server_key`: the public key that it takes messages from; "" for the only key there is.
    """

    id: str
    person: str
    passkey: str
    page: str
    url: str
    p256dh: str
    auth: str
    since: int
    accepted: int = 0
    shown: int = 0
    seen: int = 0
    trouble: str = ""
    server_key: str = ""

    def __repr__(self) -> str:
        return f"<Subscription {self.id} of {self.person}>"

    @property
    def keys(self) -> BrowserKeys:
        """The keys to seal with; raises SealingError."""
        return BrowserKeys.parse(self.p256dh, self.auth)


@frozen
class GoneSubscription:
    """A subscription that was forgotten, since its browser took no messages any more."""

    person: str
    passkey: str
    service: str
    at: int


T = TypeVar("T", Subscription, GoneSubscription)


@frozen
class PhoneBook:
    """Phones, those that took no messages any more, and the servers' keys.

    New phones take messages from the first key. Without `keys` there is one, in a file of its own.
    """

    phones: tuple[Subscription, ...] = ()
    gone: tuple[GoneSubscription, ...] = ()
    keys: tuple[ServerKey, ...] = ()

    def __repr__(self) -> str:
        return f"<PhoneBook {len(self.phones)} phones, {len(self.keys)} keys>"

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> "PhoneBook":
        """Return the book that `plain` gave; raises KeyError, TypeError, ValueError."""
        return cls(
            tuple(_read(Subscription, entry) for entry in plain["subscriptions"]),
            tuple(_read(GoneSubscription, entry) for entry in plain["gone"]),
            tuple(ServerKey.of_pem(pem.encode()) for pem in plain.get("keys", ())),
        )

    def plain(self) -> dict[str, Any]:
        """Return the book for JSON: without keys as servers wrote it that shared no phones."""
        phones, gone = list(map(asdict, self.phones)), list(map(asdict, self.gone))
        for phone in phones:
            if not phone["server_key"]:
                del phone["server_key"]
        keys = [key.pem.decode() for key in self.keys]
        return {"subscriptions": phones, "gone": gone} | ({"keys": keys} if keys else {})

    def encoded(self, **more: object) -> bytes:
        """Return the book as JSON, `more` beside it."""
        return json.dumps({**self.plain(), **more}, indent=1).encode()

    @property
    def facts(self) -> object:
        """What differs once a phone or a key comes or goes, and by no note about a phone."""
        ids = frozenset(phone.id for phone in self.phones)
        return ids, self.gone, tuple(key.public for key in self.keys)

    def with_those_of(self, other: "PhoneBook") -> "PhoneBook":
        """Return this book with what another has beside it; the newer of two with one address."""
        by_url = {phone.url: phone for phone in other.phones}
        for phone in self.phones:
            if (theirs := by_url.get(phone.url)) is None or theirs.since <= phone.since:
                by_url[phone.url] = phone
        keys = {key.public: key for key in (*self.keys, *other.keys)}
        phones = sorted(by_url.values(), key=lambda phone: phone.since)
        gone = dict.fromkeys((*other.gone, *self.gone))
        return replace(self, phones=tuple(phones), gone=tuple(gone), keys=tuple(keys.values()))


def _read(kind: type[T], entry: Mapping[str, object]) -> T:
    """Return an entry of the file; raises TypeError, ValueError."""
    made: Any = kind(**entry)  # type: ignore[arg-type]
    for field in fields(made):
        if type(getattr(made, field.name)) is not field.type:
            raise ValueError(field.name)
    entry_read: T = made
    return entry_read
