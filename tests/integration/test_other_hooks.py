"""A card warns of another program's hook that may change the call after the operator: true server."""

import json
import time

from tests.support.client import Client, sample
from tests.support.plain_desk import PlainDesk

WARNED = "ALARM: another hook may change this call after you: /opt/rewriter "


def settings(*hooks: dict[str, object]) -> str:
    return json.dumps({"hooks": {"PreToolUse": list(hooks)}})


REWRITER = {"matcher": "Bash", "hooks": [{"type": "command", "command": "/opt/rewriter"}]}


def test_a_card_warns_of_a_rewriting_hook_before_it_rewrote_anything_and_until_it_is_gone() -> None:
    with PlainDesk() as desk:
        path = desk.folder / ".claude" / "settings.json"
        path.parent.mkdir()
        path.write_text(settings(REWRITER), encoding="utf-8")
        there = {"cwd": str(desk.folder)}
        first = Client(desk.address, sample("PreToolUse-Bash", session_id="a", **there))
        number = desk.card("Bash")
        desk.wait_for(WARNED)
        desk.say(f"{number} deny not today")
        first.finish()
        path.write_text(settings(), encoding="utf-8")
        time.sleep(1.5)  # longer than between two looks
        second = Client(desk.address, sample("PreToolUse-Bash", session_id="b", **there))
        number = desk.card("Bash")
        desk.say(f"{number} deny not today")
        second.finish()
        desk.wait_for(rf"^#{number} delivered")
        assert len([line for line in desk.said if "another hook" in line]) == 1
