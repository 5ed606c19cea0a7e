from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.ui.commands.words import LONGEST, LineError, read_duration, read_life
from tests.support.rows import every_row


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("5m", 300), ("2h", 7200), ("1h30m", 5400), ("1H1M1S", 3661), ("100h", LONGEST)],
)
def test_a_length_of_time_is_hours_minutes_and_seconds(text: str, seconds: float) -> None:
    assert read_duration(text, "here") == seconds


@every_row(
    "text", ["", "5", "m", "5 m", "5m2h", "1.5h", "-5m", "5min", "\u0665m", "0s", "0h0m", "100h1s"]
)
def test_anything_else_is_refused_with_the_lines_own_usage(text: str) -> None:
    with pytest.raises(LineError, match=r"nothing was decided\. Write: away \[2h\]"):
        read_duration(text, "away [2h]")


@given(st.text(st.sampled_from("0159hms.-x")) | st.text(max_size=9))
def test_what_is_read_is_a_time_that_can_be_waited(text: str) -> None:
    try:
        seconds = read_duration(text, "away")
    except LineError:
        return
    assert 0 < seconds <= LONGEST


@pytest.mark.parametrize(
    ("text", "life"),
    [
        ("30d", timedelta(days=30)),
        ("12h", timedelta(hours=12)),
        ("1D6H", timedelta(days=1, hours=6)),
        ("3650d", timedelta(days=3650)),
        ("forever", None),
        ("FOREVER", None),
    ],
)
def test_a_rule_holds_for_days_hours_or_for_ever(text: str, life: timedelta | None) -> None:
    assert read_life(text, "here") == life


@every_row("text", ["", "30", "d", "5m", "-1d", "1.5d", "0d", "0d0h", "3651d", "999999d", "ever"])
def test_a_life_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(LineError, match=r"nothing was decided\. Write: 3 remember"):
        read_life(text, "3 remember K")
