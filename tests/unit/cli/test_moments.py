"""Times as people write them."""

import argparse
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from crabhook.cli.arguments import moment, when


@pytest.fixture(autouse=True)
def _far_from_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()


@pytest.fixture(autouse=True, scope="module")
def _clock_put_back() -> Iterator[None]:
    yield
    time.tzset()


@pytest.mark.parametrize(
    ("text", "recorded"),
    [
        ("2026-01-31", "2026-01-30T18:30:00.000000Z"),
        ("2026-01-31T10:00", "2026-01-31T04:30:00.000000Z"),
        ("2026-01-31T10:00Z", "2026-01-31T10:00:00.000000Z"),
        ("2026-01-31T10:00+02:00", "2026-01-31T08:00:00.000000Z"),
    ],
)
def test_a_past_time_without_a_zone_is_meant_in_this_machines(text: str, recorded: str) -> None:
    assert when(text) == recorded


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("5m", 300), ("2h", 7200), ("7d", 604800), ("1w", 604800)]
)
def test_a_number_with_a_unit_is_so_long_ago(text: str, seconds: int) -> None:
    ago = datetime.now(UTC) - datetime.fromisoformat(when(text))
    assert abs(ago - timedelta(seconds=seconds)) < timedelta(seconds=60)


def test_a_time_without_a_date_is_today() -> None:
    found = datetime.fromisoformat(when("00:00")).astimezone()
    assert (found.hour, found.minute) == (0, 0)
    assert abs(datetime.now().astimezone() - found) < timedelta(days=1, minutes=1)


@pytest.mark.parametrize("text", ["", "yesterday", "25:00", "2026-13-01", "x1h", "²h", "h"])
def test_what_is_no_past_time_is_refused_in_words(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"is no time|longer ago"):
        when(text)


@pytest.mark.parametrize("text", ["999999999999d", "9999999w"])
def test_longer_ago_than_there_are_years_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="longer ago"):
        when(text)


def test_the_end_of_a_rule_without_a_zone_is_meant_in_utc() -> None:
    assert moment("2027-01-31") == datetime(2027, 1, 31, tzinfo=UTC)
    assert moment("2027-01-31T10:00+02:00") == datetime(2027, 1, 31, 8, tzinfo=UTC)
    with pytest.raises(argparse.ArgumentTypeError, match="no date and time"):
        moment("soon")
