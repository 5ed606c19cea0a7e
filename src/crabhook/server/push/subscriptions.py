"""The phones that are called: whose they are, and what became of the last message to each.

They are kept in one file, its owner's alone: who has an address and the server's key can call that
phone. A subscription is bound to a passkey, and ends with it. Where servers share a record, the
file is a copy of the phones of all, and has the keys too.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import Any

from crabhook.model.errors import CrabhookError
from crabhook.safe_open import read_own, write_own
from crabhook.server.push.endpoints import Endpoint, Services
from crabhook.server.push.phone_book import GoneSubscription, PhoneBook, Subscription
from crabhook.server.push.server_key import ServerKey

OF_PASSKEY = 8  # browsers; a passkey may be copied to a person's other devices
OF_PERSON = 32
IN_ALL = 1024
GONE_KEPT = 32  # that took no messages any more
SUBSCRIPTIONS, KEY = "subscriptions.json", "key.pem"
"""The files in the folder: the phones, and this server's own key."""
_LARGEST = 4 << 20  # bytes of the file
_LONGEST = 256  # letters of a text in a subscription


class SubscriptionError(CrabhookError):
    """A subscription that cannot be taken, or its file."""


class Subscriptions:
    """The subscriptions in a file; a change is in it once `write` was called.

    `copied`: they are a copy of what servers share, and nothing is this server's alone.
    """

    def __init__(self, path: Path, services: Services) -> None:
        self._path, self._services = path, services
        self._by_id: dict[str, Subscription] = {}
        self._gone: list[GoneSubscription] = []
        self._shared_keys: tuple[ServerKey, ...] = ()
        self.changed = self.copied = False

    def __repr__(self) -> str:
        return f"<Subscriptions {len(self._by_id)}>"

    def __iter__(self) -> Iterator[Subscription]:
        return iter(tuple(self._by_id.values()))

    def __len__(self) -> int:
        return len(self._by_id)

    def load(self) -> None:
        """Read the file, if there is one; raises SubscriptionError."""
        try:
            written = json.loads(read_own(self._path, _LARGEST))
            book = PhoneBook.of_plain(written)
            self.copied = written.get("copied") is True
        except FileNotFoundError:
            return
        except OSError as error:
            raise SubscriptionError(f"{self._path} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise SubscriptionError(
                f"{self._path} cannot be read: it is not as we write it"
            ) from None
        self._put(book)

    def _put(self, book: PhoneBook) -> None:
        self._by_id = {phone.id: phone for phone in book.phones}
        self._gone, self._shared_keys = list(book.gone), book.keys

    def content(self) -> bytes:
        """Return what must be written, and count as unchanged."""
        self.changed = False
        book = PhoneBook(tuple(self), tuple(self._gone), self._shared_keys)
        return book.encoded(copied=True) if self.copied else book.encoded()

    # The keys, and what servers share.

    @cached_property
    def own_key(self) -> ServerKey:
        """This server's own key, made where there is none; raises ServerKeyError."""
        return ServerKey.in_file(self._path.with_name(KEY))

    @property
    def key(self) -> ServerKey:
        """The key that a browser subscribes with now; raises ServerKeyError."""
        return self._shared_keys[0] if self._shared_keys else self.own_key

    def make_key(self) -> None:
        """Have a key, so that a fault with it is known at once; raises ServerKeyError."""
        _ = self.key

    def key_of(self, subscription: Subscription) -> ServerKey:
        """Return the key that a subscription takes messages from; raises ServerKeyError."""
        with_it = (key for key in self._shared_keys if key.public == subscription.server_key)
        return next(with_it, self.key)

    @property
    def book(self) -> PhoneBook:
        """All that another server needs to call these phones; raises ServerKeyError."""
        phones = (replace(phone, server_key=self.key_of(phone).public) for phone in self)
        return PhoneBook(tuple(phones), tuple(self._gone), self._shared_keys or (self.own_key,))

    def replace(self, book: PhoneBook) -> None:
        """Have these phones and keys in the place of all that was here."""
        self._put(book)
        self.changed = True

    def write(self, content: bytes) -> None:
        """Write the file; raises SubscriptionError."""
        try:
            write_own(self._path, content)
        except OSError as error:
            raise SubscriptionError(f"{self._path} cannot be written: {error.strerror}") from error

    def of(self, person: str) -> tuple[Subscription, ...]:
        """Return a person's subscriptions, the first to come first."""
        return tuple(kept for kept in self if kept.person == person)

    def gone(self, person: str) -> tuple[GoneSubscription, ...]:
        """Return a person's subscriptions that were forgotten, the last to go last."""
        return tuple(gone for gone in self._gone if gone.person == person)

    def get(self, name: str) -> Subscription | None:
        """Return the subscription with this id."""
        return self._by_id.get(name)

    def endpoint(self, subscription: Subscription) -> Endpoint:
        """Return where it is sent to; raises EndpointError where that is not allowed any more."""
        return self._services.endpoint(subscription.url)

    def add(self, person: str, passkey: str, sent: object, page: str, now: float) -> Subscription:
        """Take a browser's `PushSubscription.toJSON()`; it replaces an older one of its address.

        The oldest of too many is forgotten. Raises SubscriptionError, EndpointError, SealingError.
        """
        whole = sent if isinstance(sent, Mapping) else {}
        keys = whole.get("keys")
        keys = keys if isinstance(keys, Mapping) else {}
        texts = whole.get("endpoint"), keys.get("p256dh"), keys.get("auth")
        url, p256dh, auth = (text if isinstance(text, str) else "" for text in texts)
        if len(p256dh) + len(auth) > _LONGEST:
            raise SubscriptionError("the keys of a subscription are longer than any browser's")
        self._services.endpoint(url)
        new = Subscription(token_hex(8), person, passkey, page, url, p256dh, auth, int(now))
        if self._shared_keys:
            new = replace(new, server_key=self.key.public)
        _ = new.keys
        for other in self:
            if other.url == url:
                del self._by_id[other.id]
        self._by_id[new.id] = new
        self._forget_oldest()
        self.changed = True
        return new

    def _forget_oldest(self) -> None:
        new = next(reversed(self._by_id.values()))
        of_person = self.of(new.person)
        of_passkey = [kept for kept in of_person if kept.passkey == new.passkey]
        for kept, most in ((of_passkey, OF_PASSKEY), (of_person, OF_PERSON), (tuple(self), IN_ALL)):
            for oldest in kept[: max(0, len(kept) - most)]:
                self._by_id.pop(oldest.id, None)

    def note(self, name: str, **changes: Any) -> None:  # noqa: ANN401 - any of its fields
        """Change a subscription that is still there."""
        if (before := self._by_id.get(name)) is not None:
            self._by_id[name] = replace(before, **changes)
            self.changed |= self._by_id[name] != before

    def forget(self, name: str) -> None:
        """Forget a subscription whose person does not want it any more."""
        self.changed |= self._by_id.pop(name, None) is not None

    def lose(self, name: str, now: float) -> None:
        """Forget a subscription that takes no messages any more, and keep that it went."""
        if (lost := self._by_id.get(name)) is None:
            return
        service = ""
        with suppress(CrabhookError):
            service = self.endpoint(lost).service
        self._gone = [*self._gone, GoneSubscription(lost.person, lost.passkey, service, int(now))]
        self._gone = self._gone[-GONE_KEPT:]
        self.forget(name)


def kept_in(folder: Path, services: Services) -> Subscriptions:
    """Return the subscriptions in a folder; raises SubscriptionError."""
    kept = Subscriptions(folder / SUBSCRIPTIONS, services)
    kept.load()
    return kept
