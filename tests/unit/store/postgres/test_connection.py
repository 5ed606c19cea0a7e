"""What is wrong with a database is said in words that tell what to do, before anything is written."""

import asyncio
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from crabhook.extras import CLUSTER, installer
from crabhook.store.change import happened
from crabhook.store.interface import (
    CorruptError,
    ForeignError,
    ReadOnlyError,
    StoreError,
    UnreachableError,
)
from crabhook.store.opening import open_history, open_writer
from crabhook.store.postgres.connection import connect, named
from crabhook.store.writer import Writer
from tests.support.cluster import Cluster, require
from tests.unit.store.making import entry, records, verified

pytestmark = pytest.mark.process


def test_a_missing_driver_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(StoreError) as refused:
        asyncio.run(connect("postgresql://nowhere"))
    assert str(refused.value).endswith(f"needs a driver: {installer(CLUSTER)}")


@contextmanager
def between(
    cluster: Cluster, folder: Path, change: Callable[[bytes], bytes], late: float = 0.0
) -> Iterator[str]:
    """A pass between a client and the cluster that changes what the cluster says at first.

    Everything comes `late` seconds later, the end of a connection too.
    """
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / ".s.PGSQL.5432"))
    listener.listen()

    def carry(one: socket.socket, other: socket.socket, change: Callable[[bytes], bytes]) -> None:
        with one, suppress(OSError):
            while said := one.recv(65536):
                time.sleep(late)
                other.sendall(change(said))
            time.sleep(late)
            other.shutdown(socket.SHUT_RDWR)

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(cluster.folder / ".s.PGSQL.5432"))
            for one, other, doing in ((client, server, bytes), (server, client, change)):
                threading.Thread(target=carry, args=(one, other, doing), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"postgresql://crabhook@/postgres?host={folder}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@pytest.fixture
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose name leaves room for that of a socket."""
    return tmp_path_factory.mktemp("s")


def own_number(said: bytes) -> bytes:
    """Put a pooler's own number in place of that of PostgreSQL's process, as poolers do."""
    place = said.find(b"K\0\0\0\x0c")
    return said if place < 0 else said[: place + 5] + b"\0\0\0\1" + said[place + 9 :]


def test_a_pooler_in_between_is_refused(cluster: Cluster, place: str, short: Path) -> None:
    with between(cluster, short, own_number) as url:
        for open_it in (open_writer, open_history):
            with pytest.raises(StoreError, match=r"is a pooler.*PostgreSQL itself"):
                open_it(url)


def test_an_old_postgresql_is_refused(cluster: Cluster, place: str, short: Path) -> None:
    version = cluster.sql("SHOW server_version_num")[0][0][:2].encode()

    def older(said: bytes) -> bytes:
        return said.replace(b"server_version\0" + version, b"server_version\0" + b"09")

    with (
        between(cluster, short, older) as url,
        pytest.raises(StoreError, match="is PostgreSQL 9, and a record needs 14"),
    ):
        open_writer(url)


def test_a_database_that_is_not_there_or_does_not_answer_is_said(cluster: Cluster) -> None:
    with pytest.raises(StoreError, match="no such database"):
        open_writer(cluster.url("nowhere"))
    with pytest.raises(UnreachableError, match="does not answer"):
        open_writer("postgresql://crabhook@/x?host=/nowhere")
    with pytest.raises(StoreError, match=r"there is no record in .* yet: `crabhook serve` begins"):
        open_history(cluster.emptied())


def test_a_database_of_another_encoding_is_refused(cluster: Cluster) -> None:
    cluster.sql("DROP DATABASE IF EXISTS latin")
    cluster.sql("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(StoreError, match="as LATIN1, and a record needs UTF8"):
        open_writer(cluster.url("latin"))


def test_a_database_that_may_only_be_read_is_said(cluster: Cluster, place: str) -> None:
    cluster.sql("ALTER ROLE crabhook SET default_transaction_read_only = on")
    try:
        with pytest.raises(ReadOnlyError, match="may only be read"):
            open_writer(place)
    finally:
        cluster.sql(
            "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
            "ALTER ROLE crabhook RESET default_transaction_read_only",
        )
    open_writer(place).close()


def test_a_user_who_may_not_make_a_schema_is_told(cluster: Cluster, place: str) -> None:
    cluster.sql("DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN")
    with pytest.raises(ReadOnlyError, match=r"this user may not .*permission denied"):
        open_writer(place.replace("crabhook@", "guest@"))


def test_a_start_that_failed_leaves_the_record_free(
    cluster: Cluster, place: str, short: Path
) -> None:
    cluster.sql("DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN")
    with (
        between(cluster, short, bytes, late=0.05) as url,
        pytest.raises(ReadOnlyError, match="permission denied"),
    ):
        open_writer(url.replace("crabhook@", "guest@"))
    open_writer(place).close()


@pytest.mark.thorough
def test_a_replica_can_be_read_and_not_written(cluster: Cluster, place: str, store: Writer) -> None:
    store.write([happened(entry())])
    replica = Cluster(require())
    try:
        replica.copy_of(cluster)
        with pytest.raises(ReadOnlyError, match="may only be read"):
            open_writer(replica.url())
        assert len(records(replica.url())) == 1
    finally:
        replica.stop(signal.SIGINT)
        replica.remove()


def test_a_schema_of_a_newer_crabhook_or_of_another_program_is_refused(
    cluster: Cluster, place: str
) -> None:
    open_writer(place).close()
    cluster.sql("INSERT INTO crabhook.step VALUES (99)")
    for open_it in (open_writer, open_history):
        with pytest.raises(ForeignError, match="is of version 99"):
            open_it(place)
    cluster.sql("DROP TABLE crabhook.step")
    with pytest.raises(ForeignError, match="holds no record of crabhook's"):
        open_writer(place)


def put_back(cluster: Cluster, seq: int) -> None:
    """Leave the records up to this one, as an older backup would."""
    cluster.sql(
        "UPDATE crabhook.head SET begins = 9",
        f"DELETE FROM crabhook.record WHERE seq > {seq}",
        f"UPDATE crabhook.head SET begins = 1, seq = {seq}, "
        f"hash = (SELECT hash FROM crabhook.record WHERE seq = {seq})",
    )


def test_an_older_backup_that_was_put_back_is_not_written_on(
    cluster: Cluster, place: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    beside = tmp_path / "state"
    with_head = open_writer(place, beside=beside)
    with_head.write([happened(entry(body={"n": n})) for n in range(5)])
    with_head.close()
    (kept,) = beside.glob("record-*.head")
    put_back(cluster, 3)
    with pytest.raises(CorruptError, match=r"ends at 3, and this machine saw .* up to 5: .*backup"):
        open_writer(place, beside=beside)
    with open_history(place, beside) as history:
        assert history.kept_head() is not None
        assert history.kept_head().seq == 5  # type: ignore[union-attr]
    assert "kept no head" not in caplog.text
    kept.unlink()  # as the words say
    open_writer(place, beside=beside).close()
    assert "kept no head" in caplog.text  # which a machine that never led says too
    assert "record 3 is taken for its end (" in caplog.text
    assert verified(place).sound


def test_the_head_kept_here_is_of_what_is_written_and_for_this_user_alone(
    place: str, tmp_path: Path
) -> None:
    writer = open_writer(place, beside=tmp_path / "state")
    writer.write([happened(entry())])
    assert writer.anchor().seq == 1
    writer.close()
    (kept,) = (tmp_path / "state").glob("record-*.head")
    assert kept.stat().st_mode & 0o777 == 0o600
    again = open_writer(place, beside=tmp_path / "state")
    assert again.head.seq == 1
    again.close()


def test_no_password_is_taken_from_an_address() -> None:
    for url in ("postgresql://ann:secret@db/x", "postgresql://db/x?password=secret"):
        with pytest.raises(StoreError, match="PGPASSFILE") as refused:
            open_writer(url)
        assert "secret" not in str(refused.value)


def test_a_password_comes_from_a_file_or_the_environment_and_is_never_told(
    cluster: Cluster, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.sql("DROP ROLE IF EXISTS keyed", "CREATE ROLE keyed LOGIN SUPERUSER PASSWORD 'pw-1'")
    rules = cluster.data / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all keyed scram-sha-256\n{before}")
    url = place.replace("crabhook@", "keyed@")
    try:
        cluster.sql("SELECT pg_reload_conf()")
        passfile = tmp_path / "pass"
        passfile.write_text("*:*:*:keyed:pw-1\n")
        passfile.chmod(0o600)
        open_writer(f"{url}&passfile={passfile}").close()
        monkeypatch.setenv("PGPASSWORD", "pw-1")
        open_writer(url).close()
        monkeypatch.setenv("PGPASSWORD", "pw-2")
        with pytest.raises(StoreError, match="does not let this user in") as refused:
            open_writer(url)
        assert "pw-2" not in str(refused.value)
    finally:
        rules.write_text(before)
        cluster.sql("SELECT pg_reload_conf()")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (socket.EAI_NONAME, "no such host name: check the URL"),
        (socket.EAI_AGAIN, "its host name cannot be looked up now: check the URL"),
    ],
)
def test_a_host_name_that_is_not_known_is_told_apart_from_a_stopped_database(
    number: int, words: str
) -> None:
    told = named(socket.gaierror(number, "so it is"), "postgresql://db.invalid/x")
    assert words in str(told)
    assert isinstance(told, UnreachableError)  # it is waited for: names come with the network
    stopped = named(ConnectionRefusedError(111, "refused"), "postgresql://db.invalid/x")
    assert "does not answer" in str(stopped)
    assert "name" not in str(stopped)
