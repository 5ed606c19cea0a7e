"""After a restart what waited is on its card again, and a hook that comes back finds its place."""

from dataclasses import replace

from crabhook.broker.facts import Given, Restored
from crabhook.broker.restoring import COME_BACK_WITHIN, NEVER_CAME_BACK
from crabhook.model.reply import Reply
from tests.support.playbook import ALLOW, Playbook, bash, prompt


def restore(book: Playbook, *waiting: tuple[int, object], answers: tuple[Given, ...] = ()) -> None:
    legs = tuple((number, replace(one, wait_until=book.now + 600)) for number, one in waiting)  # type: ignore[type-var]
    book.broker.handle(Restored(legs, answers, 40, book.now))  # type: ignore[arg-type]


def test_a_hook_that_comes_back_is_put_back_on_the_same_card_and_decided_once() -> None:
    book = Playbook()
    restore(book, (7, bash("a", "ls")))
    assert [card.number for card in book.broker.waiting()] == [7]
    book.asks(bash("a", "ls"))
    book.answers(7, ALLOW).sees("a hears PreToolUse allow, confirms", "#7 decided ALLOWED: a")


def test_new_cards_have_new_numbers() -> None:
    book = Playbook()
    restore(book, (7, bash("a", "ls")))
    book.asks(bash("b", "rm", "t2")).sees("#41 waiting: b")


def test_two_legs_are_one_card_again() -> None:
    book = Playbook()
    restore(book, (7, bash("a", "ls")), (7, prompt("b", "ls")))
    (card,) = book.broker.waiting()
    assert [leg.id for leg in card.requests] == ["a", "b"]


def test_what_is_decided_before_the_hook_is_back_waits_for_it() -> None:
    book = Playbook()
    restore(book, (7, bash("a", "ls")))
    book.answers(7, ALLOW)
    book.asks(bash("a", "ls")).sees("a hears PreToolUse allow, confirms")


def test_an_answer_given_before_the_end_is_given_to_its_ticket_and_to_no_other() -> None:
    book = Playbook()
    said = Reply({"said": 1})
    restore(book, answers=(Given("a", "secret of a", said),))
    book.asks(bash("a", "ls", secret="guess"))
    assert "NOT_YOURS" in repr(book.effects)
    book.asks(bash("a", "ls"))
    assert book.effects[0].reply == said  # type: ignore[union-attr]


def test_a_hook_that_never_comes_back_leaves_no_card_waiting_for_nobody() -> None:
    book = Playbook()
    restore(book, (7, bash("a", "ls")), (8, bash("b", "rm", "t2")))
    book.asks(bash("b", "rm", "t2"))
    book.waits(COME_BACK_WITHIN)
    assert [card.number for card in book.broker.waiting()] == [8]
    gone = book.broker.card(7)
    assert gone is not None
    assert gone.why == NEVER_CAME_BACK
