"""What was said of a call."""

from crabhook.policy.rule import PartRuling, Ruling


def test_what_was_said_twice_is_kept_once() -> None:
    said = [PartRuling("command", "ls", None, None, "no rule speaks of it") for _ in range(2)]
    assert len(dict.fromkeys(said)) == 1
    assert Ruling(None, None, "why") == Ruling(None, None, "why")
