"""What our entries tell of how they were installed, and what this version would write for that."""

from collections.abc import Mapping, Sequence

from crabhook.doctor.entry import Entry
from crabhook.install import program
from crabhook.install.entries import with_hooks
from crabhook.model.document import as_json, parse
from crabhook.model.request import Stance
from crabhook.platforms.installation import CLIENT_GRACE, MAX_WAIT, USUAL_WAIT, Group, Installation
from crabhook.platforms.interface import Platform
from crabhook.server.address import asked_address

_USUAL_ONCE = 3600  # what was written where nobody chose, before the server's address was, too


def installation(agent: Platform, entries: Sequence[Entry]) -> Installation:
    """Return how the entries were installed, as far as they tell it; for the program they start."""
    one = next((entry for entry in entries if entry.stub), None)
    waits = [entry.options.wait for entry in entries if entry.given("--wait")]
    server = _first(entries, "--server")
    wait = int(max(waits)) - CLIENT_GRACE if waits else USUAL_WAIT
    if server is None and wait == _USUAL_ONCE:
        wait = USUAL_WAIT
    companion = any("--companion" in entry.arguments for entry in entries)
    stance = Stance.COMPANION if companion else Stance.GATE
    return Installation(
        interpreter=one.interpreter if one else program.interpreter(),
        stub=one.stub if one else program.stub(),
        stance=stance if stance in agent.settings.stances else agent.settings.stance,
        fail_closed=any(entry.given("--when-unreachable") == "deny" for entry in entries),
        wait=min(max(wait, 1), MAX_WAIT),
        server=server or asked_address(),
        token_file=_first(entries, "--token-file"),
        tls_ca=_first(entries, "--tls-ca"),
        url=next((entry.url for entry in entries if entry.url), None),
    )


def differences(text: str, entries: Sequence[Entry], wanted: Mapping[str, Group]) -> dict[str, str]:
    """Return, by event, how the settings' `text` differs from what this version would write.

    `entries` are ours in it.
    """
    if with_hooks(text, wanted) == text:
        return {}
    here = {one.event for one in entries}
    found = {event: "is missing" for event in wanted if event not in here}
    found |= dict.fromkeys(sorted(here - set(wanted)), "is not hooked any more")
    hooks = parse(text).member("hooks")
    there = hooks.value if hooks and isinstance(hooks.value, dict) else {}
    for event, group in wanted.items():
        ours = [one for one in entries if one.event == event]
        groups = there.get(event)
        whole = isinstance(groups, list) and as_json(group) in groups
        if ours and not (whole and len(ours) == 1):
            found[event] = "is written otherwise"
    return found


def _first(entries: Sequence[Entry], option: str) -> str | None:
    return next((value for entry in entries if (value := entry.given(option))), None)
