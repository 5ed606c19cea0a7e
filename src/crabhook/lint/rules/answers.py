"""What is wrong with a hook's answer, with how it ends and with what it reads: today's protocol."""

from collections.abc import Iterator

from crabhook.data_files import tables
from crabhook.lint.configuration import protocols
from crabhook.lint.configuration.command import listed, near_name
from crabhook.lint.rules.subjects import Hook, script_rule
from crabhook.lint.script import Remark, Source, ValueShape, Written, members

_SPECIFIC = "hookSpecificOutput"
_INPUT = "updatedInput"
_CLAUDES_WORDS = frozenset({"permissionDecision", "updatedInput", "decision"})
# `action` and `message`, which Codex does not know either, have rules of their own.
_CODEX_TOP = frozenset({"continue", "stopReason", "suppressOutput", "systemMessage"})
_CODEX_TOP |= {"decision", "reason", _SPECIFIC, "action", "message"}


@script_rule("CH001")
def _action(hook: Hook) -> Iterator[Remark]:
    for shape in hook.shapes():
        for value in list(shape.of("action"))[:1]:
            literal = f" ({value.literal!r})" if isinstance(value.literal, str) else ""
            yield Remark(value.place, f"the answer's `action`{literal} is not read by any agent")


@script_rule("CH002")
def _message(hook: Hook) -> Iterator[Remark]:
    # Copilot reads it with the answer to a PermissionRequest
    for shape in () if hook.is_for("copilot") else hook.shapes():
        for value in list(shape.of("message"))[:1]:
            yield Remark(value.place, "the answer's `message` is not read by any agent")


@script_rule("CH004")
def _event_name(hook: Hook) -> Iterator[Remark]:
    agents = [hook.protocol] if hook.protocol is not None else protocols().values()
    event_names = frozenset(name for agent in agents for name in agent.events)
    # A script whose answers bear several names chooses among them when it runs.
    chooses = len({name for _, name in hook.texts(_SPECIFIC, "hookEventName")}) > 1
    strict = hook.protocol is not None and hook.protocol.strict_event_name
    for specific in hook.shapes(_SPECIFIC):
        whole = specific.whole and specific.members is not None
        if strict and whole and not any(True for _ in specific.of("hookEventName")):
            yield Remark(specific.place, "hookSpecificOutput has no hookEventName")
        for place, name in specific.texts("hookEventName"):
            if name not in event_names:
                near = near_name(name, event_names)
                meant = f", did you mean {near}?" if near else ""
                yield Remark(place, f"hookEventName {name!r} is no event{meant}")
            elif hook.events and name not in hook.events and not chooses:
                message = f"hookEventName is {name!r}, but the hook is registered on"
                yield Remark(place, f"{message} {listed(hook.events)}")


@script_rule("CH005")
def _dropped_fields(hook: Hook) -> Iterator[Remark]:
    paths = [(_SPECIFIC, _INPUT), (_SPECIFIC, "decision", _INPUT)]
    if hook.protocol is not None and hook.protocol.input_key != _INPUT:
        paths = [(_SPECIFIC, hook.protocol.input_key)]
    for path in paths:
        for rewritten in hook.shapes(*path):
            keys = rewritten.members
            if keys is None or not rewritten.whole or "questions" in keys:
                continue
            if "answers" in keys:
                effect = "has answers and no questions: the call is refused"
            elif keys:
                effect = f"is made of {listed(keys)}: any other field is lost"
            else:
                effect = "is empty: every field is lost"
            yield Remark(rewritten.place, f"{path[-1]} {effect}")


@script_rule("CH006")
def _unknown_values(hook: Hook) -> Iterator[Remark]:
    protocol = hook.protocol
    if protocol is not None and protocol.name != "codex":
        words = " or ".join(sorted(protocol.decisions))
        for place, value in hook.texts("decision"):
            if value not in protocol.decisions:
                message = f"decision {value!r} is not a word of {protocol.title}'s: it is {words}"
                yield Remark(place, message)
    if hook.is_for("gemini", "codex"):
        return
    permissions = protocols()["claude"].permissions
    for place, value in hook.texts(_SPECIFIC, "permissionDecision"):
        if value not in permissions:
            yield Remark(place, f"permissionDecision {value!r} is none of {listed(permissions)}")
    for place, value in hook.texts(_SPECIFIC, "decision", "behavior"):
        if value not in {"allow", "deny"}:
            yield Remark(place, f"behavior {value!r} is neither allow nor deny")


@script_rule("CH007")
def _misplaced(hook: Hook) -> Iterator[Remark]:
    nested = (hook.protocol or protocols()["claude"]).nested - {"action"}
    for shape in hook.shapes():
        for key, place in members(shape):
            if key in nested:
                yield Remark(place, f"`{key}` is only read inside hookSpecificOutput")


@script_rule("CH008")
def _unread_on_event(hook: Hook) -> Iterator[Remark]:
    protocol = hook.protocol or protocols()["claude"]
    if not protocol.strict_event_name:
        return
    for specific in hook.shapes(_SPECIFIC):
        named = {name for _, name in specific.texts("hookEventName")}
        if not named or not named <= set(protocol.events):
            continue
        read = frozenset().union(*(protocol.events[name].specific for name in named))
        way = f": it reads {listed(read)}" if read else ""
        for key, place in members(specific):
            if key not in read | {"hookEventName"}:
                yield Remark(place, f"{' and '.join(sorted(named))} does not read `{key}`{way}")


@script_rule("CH010")
def _behind_text(hook: Hook) -> Iterator[Remark]:
    first = {answer.behind: answer for answer in reversed(hook.script.answers)}
    for behind, answer in first.items():
        if behind is not None:
            message = f"this text comes before the answer of line {answer.place.line}"
            yield Remark(behind, f"{message}, on the same output")


@script_rule("CH011")
def _not_json(hook: Hook) -> Iterator[Remark]:
    for answer in hook.script.answers:
        if answer.written is not Written.JSON:
            yield Remark(answer.place, f"the answer is printed {answer.written}")


@script_rule("CH015")
def _void_to_codex(hook: Hook) -> Iterator[Remark]:
    for shape in hook.shapes() if hook.is_for("codex") else ():
        for key, place in members(shape):
            if key not in _CODEX_TOP:
                yield Remark(place, f"Codex knows no `{key}`")
        for place, value in shape.texts("decision"):
            if value != "block":
                yield Remark(place, f"decision {value!r} is not read by Codex: it is block")
        for specific in shape.of(_SPECIFIC):
            yield from _void_permission(specific)
        if any(True for _ in shape.of(_SPECIFIC, "permissionDecision")):
            yield from _void_beside(shape)


def _void_permission(specific: ValueShape) -> Iterator[Remark]:
    keys = specific.members or {}
    for place, value in specific.texts("permissionDecision"):
        if value == "deny" and "permissionDecisionReason" not in keys and specific.whole:
            yield Remark(place, "a deny without a permissionDecisionReason")
        elif value == "allow" and "updatedInput" not in keys and specific.whole:
            yield Remark(place, "allow alone is not supported on PreToolUse")
        elif value not in {"allow", "deny"}:
            yield Remark(place, f"permissionDecision {value!r} is not supported")


def _void_beside(shape: ValueShape) -> Iterator[Remark]:
    """Find members that make a decision beside them void."""
    for key, value in (("continue", False), ("suppressOutput", True)):
        for place, literal in shape.literals(key):
            if literal is value:
                yield Remark(place, f"{key} {str(value).lower()} beside a decision makes it void")
    for reason in list(shape.of("stopReason"))[:1]:
        yield Remark(reason.place, "stopReason beside a decision makes it void")


@script_rule("CH016")
def _claudes_words_to_gemini(hook: Hook) -> Iterator[Remark]:
    for specific in hook.shapes(_SPECIFIC) if hook.is_for("gemini") else ():
        for key, place in members(specific):
            if key in _CLAUDES_WORDS:
                yield Remark(place, f"Gemini CLI does not read `{key}`")


@script_rule("CH023")
def _ignored_by_copilot(hook: Hook) -> Iterator[Remark]:
    if hook.protocol is None or not hook.is_for("copilot") or not hook.events:
        return
    for specific in hook.shapes(_SPECIFIC):
        if hook.events <= hook.protocol.spellings:
            words = f"Copilot reads no hookSpecificOutput on {listed(hook.events)}"
            yield Remark(specific.place, words)
            continue
        for key, place in members(specific):
            if key != "hookEventName" and "PreToolUse" not in hook.events:
                yield Remark(place, f"Copilot reads `{key}` at the top level alone")


_WRONG = tables(__file__, "names")
_STOPS = frozenset({"Stop", "SubagentStop", "AfterAgent"})


@script_rule("CH003")
def _refuses_with_the_wrong_code(hook: Hook) -> Iterator[Remark]:
    goes_on = hook.protocol.goes_on if hook.protocol else None
    for way_out in hook.script.exits:
        wrong = way_out.code not in {0, 2, None} and (goes_on is None or way_out.code in goes_on)
        if way_out.refusing and wrong and not way_out.answered:
            message = (
                f"this says that it refuses, and exits with {way_out.code}: the action goes ahead"
            )
            yield Remark(way_out.place, message)


@script_rule("CH009")
def _refuses_where_it_cannot(hook: Hook) -> Iterator[Remark]:
    events_known = hook.protocol.events if hook.protocol is not None else {}
    if not all(name in events_known and events_known[name].silent for name in hook.events):
        return
    for way_out in hook.script.exits if hook.events else ():
        if way_out.code == 2 and not way_out.answered:
            events = " and ".join(sorted(hook.events))
            yield Remark(way_out.place, f"exit code 2 blocks nothing on {events}")


@script_rule("CH017")
def _refuses_in_silence(hook: Hook) -> Iterator[Remark]:
    protocol = hook.protocol
    if protocol is None or protocol.heeds_silence or hook.script.speaks:
        return
    if protocol.any_output and (hook.script.answers or hook.script.chatter):
        return
    message = (
        f"exit code 2 with nothing on standard error: {protocol.title} lets the action go ahead"
    )
    yield from (
        Remark(way_out.place, message) for way_out in hook.script.exits if way_out.code == 2
    )


@script_rule("CH018")
def _runs_its_input(hook: Hook) -> Iterator[Remark]:
    for place in hook.script.runs_input:
        yield Remark(place, "this runs, as shell, what the agent sent")


@script_rule("CH012")
def _no_such_variable(hook: Hook) -> Iterator[Remark]:
    for variable in hook.script.variables:
        if right := _WRONG["variables"].get(variable.name):
            message = f"no agent sets {variable.name}: read `{right}` from standard input"
            yield Remark(variable.place, message)
    if all(reading.source is not Source.JSON for reading in hook.script.readings):
        for reading in hook.script.readings:
            if reading.source is Source.ARGUMENTS:
                yield Remark(reading.place, "agents give a hook no arguments of their own")


_COPILOTS_FIELDS = frozenset({"sessionId", "toolName", "toolInput", "tool_result"})


@script_rule("CH013")
def _no_such_field(hook: Hook) -> Iterator[Remark]:
    sent = _COPILOTS_FIELDS if hook.is_for("copilot") else frozenset()
    for field in hook.script.fields:
        if field.name not in sent and (right := _WRONG["fields"].get(field.name)):
            yield Remark(
                field.place, f"no agent sends `{field.name}`: what is meant may be `{right}`"
            )


@script_rule("CH014")
def _endless_stop(hook: Hook) -> Iterator[Remark]:
    if not hook.events or not hook.events <= _STOPS or "stop_hook_active" in hook.script.words:
        return
    places = [place for place, value in hook.texts("decision") if value in {"block", "deny"}]
    places += [way_out.place for way_out in hook.script.exits if way_out.code == 2]
    for place in places:
        yield Remark(place, "this keeps the agent going, again and again")
