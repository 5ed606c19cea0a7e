"""A store of the test's own, and what is written into it: in SQLite, and in PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crabhook.store.opening import Place, open_writer
from crabhook.store.writer import Writer
from tests.support.cluster import Cluster, running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a record in SQLite is; not there yet."""
    return tmp_path / "state"


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A PostgreSQL for all tests of this process; each empties it."""
    with running() as made:
        yield made


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.process)])
def place(request: pytest.FixtureRequest) -> Place:
    """Where a record is, by each storage; not there yet."""
    if request.param == "sqlite":
        folder = request.getfixturevalue("folder")
        assert isinstance(folder, Path)
        return folder
    cluster = request.getfixturevalue("cluster")
    assert isinstance(cluster, Cluster)
    return cluster.emptied()


@pytest.fixture
def store(place: Place) -> Iterator[Writer]:
    """An empty record, open for writing."""
    opened = open_writer(place)
    yield opened
    opened.close()
