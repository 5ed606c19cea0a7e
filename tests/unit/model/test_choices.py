from crabhook.model.decision import Beside, Choices, Verdict


def test_no_opinion_can_always_be_given() -> None:
    assert Choices().verdicts == {Verdict.PASS}
    assert Choices().beside is Beside.NOTHING


def test_two_legs_of_a_call_can_be_told_what_both_can() -> None:
    call = Choices(frozenset({Verdict.PASS, Verdict.DENY, Verdict.DEFER}), Beside.NOTE)
    request = Choices(frozenset({Verdict.PASS, Verdict.DENY}), Beside.NOTE | Beside.INTERRUPT)
    assert call & request == Choices(frozenset({Verdict.PASS, Verdict.DENY}), Beside.NOTE)
