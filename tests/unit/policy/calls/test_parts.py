"""What a call comes to."""

from crabhook.policy.calls.parts import CommandPart, FilePart, Use
from crabhook.policy.calls.read import read_call
from tests.unit.policy.law import bash, context


def test_a_call_lists_what_is_sure_before_what_is_suspected() -> None:
    call = read_call(bash("sudo ls > out"), context())
    assert call is not None
    command, redirect = call.required
    assert isinstance(command, CommandPart)
    assert isinstance(redirect, FilePart)
    assert (command.text, redirect.use) == ("sudo ls", Use.WRITE)
    assert call.parts[:2] == call.required
    assert any(isinstance(one, CommandPart) and "ls" in one.lines for one in call.suspected)
