from crabhook.cli.demo import calls
from crabhook.platforms import PLATFORMS


def test_the_recorded_inputs_are_ones_a_claude_code_sends() -> None:
    events = [PLATFORMS["claude"].read(call.payload) for call in calls()]
    assert [event.tool.name for event in events if event.tool] == [
        "Bash",
        "Edit",
        "AskUserQuestion",
        "ExitPlanMode",
    ]
    assert {event.name for event in events} == {"PreToolUse"}
