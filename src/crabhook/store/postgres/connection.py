"""A connection to PostgreSQL in its own thread and loop, with faults in a person's words.

The server's loop and the commands that read the record have other loops, or none.
"""

import asyncio
import json
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from socket import EAI_AGAIN, gaierror
from threading import Thread
from time import time
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import parse_qs, urlsplit

from crabhook.extras import CLUSTER, installer
from crabhook.store.interface import (
    CorruptError,
    FullError,
    ReadOnlyError,
    StoreError,
    UnreachableError,
)
from crabhook.store.postgres.leader import Leader

if TYPE_CHECKING:
    import asyncpg

    Connection: TypeAlias = asyncpg.Connection[asyncpg.Record]

T = TypeVar("T")

OLDEST = 14  # older versions of PostgreSQL get no more fixes
CONNECT_WITHIN = 5.0  # seconds
ANSWER_WITHIN = 10.0  # seconds for a statement, except one that reads a whole record

_SETTINGS = {
    "application_name": "crabhook",
    "search_path": "crabhook",
    "client_encoding": "UTF8",
    # A server whose network is cut must lose its lock soon.
    "tcp_keepalives_idle": "2",
    "tcp_keepalives_interval": "1",
    "tcp_keepalives_count": "2",
    "tcp_user_timeout": "4000",
}
_BY_STATE: Mapping[str, tuple[type[StoreError], str]] = {
    "08P01": (
        StoreError,
        "what answers there is a pooler, or none of ours: give the address of PostgreSQL itself",
    ),
    "08": (UnreachableError, "the connection is lost"),
    "25006": (ReadOnlyError, "it may only be read: it is a replica, or was set so"),
    "28": (StoreError, "it does not let this user in"),
    "3D": (StoreError, "there is no such database: `createdb` makes it"),
    "42501": (ReadOnlyError, "this user may not"),
    "53100": (FullError, "its disk is full: make room"),
    "53": (UnreachableError, "it has no room for us now"),
    "57014": (UnreachableError, "it took too long"),
    "57P": (UnreachableError, "it is starting or stopping"),
    "58": (StoreError, "its disk fails"),
    "XX": (CorruptError, "it is damaged"),
}
"""The meaning of a fault, by the beginning of its SQLSTATE; the longest match counts."""


def checked(url: str) -> str:
    """Return a record's address if it shows no password. Raises StoreError."""
    try:
        parts = urlsplit(url)
        secret = parts.password is not None or "password" in parse_qs(parts.query)
    except ValueError as error:
        raise StoreError(f"this is no address of a PostgreSQL database: {error}") from None
    if secret:
        raise StoreError(
            "a password in an address is read by everyone who lists processes. Put it into "
            "~/.pgpass, or a file that ?passfile=/PATH or PGPASSFILE names, or PGPASSWORD"
        )
    return url


def shown(url: str) -> str:
    """Return the address for people."""
    return url.partition("?")[0]


@contextmanager
def speaking_of(url: str) -> Iterator[None]:
    """Turn errors of the driver or the system into StoreErrors about a database."""
    import asyncpg  # who gets here has imported it by `connect`

    drivers = asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError
    try:
        yield
    except (*drivers, OSError, TimeoutError) as error:
        raise named(error, url) from error


def named(error: Exception, url: str) -> StoreError:
    """Return the StoreError for a fault of the database."""
    state = str(getattr(error, "sqlstate", None) or "")
    detail = (str(error) or type(error).__name__).partition("\n")[0]
    fits = [code for code in _BY_STATE if state.startswith(code)]
    if fits:
        kind, words = _BY_STATE[max(fits, key=len)]
    elif state:
        kind, words = StoreError, "it refuses"
    else:  # an error of the driver or the system: no connection
        kind, words = UnreachableError, "it does not answer"
        if isinstance(error, gaierror):
            again = error.errno == EAI_AGAIN
            words = "its host name cannot be looked up now" if again else "no such host name"
            words = f"{words}: check the URL"
    return kind(f"the record in {shown(url)}: {words} ({detail})")


async def connect(url: str) -> "Connection":
    """Return a connection to a database that can hold a record. Raises StoreError."""
    try:
        import asyncpg  # an extra, which few servers need
    except ImportError:
        raise StoreError(f"a record in PostgreSQL needs a driver: {installer(CLUSTER)}") from None
    with speaking_of(url):
        try:
            connection: Connection = await asyncpg.connect(
                url,
                timeout=CONNECT_WITHIN,
                command_timeout=ANSWER_WITHIN,
                server_settings=_SETTINGS,
            )
        except asyncpg.exceptions.ClientConfigurationError as error:
            raise StoreError(f"{shown(url)} is no address of PostgreSQL: {error}") from error
        try:
            await _look_at(connection, url)
        except BaseException:
            connection.terminate()
            raise
    return connection


async def _look_at(connection: "Connection", url: str) -> None:
    """Raise a StoreError where a database is not fit for a record."""
    version = connection.get_server_version().major
    if version < OLDEST:
        raise StoreError(
            f"{shown(url)} is PostgreSQL {version}, and a record needs {OLDEST} or newer"
        )
    # A single statement: behind a pooler, the next statement may run on another connection.
    pid = connection.get_server_pid()
    whose = f"DO $$ BEGIN IF pg_backend_pid() <> {pid:d} THEN RAISE 'pooled'; END IF; END $$"
    try:
        await connection.execute(whose)
    except OSError:
        raise
    except Exception as error:
        if "pooled" not in str(error):
            raise
        raise StoreError(
            f"{shown(url)} is a pooler: it gives the lock that elects the writer to the next "
            "client that speaks. Give the address of PostgreSQL itself"
        ) from None
    encoding = await connection.fetchval("SHOW server_encoding")
    if encoding != "UTF8":
        raise StoreError(
            f"{shown(url)} holds texts as {encoding}, and a record needs UTF8: "
            "`createdb --encoding UTF8 --template template0` makes such a database"
        )
    await connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false) "
        "WHERE current_setting('synchronous_commit') = 'off'"
    )


class ConnectionThread:
    """A thread with a loop for a connection, whose users wait elsewhere."""

    def __init__(self, url: str) -> None:
        self.url = checked(url)
        self.loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, name="crabhook-postgres", daemon=True)
        self._thread.start()

    def wait(self, work: Coroutine[Any, Any, T], within: float | None = 3 * ANSWER_WITHIN) -> T:
        """Run `work` in the thread and return its result. Raises StoreError."""
        if not self._thread.is_alive():
            work.close()
            raise UnreachableError(f"the record in {shown(self.url)} is closed")
        doing = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return doing.result(within)
        except TimeoutError:
            doing.cancel()
            raise UnreachableError(f"the record in {shown(self.url)} does not answer") from None

    def close(self) -> None:
        """End the thread and cancel its work."""
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
            left = asyncio.all_tasks(self.loop)
            for task in left:
                task.cancel()
            self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        finally:
            self.loop.close()


_WHO = "SELECT to_jsonb(head) FROM crabhook.head"


async def leader_of(connection: "Connection") -> Leader:
    """Return the server that writes the record, also from an older schema with fewer columns."""
    if not await connection.fetchval("SELECT to_regclass('crabhook.head') IS NOT NULL"):
        return Leader()
    head = json.loads(await connection.fetchval(_WHO))
    columns = ("leader", "leader_at", "desks_at", "page_at")
    name, hooks, desks, page = (head.get(column) or "" for column in columns)
    return Leader(name, hooks, desks, head["epoch"], page)


async def skew_of(connection: "Connection") -> float:
    """Return by how many seconds this machine's clock is ahead of the database's."""
    before = time()
    there = float(await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())"))
    return (before + time()) / 2 - there
