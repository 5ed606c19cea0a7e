"""A record that the first code wrote is opened, verified, taken up and written on by today's."""

from __future__ import annotations

import json
from collections import Counter
from time import time
from typing import TYPE_CHECKING

import pytest

from crabhook.model.actor import Ended, Headless, Nobody, Operator, RuleActor, StandingOrder
from crabhook.model.wording import who
from crabhook.store.actors import actor_in, end_in
from crabhook.store.change import happened
from crabhook.store.entries import operator
from crabhook.store.interface import Query
from crabhook.store.opening import open_history, open_writer
from crabhook.store.verify import stats
from tests.support.older_record import copied
from tests.unit.store.making import records, verified

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """The state folder of a server of commit 73c5562 that was killed a moment ago."""
    return copied(tmp_path / "crabhook")


def test_an_older_record_is_sound_before_anything_is_written_to_it(older: Path) -> None:
    found = verified(older)
    assert (found.sound, found.records, found.head.seq) == (True, 79, 79)
    assert found.notes == []


def test_an_older_record_is_read_as_it_is_by_every_question(older: Path) -> None:
    with open_history(older) as history:
        assert [one.card for one in history.find(Query(verdict="deny", last=1))] == [19]
        assert len(list(history.find(Query(kinds=("asked",))))) == 22
        assert {one.platform for one in history.agents()} == {"claude", "codex", "gemini"}
        counted = stats(history.find()).all
    assert counted.by == {"rules": 7, "operator": 17, "nobody": 3}
    assert counted.verdicts["keep-going"] == 2


def test_who_decided_and_how_it_ended_is_read_from_an_older_record(older: Path) -> None:
    with open_history(older) as history:
        decided = [json.loads(one.body) for one in history.find(Query(kinds=("decided",)))]
        (left,) = [json.loads(one.body) for one in history.find(Query(kinds=("withdrawn",)))]
    actors = [actor_in(one) for one in decided]
    assert {type(one) for one in actors} == {Operator, RuleActor, StandingOrder, Headless, Nobody}
    for body, actor in zip(decided, actors, strict=True):
        assert who(actor) == body["by"]
    assert end_in(left) is Ended.HOOK_LEFT


def test_what_an_older_server_left_is_found(older: Path) -> None:
    store = open_writer(older)
    try:
        found = store.journal.recover(time())
    finally:
        store.close()
    assert [one.card for one in found.waiting] == [21, 22]
    assert [json.loads(one.payload)["tool_name"] for one in found.waiting] == [
        "Bash",
        "AskUserQuestion",
    ]
    assert [one.call.card for one in found.answers if one.owed and one.call] == [20]
    assert (found.last_card, found.halts) == (22, ())


def test_an_older_record_goes_on_in_one_chain(older: Path) -> None:
    before = records(older)
    store = open_writer(older)
    store.write([happened(operator("went on", time()))])
    store.close()
    after = records(older)
    assert after[: len(before)] == before
    assert Counter(one.kind for one in after[len(before) :]) == {"operator": 1}
    assert verified(older).sound
