"""What is wrong with how a hook ends and what it reads: today's protocol."""

from collections.abc import Iterator

from crabhook.lint.finding import Remark
from crabhook.lint.rules.subjects import Hook, script_rule
from crabhook.lint.script import Source
from crabhook.tables import tables

_WRONG = tables(__file__, "names")
_STOPS = frozenset({"Stop", "SubagentStop", "AfterAgent"})


@script_rule("CH003")
def _refuses_with_the_wrong_code(hook: Hook) -> Iterator[Remark]:
    goes_on = hook.protocol.goes_on if hook.protocol else None
    for one in hook.script.exits:
        wrong = one.code not in {0, 2, None} and (goes_on is None or one.code in goes_on)
        if one.refusing and wrong and not one.answered:
            told = f"this says that it refuses, and exits with {one.code}: the action goes ahead"
            yield Remark(one.place, told)


@script_rule("CH009")
def _refuses_where_it_cannot(hook: Hook) -> Iterator[Remark]:
    known = hook.protocol.events if hook.protocol is not None else {}
    if not all(name in known and known[name].silent for name in hook.events):
        return
    for one in hook.script.exits if hook.events else ():
        if one.code == 2 and not one.answered:
            events = " and ".join(sorted(hook.events))
            yield Remark(one.place, f"exit code 2 blocks nothing on {events}")


@script_rule("CH017")
def _refuses_in_silence(hook: Hook) -> Iterator[Remark]:
    protocol = hook.protocol
    if protocol is None or protocol.heeds_silence or hook.script.speaks:
        return
    if protocol.any_output and (hook.script.answers or hook.script.chatter):
        return
    told = f"exit code 2 with nothing on standard error: {protocol.title} lets the action go ahead"
    yield from (Remark(one.place, told) for one in hook.script.exits if one.code == 2)


@script_rule("CH012")
def _no_such_variable(hook: Hook) -> Iterator[Remark]:
    for one in hook.script.variables:
        if right := _WRONG["variables"].get(one.name):
            told = f"no agent sets {one.name}; read `{right}` from standard input"
            yield Remark(one.place, told)
    if all(one.source is not Source.JSON for one in hook.script.readings):
        for reading in hook.script.readings:
            if reading.source is Source.ARGUMENTS:
                yield Remark(reading.place, "agents give a hook no arguments of their own")


@script_rule("CH013")
def _no_such_field(hook: Hook) -> Iterator[Remark]:
    for one in hook.script.fields:
        if right := _WRONG["fields"].get(one.name):
            yield Remark(one.place, f"no agent sends `{one.name}`; what is meant may be `{right}`")


@script_rule("CH014")
def _endless_stop(hook: Hook) -> Iterator[Remark]:
    if not hook.events or not hook.events <= _STOPS or "stop_hook_active" in hook.script.words:
        return
    places = [place for place, value in hook.texts("decision") if value in {"block", "deny"}]
    places += [one.place for one in hook.script.exits if one.code == 2]
    for place in places:
        yield Remark(place, "this keeps the agent going, again and again")
