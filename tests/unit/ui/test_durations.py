import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.ui.durations import LONGEST, read_duration
from crabhook.ui.words import LineError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("5m", 300), ("2h", 7200), ("1h30m", 5400), ("1H1M1S", 3661), ("100h", LONGEST)],
)
def test_a_length_of_time_is_hours_minutes_and_seconds(text: str, seconds: float) -> None:
    assert read_duration(text, "here") == seconds


@pytest.mark.parametrize(
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
