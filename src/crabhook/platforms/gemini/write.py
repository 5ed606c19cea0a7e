"""Decisions in the words Gemini CLI reads: always one JSON object, and exit code 0.

Gemini takes silence and a crash for an allow and reads standard error where
standard output is blank, so an object is printed on every way, and nothing
else.  It passes over keys it does not know, so none is ever sent: what it
knows is what `top` and `specific` are given here.
"""

from dataclasses import dataclass, field

from crabhook.model.decision import Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.jsontext import Value, compact
from crabhook.model.reply import Reply
from crabhook.platforms.gemini.answering import stated
from crabhook.platforms.gemini.events import QUESTION_TOOL, Also, Way, is_call_of, rule_of

_Body = dict[str, Value]


@dataclass(slots=True)
class _Words:
    """A reply in the making: the top level and hookSpecificOutput."""

    top: _Body = field(default_factory=dict)
    specific: _Body = field(default_factory=dict)

    def deny(self, reason: str) -> None:
        self.top |= {"decision": "deny", "reason": reason}

    def halt(self, reason: str) -> None:
        self.top |= {"continue": False, "stopReason": reason}

    def reply(self) -> Reply:
        specific = {"hookSpecificOutput": self.specific} if self.specific else {}
        return Reply({**self.top, **specific})


def write(event: Event, decision: Decision) -> Reply:
    """Return the reply that tells Gemini CLI the decision; no opinion is an empty object."""
    rule, words = rule_of(event), _Words()
    way = rule.verdicts.get(decision.verdict, Way.NOTHING)
    if way is Way.DENY:
        words.deny(decision.reason)
    elif way is not Way.NOTHING:
        words.top["decision"] = "allow"
    _changed(words, event, decision)
    if decision.note and Also.CONTEXT in rule.also:
        words.specific["additionalContext"] = decision.note
    if Also.HALT in rule.also and (decision.halt or decision.interrupt):
        words.halt(decision.halt or decision.reason)
    if decision.user_message and Also.USER in rule.also:
        words.top["systemMessage"] = decision.user_message
    if decision.suppress_output and Also.USER in rule.also:
        words.top["suppressOutput"] = True
    return words.reply()


def remark(event: Event, note: str) -> Reply | None:
    """Return a reply that only carries `note` to the model, or None if the event takes none."""
    if Also.CONTEXT not in rule_of(event).also:
        return None
    return _Words(specific={"additionalContext": note}).reply()


def _changed(words: _Words, event: Event, decision: Decision) -> None:
    """Write what goes with an allow instead of what the agent sent."""
    if decision.verdict is not Verdict.ALLOW:
        return
    if decision.output is not None and event.name == "AfterTool":
        words.deny(_output(decision.output))
    if decision.updated_input is None or event.name != "BeforeTool":
        return
    if is_call_of(event, QUESTION_TOOL) and (answers := stated(decision.updated_input)):
        words.deny(answers)
    else:  # the whole of it: Gemini replaces the arguments, it does not merge them
        words.specific["tool_input"] = dict(decision.updated_input)


def _output(output: Value) -> str:
    """Return the text for the model in an output: all of it, or what Gemini would show of it."""
    shown = output.get("llmContent") if isinstance(output, dict) else output
    return shown if isinstance(shown, str) else compact(output)
