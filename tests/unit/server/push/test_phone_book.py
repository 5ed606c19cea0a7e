"""Phones and keys as a value: what is written is read again, and two servers' become one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from crabhook.server.push.phone_book import GoneSubscription, PhoneBook, Subscription
from crabhook.server.push.server_key import ServerKey

LOST = [GoneSubscription("o-ann", "p-1", "Mozilla", at) for at in (1, 2)]


def key() -> ServerKey:
    return ServerKey(ec.generate_private_key(ec.SECP256R1()))


ONE, TWO = key(), key()


def phone(name: str, since: int = 1, server_key: str = ONE.public) -> Subscription:
    url = f"https://fcm.googleapis.com/{name}"
    return Subscription(f"id-{name}", "o-ann", "p-1", "", url, "", "", since, server_key=server_key)


def test_what_is_written_is_read_again() -> None:
    book = PhoneBook((phone("x"), phone("y", 2, TWO.public)), (LOST[0],), (ONE, TWO))
    again = PhoneBook.of_plain(json.loads(book.encoded()))
    assert (again.phones, again.gone) == (book.phones, book.gone)
    assert [each.public for each in again.keys] == [ONE.public, TWO.public]
    assert again.facts == book.facts


def test_no_key_and_no_address_is_in_a_name() -> None:
    book = PhoneBook((phone("secret"),), (), (ONE,))
    assert repr(book) == "<PhoneBook 1 phones, 1 keys>"


def test_two_servers_phones_become_one_book_with_the_keys_of_the_first_before() -> None:
    first = PhoneBook((phone("x"), phone("both", 5)), (LOST[0],), (ONE,))
    other = PhoneBook(
        (phone("y", 3, TWO.public), replace(phone("both", 4), id="id-old")), (*LOST,), (TWO, ONE)
    )
    book = first.with_those_of(other)
    assert [each.id for each in book.phones] == ["id-x", "id-y", "id-both"]
    assert book.gone == tuple(LOST)
    assert [each.public for each in book.keys] == [ONE.public, TWO.public]
    assert [each.id for each in other.with_those_of(first).phones] == ["id-x", "id-y", "id-both"]


@pytest.mark.parametrize(
    "plain",
    [
        {"gone": []},
        {"subscriptions": [{"id": 1}], "gone": []},
        {"subscriptions": [], "gone": [], "keys": ["no key"]},
    ],
    ids=range(3),
)
def test_what_is_no_book_is_refused(plain: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        PhoneBook.of_plain(plain)
