"""Records are opened by where they are."""

from pathlib import Path

import pytest

from crabhook.store.change import happened
from crabhook.store.interface import StoreError
from crabhook.store.opening import open_history, open_writer
from tests.unit.store.making import entry


@pytest.mark.parametrize("place", [str, Path, lambda path: f"sqlite://{path}", Path.as_uri])
def test_a_record_is_the_same_by_its_path_and_by_its_url(tmp_path: Path, place: object) -> None:
    folder = tmp_path / "a state"
    assert callable(place)
    named = str(place(folder)).replace("file:", "sqlite:")
    writer = open_writer(named)
    writer.write([happened(entry())])
    writer.close()
    for same in (folder, str(folder), f"sqlite://{folder}", named):
        with open_history(same) as history:
            assert [record.seq for record in history.find()] == [1]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("mysql://db/x", r"no record can be kept in mysql://…. Known are: sqlite.*, postgresql://"),
        ("postgresql:/ann@db/x", r"no record can be kept in postgresql:…. Known are"),
        ("postgresql://ann:secret@db/x", r"~/\.pgpass"),
        ("postgresql://db/x?password=secret", r"PGPASSFILE"),
        ("sqlite://folder", "takes an absolute path"),
        ("sqlite:///folder?mode=rw", "takes an absolute path"),
    ],
)
def test_a_place_that_is_none_is_said(url: str, why: str) -> None:
    for open_it in (open_writer, open_history):
        with pytest.raises(StoreError, match=why):
            open_it(url)
