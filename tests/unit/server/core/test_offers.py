"""Rules offered for a card are tried on the record, off the loop; one that is taken counts at once."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from crabhook.desk.commands import TakenOffer
from crabhook.model.actor import OWNER, Operator
from crabhook.model.card import Card, Leg
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.policy.propose import DEFAULT_LIFE
from crabhook.policy.rule import Trust
from crabhook.rulebook import edit
from crabhook.rulebook.files import RULES, RuleFiles, RulesError
from crabhook.server.core import offers as module
from crabhook.server.core.documents import Documents
from crabhook.server.core.offers import Offers, offering
from crabhook.server.core.rules_in_force import RulesInForce
from crabhook.store import entries
from crabhook.store.change import happened
from crabhook.store.opening import open_history, open_writer
from crabhook.store.recorder import Recorder

if TYPE_CHECKING:
    from pathlib import Path

    from crabhook.desk.updates import Offering
    from crabhook.server.core.offers import Offered
    from crabhook.store.opening import Place

NOON = 1_767_960_000.0  # 2026-01-09T12:00:00Z
ALLOW, DENY = Decision(Verdict.ALLOW), Decision(Verdict.DENY, reason="no")


def bash(command: str, cwd: str = "/nowhere/app", tool: str = "Bash") -> Event:
    return Event("claude", "PreToolUse", "s1", cwd, tool=ToolCall(tool, {"command": command}))


def decided(event: Event, decision: Decision) -> entries.Entry:
    return entries.decided(event, Decided(decision, OWNER), NOON, legs=["r"], waited=1.0)


class Office:
    """A folder with rules and a record in it."""

    def __init__(self, folder: Path) -> None:
        self.files = RuleFiles(folder / "config")
        self.record = folder
        self._folder = folder

    def rules(self, text: str) -> None:
        self.files.folder.mkdir(exist_ok=True)
        self.files.user.write_text(text, encoding="utf-8")

    def past(self, *calls: tuple[Event, Decision]) -> None:
        store = open_writer(self._folder)
        store.write([happened(decided(event, decision)) for event, decision in calls])
        store.close()

    def offered(self, event: Event, *, denies: bool = False) -> Offering:
        return offering(event, self.files, self.record, denies=denies)[0]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def figures(found: Offering) -> list[tuple[str, int, int]]:
    return [(" ".join(one.texts), one.covered, one.undone) for one in found.offers]


def test_each_rule_is_shown_with_what_it_would_have_done(office: Office) -> None:
    denied = bash("pytest --slow")
    office.past(
        (bash("pytest"), ALLOW), (bash("pytest -q"), ALLOW), (denied, DENY), (bash("ls"), DENY)
    )
    found = office.offered(bash("pytest -q"))
    assert found.tried_on == 4
    assert figures(found) == [
        ("Bash(pytest -q)", 1, 0),
        ("Bash(pytest -q)", 1, 0),
        ("Bash(pytest *)", 3, 1),
        ("Bash(pytest *)", 3, 1),
    ]
    assert [one.tool for one, _ in found.offers[-1].undoes] == [denied.tool]


def test_without_a_record_rules_are_offered_and_said_to_be_untried(office: Office) -> None:
    found = office.offered(bash("pytest"))
    assert found.tried_on is None
    assert found.offers
    (office.record / "record.db").write_bytes(b"no database" * 100)
    assert office.offered(bash("pytest")).tried_on is None


def test_a_denial_that_a_rule_repeats_is_not_let_through(office: Office) -> None:
    office.rules('[[rule]]\nverdict = "deny"\nmatch = "Bash(pytest --slow *)"\n')
    office.past((bash("pytest --slow"), DENY), (bash("pytest --all"), DENY))
    assert figures(office.offered(bash("pytest -q")))[-1] == ("Bash(pytest *)", 1, 1)


def test_a_broken_file_of_another_project_is_not_in_the_way(office: Office, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / ".crabhook").mkdir(parents=True)
    (other / ".crabhook" / "rules.toml").write_text("nonsense", encoding="utf-8")
    office.rules("")
    edit.trust(office.files, other, b"nonsense", Trust.RESTRICT)
    office.past((bash("pytest", cwd=str(other)), DENY), (bash("pytest"), ALLOW))
    found = office.offered(bash("pytest -q"))
    assert figures(found)[-1] == ("Bash(pytest *)", 1, 0)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("rm -f build", "looked at each time"),
        ("cat ~/.ssh/id_rsa", "always reach a person (protected: ssh)"),
        ("make", "rules.toml, line 1: ask-operator Bash(make *) (mine)"),
        ("ls `", "no rule can allow it"),
    ],
)
def test_where_no_rule_is_offered_it_is_said_why(office: Office, command: str, why: str) -> None:
    office.rules('[[rule]]\nverdict = "ask-operator"\nmatch = "Bash(make *)"\nnote = "mine"\n')
    found = office.offered(bash(command))
    assert not found.offers
    assert why in found.why


def test_nothing_is_offered_while_the_rules_cannot_be_read(office: Office) -> None:
    office.rules("nonsense")
    assert "no rule can be added" in office.offered(bash("pytest")).why


def test_what_the_owner_took_off_the_protected_list_can_be_allowed(office: Office) -> None:
    office.rules('unprotect = ["ci"]\n')
    event = Event(
        "claude", "PreToolUse", "s1", "/nowhere/app",
        tool=ToolCall("Edit", {"file_path": "/nowhere/app/.github/workflows/a.yml"}),
    )  # fmt: skip
    assert office.offered(event).offers


def test_denials_are_tried_first_and_the_rest_as_far_as_there_is_time(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.past((bash("pytest --old"), DENY), *((bash("pytest"), ALLOW) for _ in range(50)))
    ticks = iter(range(1_000))
    monkeypatch.setattr(module, "monotonic", lambda: next(ticks))
    monkeypatch.setattr(module, "WITHIN", 11)
    found = office.offered(bash("pytest -q"))
    assert found.tried_on is not None
    assert 1 < found.tried_on < 12
    assert found.offers[-1].undone == 1


def test_a_secret_in_the_record_is_one_word_again(office: Office) -> None:
    token = "ghp_" + "a1B2" * 9
    office.past((bash(f"gh auth {token}"), ALLOW))
    assert figures(office.offered(bash("gh auth status")))[-1] == ("Bash(gh auth *)", 1, 0)


# Asked for by a screen.


def card(number: int = 3, command: str = "pytest -q") -> Card:
    return Card(number, (Leg("r", bash(command), 10.0),), 0.0)


def asked(office: Office) -> tuple[Offers, RulesInForce]:
    law = RulesInForce(office.files)
    return Offers(office.files, law, office.record), law


async def made(offers: Offers, card: Card, *, denies: bool = False) -> Offering:
    found: asyncio.Future[Offering] = asyncio.get_running_loop().create_future()
    offers.ask(f"card #{card.number}", card.event, found.set_result, denies=denies)
    async with asyncio.timeout(60):
        return await found


def asked_for(offers: Offers, card: Card) -> list[Offering]:
    """Ask for offers; return them in a list that is empty until they are there."""
    found: list[Offering] = []
    offers.ask(f"card #{card.number}", card.event, found.append)
    return found


async def test_trying_is_done_once_and_in_a_thread_of_its_own(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def noticed(event: Event, files: RuleFiles, record: Place, *, denies: bool) -> Offered:
        threads.append(threading.get_ident())
        return offering(event, files, record, denies=denies)

    monkeypatch.setattr(module, "offering", noticed)
    offers, _ = asked(office)
    both = asked_for(offers, card()), asked_for(offers, card())
    found = await made(offers, card())
    assert both == ([found], [found])
    assert asked_for(offers, card())[0] is found
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()


async def test_what_was_tried_long_ago_is_tried_again(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    offers, _ = asked(office)
    before = await made(offers, card())
    monkeypatch.setattr(module, "FRESH", -1.0)
    assert await made(offers, card()) is not before


async def test_a_fault_offers_nothing_and_says_so(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(module, "offering", fail)
    assert "a fault" in (await made(asked(office)[0], card())).why


async def test_only_the_cards_asked_about_lately_are_remembered(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEPT", 2)
    offers, _ = asked(office)
    for number in range(1, 4):
        await made(offers, card(number))
    assert repr(offers) == "<Offers 2>"


async def test_a_rule_that_is_kept_counts_at_once_and_ends(office: Office) -> None:
    offers, law = asked(office)
    assert await law.judge(bash("pytest -q"), long=False) is None
    narrow = (await made(offers, card())).offers[1]
    kept = offers.keep(TakenOffer(narrow.id, narrow.expires), "card #3", OWNER)
    assert kept.line == 1
    assert kept.note.startswith("always allow, on card #3, 20")
    assert kept.expires == narrow.expires
    ruling = await law.judge(bash("pytest -q"), long=False)
    assert ruling is not None
    assert ruling.verdict == "allow"
    assert await law.judge(bash("pytest -q", cwd="/nowhere/else"), long=False) is None
    assert (await made(offers, card())).why == ruling.why  # what is allowed is offered no more


async def test_where_servers_share_the_rules_a_rule_that_is_kept_is_theirs(office: Office) -> None:
    recorder = Recorder(lambda: open_writer(office.record))
    assert recorder.journal is not None
    documents = Documents(recorder, recorder.journal, {})
    documents.begin({RULES: office.files.user})
    office.files = replace(office.files, shared=documents)
    offers, law = asked(office)
    assert await law.judge(bash("pytest -q"), long=False) is None
    narrow = (await made(offers, card())).offers[1]
    ann = Operator("o1", "ann", "laptop")
    kept = offers.keep(TakenOffer(narrow.id, narrow.expires), "card #3", ann)
    assert kept.where.startswith("rules in the shared record")
    ruling = await law.judge(bash("pytest -q"), long=False)
    assert ruling is not None
    assert ruling.verdict == "allow"
    assert not office.files.user.exists()
    recorder.close()
    with open_history(office.record) as history:
        document = history.documents()[RULES]
        (*_, last) = history.find()
    assert (document.version, document.by) == (2, "ann at laptop")
    assert "Bash(pytest -q)" in document.text
    assert last.data()["what"] == "the document rules was changed by ann at laptop: version 2"


async def test_a_rule_ends_after_a_month_unless_told_otherwise(office: Office) -> None:
    offer = (await made(asked(office)[0], card())).offers[0]
    assert offer.expires is not None
    left = offer.expires - datetime.now(UTC)
    assert DEFAULT_LIFE - timedelta(minutes=1) < left <= DEFAULT_LIFE


async def test_a_rule_that_cannot_be_written_is_said_to_be_none(office: Office) -> None:
    offers, _ = asked(office)
    offer = (await made(offers, card())).offers[0]
    office.rules("nonsense")
    with pytest.raises(RulesError, match=r"no rule was written, and nothing decided.*line 1"):
        offers.keep(TakenOffer(offer.id, None), "card #3", OWNER)
    assert office.files.user.read_text(encoding="utf-8") == "nonsense"


async def test_a_denial_that_keeps_a_rule_writes_one_that_denies_and_never_one_that_allows(
    office: Office,
) -> None:
    offers, law = asked(office)
    narrow = (await made(offers, card())).offers[1]
    taken = TakenOffer(narrow.id, narrow.expires)
    kept = offers.keep(taken, "card #3", OWNER, denies=True)
    assert kept.note.startswith("always deny, on card #3, 20")
    ruling = await law.judge(bash("pytest -q"), long=False)
    assert ruling is not None
    assert ruling.verdict == "deny"
    assert "allow" not in office.files.user.read_text()


# Rules that deny.


def test_each_denial_is_shown_with_what_it_would_have_denied(office: Office) -> None:
    office.past(
        (bash("rm -r a"), ALLOW),
        (bash("rm -r a"), ALLOW),
        (bash("rm b"), DENY),
        (bash("ls"), ALLOW),
    )
    found = office.offered(bash("rm -rf build"), denies=True)
    assert found.tried_on == 4
    assert all(one.denies and one.rule.startswith("deny ") for one in found.offers)
    assert figures(found)[0] == ("Bash(rm -rf build)", 0, 0)
    assert figures(found)[-1] == ("Bash(rm *)", 3, 2)
    ((undone, times),) = found.offers[-1].undoes
    assert (undone.tool, times) == (bash("rm -r a").tool, 2)


def test_a_denial_is_offered_where_a_rule_asks_and_not_where_a_rule_denies(office: Office) -> None:
    office.rules(
        '[[rule]]\nverdict = "ask-operator"\nmatch = "Bash(make *)"\n'
        '[[rule]]\nverdict = "deny"\nmatch = "Bash(rm *)"\n'
    )
    assert office.offered(bash("make x"), denies=True).offers
    none = office.offered(bash("rm x"), denies=True)
    assert not none.offers
    assert "deny Bash(rm *)" in none.why


async def test_an_offered_denial_is_written_with_its_reason_and_denies_at_once(
    office: Office,
) -> None:
    offers, law = asked(office)
    found = await made(offers, card(command="rm -rf build"), denies=True)
    taken = TakenOffer(found.offers[-1].id, None)
    kept = offers.keep(taken, "card #3", OWNER, denies=True, reason="never\n here")
    assert str(kept) == "deny Bash(rm *)"
    assert kept.note.startswith("always deny, on card #3, 20")
    assert kept.note.endswith(": never here")
    ruling = await law.judge(bash("cd x && rm y"), long=False)
    assert ruling is not None
    assert ruling.verdict == "deny"


async def test_an_offered_denial_is_never_written_with_an_allow(office: Office) -> None:
    offers, _ = asked(office)
    found = await made(offers, card(command="rm -rf build"), denies=True)
    taken = TakenOffer(found.offers[-1].id, None)
    with pytest.raises(RulesError, match="no rule was written, and nothing decided"):
        offers.keep(taken, "card #3", OWNER)
    assert not office.files.user.exists()


async def test_the_offers_of_both_kinds_are_kept_apart(office: Office) -> None:
    offers, _ = asked(office)
    allows, denies = await made(offers, card()), await made(offers, card(), denies=True)
    assert not any(one.denies for one in allows.offers)
    assert all(one.denies for one in denies.offers)
    assert await made(offers, card()) == allows
