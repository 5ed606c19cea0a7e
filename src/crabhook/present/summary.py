"""A card in a few words: which tool, whose, where, and what for.

Each text is safe, on one line and short, so that any list of cards costs the same. `spell` is for
terminals that need more than `safe`.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from json import JSONEncoder

from crabhook.data_files import tables
from crabhook.model.card import Card, State
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import QuestionError
from crabhook.model.event import Event
from crabhook.model.jsontext import CUT, Value, first_text
from crabhook.model.question import describe, read_questions
from crabhook.model.wording import plural
from crabhook.policy.calls.shell_call import read_patch
from crabhook.present.compare import counted, line_count
from crabhook.present.phrases import joined
from crabhook.present.safe import Speller, safe
from crabhook.vocabulary import vocabulary

LONGEST = 400  # characters of an agent's text that are looked at; no line of a list shows more
MOST_COPIED = 1_000_000  # letters
MAIN_AGENT = "main"
AT = "@"
"""What parts a folder's name from the machine that it is on."""
# An agent names its folder: behind a blank these letters would look like the mark of a machine.
_LIKE_A_MACHINE = re.compile(r"(?<=\s)[@\uff20\ufe6b]")
_PATCH_TOOL = "apply_patch"
_PATCH_READ = 20_000  # characters; a longer patch is shown from its start
_COUNTED = 200_000  # letters of an edit whose lines are counted
_ID_SHOWN = 4  # characters of an agent's id, enough to tell a few apart
# What was decided about a plan, and how a decision is said before it is given.
_OF_A_PLAN = {Verdict.ALLOW: "APPROVED", Verdict.DENY: "SENT BACK"}
_BEFORE = {
    "APPROVED": "APPROVE",
    "SENT BACK": "SEND BACK",
    "ANSWERED": "ANSWER",
    "LEFT TO ITS DIALOG": "LEAVE TO ITS DIALOG",
    "ALLOWED edited": "ALLOW edited",
    "HANDED BACK": "HAND BACK",
}
_EVENT, _TOOL = tables(__file__, "fields")["event"], tables(__file__, "fields")["tool"]
TELLING = tuple(_TOOL["telling"].split())
"""The fields of a tool's input that say what it is for, the most telling first."""
_FIRST_LINES, _FILES = _TOOL["first_lines"].split(), _TOOL["files"].split()


def brief(text: str, spell: Speller = safe) -> str:
    """Return the start of an agent's text, safe; an ellipsis replaces the rest."""
    return spell(text) if len(text) <= LONGEST else spell(text[:LONGEST]) + "…"


def tool_label(event: Event, spell: Speller = safe) -> str:
    """Return the event's tool, or the event's own name if it has no tool."""
    return brief(event.tool.name if event.tool else event.name, spell)


def asked_label(event: Event, spell: Speller = safe) -> str:
    """Return what is asked, in a word for people: a plan, questions, or else the event's tool."""
    if is_plan(event):
        return "plan"
    return "questions" if is_question(event) else tool_label(event, spell)


def called(event: Event, spell: Speller = safe) -> str:
    """Return what an event is about on one line: its tool and subject, of a command that alone."""
    tool = "" if is_command(event) else asked_label(event, spell)
    return joined(tool, summary(event, spell), by=" ")


def agent_name(event: Event, spell: Speller = safe) -> str:
    """Return the name that the agent's makers gave it."""
    return vocabulary().titles.get(event.agent) or brief(event.agent, spell)


def agent_label(event: Event, spell: Speller = safe) -> str:
    """Return which of the session's agents it was: "main", or a subagent's kind and id."""
    if not event.agent_id:
        return MAIN_AGENT
    kind = brief(event.agent_type, spell) or "agent"
    return f"{kind}·{spell(event.agent_id[:_ID_SHOWN])}"


def folder_name(event: Event) -> str:
    """Return the last part of the folder the agent works in, as the agent sent it."""
    parts = event.cwd[-LONGEST:].replace("\\", "/").rstrip("/").rsplit("/", 1)
    return parts[-1] or event.cwd


def project(event: Event, spell: Speller = safe) -> str:
    """Return the last part of the folder the agent works in; it never looks like a machine."""
    named = _LIKE_A_MACHINE.sub(lambda at: f"\u27e8U+{ord(at[0]):04X}\u27e9", folder_name(event))
    return brief(named, spell)


def machine(event: Event, spell: Speller = safe) -> str:
    """Return the team's name of the machine whose token the hook showed; empty without one."""
    return brief(event.machine, spell)


def place(event: Event, spell: Speller = safe) -> str:
    """Return where the agent works, `project @ build1`; the project alone without a machine."""
    return joined(project(event, spell), on_machine(event.machine, spell), by=" ")


def on_machine(name: str, spell: Speller = safe) -> str:
    """Return the words for a machine behind a folder, `@ build1`; empty without one."""
    return f"{AT} {brief(name, spell)}" if name else ""


def session_label(event: Event, spell: Speller = safe) -> str:
    """Return the start of the session's id, enough to tell sessions apart."""
    return spell(event.session[:8])


def copied(event: Event) -> str:
    """Return a call's command, or its input as JSON, exactly as sent."""
    if event.tool is None:
        return json_start(dict(event.fields), MOST_COPIED, indent=2)
    command = event.given.get("command")
    if isinstance(command, str):
        return command
    return json_start(event.tool.input, MOST_COPIED, indent=2)


def is_command(event: Event) -> bool:
    """Whether the event is about a command for a shell."""
    name = event.tool.name if event.tool else ""
    return vocabulary().aliases.get(name, name) == "Bash"


def is_question(event: Event) -> bool:
    """Whether the event asks the operator questions with answers to choose."""
    return event.calls(*vocabulary().questions)


def is_plan(event: Event) -> bool:
    """Whether the event presents a plan, to be approved."""
    return event.calls(*vocabulary().plans)


def asked_again(before: Card, card: Card) -> bool:
    """Whether a hook asks about the card that did not ask before: there is more to see."""
    earlier = {leg.id for leg in before.requests}
    return any(leg.id not in earlier for leg in card.requests)


def outcome(card: Card) -> str:
    """Return how a card ended, in words for people; empty while it waits.

    `Card.outcome` is for programs.
    """
    if card.decision is None or card.state is not State.DECIDED:
        return card.outcome
    return said(card.event, card.decision)


def as_allowed(card: Card) -> Event:
    """Return a card's event; of a call that was allowed changed, with the input it has then.

    So is a call that somebody proposes to allow changed, where several must allow it.
    """
    event, made = card.event, card.decision or (card.ballot and card.ballot.proposal)
    changed = made.updated_input if made else None
    if changed is None or event.tool is None:
        return event
    return replace(event, tool=replace(event.tool, input=dict(changed)))


def as_changed(card: Card) -> Card:
    """Return a card that was allowed changed as if that had been asked; any other as it is."""
    allowed, first = as_allowed(card), card.requests[0]
    if allowed is first.event or is_question(allowed):
        return card
    return replace(card, requests=(replace(first, event=allowed),))


def said(event: Event, decision: Decision) -> str:
    """Return what was decided about an event, in words for people."""
    verdict = decision.verdict
    if is_plan(event):
        return _OF_A_PLAN.get(verdict, verdict.done)
    if verdict is not Verdict.ALLOW:
        return verdict.done
    if decision.updated_input is None:
        return "LEFT TO ITS DIALOG" if is_question(event) else verdict.done
    return "ANSWERED" if is_question(event) else f"{verdict.done} edited"


def to_be_said(event: Event, decision: Decision) -> str:
    """Return the decision that is about to be given, in words for people."""
    done = said(event, decision)
    return _BEFORE.get(done, decision.verdict.replace("-", " ").upper())


def names_plan(event: Event) -> bool:
    """Whether the event only names the file in which its plan lies."""
    return is_plan(event) and "plan_filename" in event.given


def summary(event: Event, spell: Speller = safe) -> str:
    """Return what the call is for, in one line: its command, file, question or plan.

    A line break in a command stays visible, so one line never looks like the whole of several.
    """
    if event.tool is not None:
        return brief(_told(event, event.tool.input), spell)
    title, message = event.text("title").strip(), event.text("message").strip()
    if title and message:
        return brief(f"{title}: {message}", spell)
    return brief(first_text(event.fields, _EVENT["telling"].split())[1].strip(), spell)


def _told(event: Event, tool_input: Value) -> str:
    if is_question(event):
        try:
            return describe(read_questions(tool_input))
        except QuestionError as error:
            return f"unreadable: {error}"
    if not isinstance(tool_input, dict) or not tool_input:
        return "" if tool_input in ({}, None) else json_start(tool_input, LONGEST)
    command = tool_input.get("command")
    if event.tool and event.tool.name == _PATCH_TOOL and isinstance(command, str):
        return _patch(command, event.cwd)
    key, text = first_text(tool_input, TELLING)
    if key:
        text = _first_line(text) if key in _FIRST_LINES else text
        return _file(text, tool_input, event.cwd) if key in _FILES else text
    return ", ".join(
        f"{key}: {value[:LONGEST] if isinstance(value, str) else json_start(value, LONGEST)}"
        for key, value in islice(tool_input.items(), 8)
    )


def _patch(text: str, cwd: str) -> str:
    """Return the files that a patch names, or the patch if there may be others."""
    patch = read_patch(text) if len(text) <= _PATCH_READ else None
    if patch is None or patch.trouble:
        return text
    folder = cwd.rstrip("/") + "/"
    return f"patch {', '.join(dict.fromkeys(path.removeprefix(folder) for path in patch.paths))}"


def _first_line(value: str) -> str:
    """Return the first line with words; the screen shows the others."""
    start = value.lstrip()[: LONGEST + 1]
    return start.split("\n", 1)[0].lstrip("# ") or start


def _file(path: str, whole: Mapping[str, Value], cwd: str) -> str:
    """Return the path relative to the agent's folder, and the numbers of changed lines."""
    edits = whole.get("edits")
    each = edits if isinstance(edits, list) and len(edits) <= LONGEST else [dict(whole)]
    counts = [_count(edit) for edit in each if isinstance(edit, dict)]
    counted = [count for count in counts if count]
    size, content = "", whole.get("content", whole.get("file_text"))
    if counts and len(counted) == len(counts):
        added, removed = map(sum, zip(*counted, strict=True))
        everywhere = (
            "everywhere" if True in (whole.get("replace_all"), whole.get("replaceAll")) else ""
        )
        size = f"+{added} -{removed} {everywhere}".rstrip()
    elif isinstance(content, str) and not content.endswith(CUT):
        size = plural(line_count(content), "line")
    path = path.removeprefix(cwd.rstrip("/") + "/") or path
    shown = path if len(path) <= LONGEST // 2 else "…" + path[-LONGEST // 2 :]
    return f"{shown} {size}".rstrip()


def _count(edit: Mapping[str, Value]) -> tuple[int, int] | None:
    match edit:
        case (
            {"old_string": str(old), "new_string": str(new)}
            | {
                "old_str": str(old),
                "new_str": str(new),
            }
            | {"oldString": str(old), "newString": str(new)}
        ) if len(old) + len(new) <= _COUNTED:
            return None if old.endswith(CUT) or new.endswith(CUT) else counted(old, new)
    return None


def json_start(value: Value, longest: int, *, indent: int | None = None) -> str:
    """Return a value's JSON, or as much of it as shows that it is longer than `longest`."""
    written = ""
    for piece in JSONEncoder(indent=indent, ensure_ascii=False).iterencode(value):
        written += piece[: longest + 1]
        if len(written) > longest:
            break
    return written


# Which cards the words of a filter keep.

# The words by which a filter knows a level of risk: the start of one is enough.
_LEVELS = ("none 0", "caution ▲ ! 1", "danger ▲▲ !! 2")
_FILTERED = ("tool", "project", "agent", "machine", "session", "risk")


def told_of(card: Card, *more: str) -> Mapping[str, str]:
    """Return the parts of a card that a filter looks at; the whole, and `more`, under no name."""
    event = card.event
    agent = f"{event.platform} {agent_name(event)} {agent_label(event)}"
    parts = (tool_label(event), project(event), agent, machine(event), event.session)
    texts = [part.casefold() for part in parts]
    rest = [part.casefold() for part in (summary(event), *more)]
    levels = _LEVELS[card.risk.level]
    return dict(zip(_FILTERED, (*texts, levels), strict=True)) | {"": " ".join([*texts[:4], *rest])}


def wants(wanted: str, parts: Mapping[str, str]) -> bool:
    """Whether a filter's words keep what tells this: each in any part, `agent:codex` in its own."""
    for word in wanted.casefold().split():
        name, _, value = word.partition(":")
        if name == "risk" and value:
            kept = any(level.startswith(value) for level in parts["risk"].split())
        elif name == "session" and value:
            kept = parts["session"].startswith(value)
        else:
            kept = value in parts[name] if name in _FILTERED else word in parts[""]
        if not kept:
            return False
    return True
