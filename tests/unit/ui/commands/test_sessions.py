import pytest

from crabhook.model.event import Event
from crabhook.ui.commands.parse import find_session, known_session, shown_session
from crabhook.ui.commands.words import LineError
from tests.support.desk import PlayedDesk
from tests.support.plain_sitting import bash, sample

WHOLE = "557e8e5a-66c8-49be-a982-72d2c674e9e5"


def test_a_session_is_found_by_the_start_of_its_id() -> None:
    assert find_session("3f", ["3f1c", "3f1c", "4a"], "x") == "3f1c"


def test_a_whole_id_is_not_taken_for_the_start_of_another() -> None:
    assert find_session("s1", ["s1", "s10"], "x") == "s1"


def test_a_start_of_several_finds_none_and_names_a_few() -> None:
    with pytest.raises(LineError, match="7 sessions begin with s: s0, s1, s2, s3, s4; nothing"):
        find_session("s", [f"s{n}" for n in range(7)], "x")


@pytest.mark.parametrize("start", ["t", "S1", "\x1b[2J"])
def test_what_no_session_begins_with_is_told_safely(start: str) -> None:
    with pytest.raises(LineError, match="no session that is known begins with") as caught:
        find_session(start, ["s1", ""], "x")
    assert str(caught.value).isprintable()


def test_an_odd_id_is_written_as_it_is_shown() -> None:
    event = Event("claude", "X", "a b\n#8 ALLOWED")
    assert shown_session(event.session) == "a⟨U+0020⟩b␊#8⟨U+0020⟩ALLOWED"
    assert find_session("a⟨U+0020⟩b␊", [event.session], "x") == event.session


def test_sessions_are_known_by_what_waits_and_what_went_by() -> None:
    desk = PlayedDesk()
    desk.ask(bash("ls", "waits"))
    desk.ask(sample("Notification", session_id="heard"))
    assert known_session("wa", desk, "x") == "waits"
    assert known_session("he", desk, "x") == "heard"
    with pytest.raises(LineError, match="no session"):
        known_session("557e8e5a", desk, "x")
    assert known_session(WHOLE, desk, "x") == WHOLE
