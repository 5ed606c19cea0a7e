"""A record moves between a file and PostgreSQL as it is: its chain, its key, and all that waits."""

from collections.abc import Callable, Iterator
from pathlib import Path
from time import time

import pytest

from crabhook.cli import main
from crabhook.store.change import Halt, halted, happened, settled, waits, written
from crabhook.store.opening import open_writer
from crabhook.store.record import DAY, Document, RecordKind, Retention, iso
from tests.support.cluster import Cluster, running
from tests.unit.store.making import answer, decision, entry, records, verified, waiting

pytestmark = pytest.mark.process

Move = Callable[[object, object], int]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running() as made:
        yield made


@pytest.fixture
def move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Move:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))

    def moving(source: object, target: object) -> int:
        return main(["log", "move", str(source), str(target)])

    return moving


def begun(folder: Path) -> Path:
    """A record whose beginning retention has taken, with all sorts of things that wait."""
    writer, now = open_writer(folder, Retention(days=3)), time()
    hostile: dict[str, str] = {"session": "a\0b\uf8ff0", "tool": "mcp__\uf8ff\0"}
    writer.write([happened(*(entry(at=now - 9 * DAY) for _ in range(5)))])
    writer.write([happened(*(entry(at=now, body={"n": n}, **hostile) for n in range(2500)))])
    assert writer.prune(now) == 5
    writer.write(
        [waits(waiting("r1", card=7, note="n\ud800"), entry(RecordKind.ASKED, now, card=7))]
    )
    writer.write([settled([answer("r2", decided=now)], decision(6, at=now, request_id="r2"))])
    writer.write([halted((Halt("s1", "stop"),))])
    rules = Document("rules", 1, "text", iso(now), "ann")
    writer.write([written(rules, rules.entry(None, now, {}))])
    writer.close()
    return folder


def test_a_record_goes_to_postgresql_and_comes_back_as_it_was(
    cluster: Cluster, move: Move, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, url, back = begun(tmp_path / "state"), cluster.emptied(), tmp_path / "back"
    before = open_writer(folder)
    there, key = before.journal.recover(time()), before.journal.key
    before.close()
    assert move(folder, url) == 0
    assert "2505 records, 6 to 2510: as they were written" in capsys.readouterr().out
    assert move(url, back) == 0
    kept = records(back)
    assert kept[:-1] == records(url)[:-1] == records(folder)
    assert kept[-1].kind == "server"
    assert "the record moves to" in kept[-1].body
    assert verified(back).sound
    after = open_writer(back)
    assert (after.journal.recover(time()), after.journal.key) == (there, key)
    after.write([happened(entry())])
    after.close()
    assert verified(back).sound


def test_a_move_that_broke_off_goes_on_where_it_ended_and_one_that_is_done_changes_nothing(
    cluster: Cluster, move: Move, tmp_path: Path
) -> None:
    folder, url = begun(tmp_path / "state"), cluster.emptied()
    assert move(folder, url) == 0
    whole = records(url)
    cluster.sql(
        "UPDATE crabhook.head SET begins = 9999",
        "DELETE FROM crabhook.record WHERE seq > 1006",
        "UPDATE crabhook.head SET begins = 6, (seq, hash, at) = "
        "(SELECT seq, hash, at FROM crabhook.record WHERE seq = 1006)",
    )
    for kept in (tmp_path / "home" / "crabhook").glob("record-*.head"):
        kept.unlink()
    for _ in range(2):
        assert move(folder, url) == 0
        assert records(url) == whole


def test_no_record_is_moved_over_another_or_while_a_server_writes_it(
    cluster: Cluster, move: Move, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, url = begun(tmp_path / "state"), cluster.emptied()
    other = open_writer(url)
    other.write([happened(entry())])
    assert move(folder, url) == 1
    assert "another crabhook" in capsys.readouterr().err
    other.close()
    assert move(folder, url) == 1
    assert "holds another record, of 1. Empty it first" in capsys.readouterr().err
    assert len(records(url)) == 1


def test_what_is_no_record_is_not_moved_and_none_is_made_there(
    move: Move, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert move(tmp_path / "nowhere", tmp_path / "new") == 1
    assert "there is no record" in capsys.readouterr().err
    assert not (tmp_path / "nowhere").exists()
    assert not (tmp_path / "new").exists()
