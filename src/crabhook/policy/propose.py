"""Rules that an "always allow" or "always deny" could mean, and their effect on past calls.

Each proposal is tried first: it must decide the very call that it was made from.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from posixpath import dirname

from crabhook.datatypes import frozen
from crabhook.model.event import Event
from crabhook.policy.calls import parts
from crabhook.policy.calls.read import ANYTHING, read_call
from crabhook.policy.calls.shell_call import Call
from crabhook.policy.context import Context
from crabhook.policy.evaluate import Policy
from crabhook.policy.matcher import parse_matcher
from crabhook.policy.paths import is_within
from crabhook.policy.protected import (
    ENTRY_NAMES,
    Protected,
    is_never_remembered,
    options_given,
    reaches_never,
)
from crabhook.policy.rule import Rule, RuleScope, RuleSet, RuleVerdict
from crabhook.policy.shell.programs import listed
from crabhook.policy.shell.unfold import BLANK

DEFAULT_LIFE = timedelta(days=30)
MOST_DENIALS = 24  # rules that deny, of one call; a line of many commands would make hundreds
_OPPOSITE = {RuleVerdict.ALLOW: RuleVerdict.DENY, RuleVerdict.DENY: RuleVerdict.ALLOW}

_TAKES_SUBCOMMAND = listed("subcommands", "taken")
_PLAIN = re.compile(r"[\w./:@+][\w./:@+-]*")
_RUNS_SCRIPTS = frozenset({("npm", "run"), ("pnpm", "run"), ("yarn", "run"), ("bun", "run")})


@frozen
class RuleProposal:
    """A rule to offer, in words; `gives_away`: warnings about what else it allows."""

    rule: Rule
    covers: str
    gives_away: tuple[str, ...] = ()


@frozen
class Trial:
    """What a proposal would have done: how many calls decided, and which of them otherwise."""

    covered: int
    undone: tuple[Event, ...]


def propose(
    event: Event,
    context: Context,
    protected: Protected,
    expires: datetime | None = None,
) -> tuple[RuleProposal, ...]:
    """Return the rules that would allow the call from now on, narrowest first.

    There are none for calls that no rule may allow: protected files, and commands never remembered.
    There is no rule either that would include such a command. They end at `expires`, or after
    DEFAULT_LIFE.
    """
    call = read_call(event, context)
    if call is None or call.troubles or is_never_remembered(call):
        return ()
    end = expires or _end(context)
    proposals: dict[tuple[tuple[str, ...], RuleScope], RuleProposal] = {}
    for texts, scope, covers in _drafts(call, event, context):
        try:
            matchers = tuple(parse_matcher(text, restricts=False) for text in texts)
        except ValueError:  # a name that the rules' syntax cannot write
            continue
        if any(map(reaches_never, matchers)):
            continue
        rule = Rule(RuleVerdict.ALLOW, texts, matchers, scope=scope, expires=end)
        if _ruled(Policy([RuleSet((rule,))], protected), call, event, context) is rule.verdict:
            proposals.setdefault((texts, scope), RuleProposal(rule, covers, options_given(rule)))
    return tuple(proposals.values())


def propose_denials(
    event: Event, context: Context, protected: Protected
) -> tuple[RuleProposal, ...]:
    """Return the rules that would deny the call from now on, part by part, narrowest first.

    A denial of one part denies the whole call, so each rule names one part alone. Protected calls
    and commands never remembered have such rules too. They end after DEFAULT_LIFE.
    """
    if (call := read_call(event, context)) is None:
        return ()
    end = _end(context)
    proposals: dict[tuple[str, RuleScope], RuleProposal] = {}
    for part in call.required:
        for text, scope, covers in _narrow_to_wide(_widths(part, event, context), event, context):
            try:
                matcher = parse_matcher(text, restricts=True)
            except ValueError:  # a name that the rules' syntax cannot write
                continue
            rule = Rule(RuleVerdict.DENY, (text,), (matcher,), scope=scope, expires=end)
            if _ruled(Policy([RuleSet((rule,))], protected), call, event, context) is rule.verdict:
                proposals.setdefault((text, scope), RuleProposal(rule, covers))
            if len(proposals) == MOST_DENIALS:
                return tuple(proposals.values())
    return tuple(proposals.values())


def _end(context: Context) -> datetime:
    return (context.now + DEFAULT_LIFE).replace(microsecond=0)


def tried_each(
    proposals: Sequence[RuleProposal],
    past: Iterable[tuple[Event, RuleVerdict]],
    context_of: Callable[[Event], Context],
    protected: Protected,
) -> tuple[Trial, ...]:
    """Return what each proposal alone would have done to past calls, given with their verdicts.

    All proposals have one verdict. `expires` is ignored. Each past call is read once; only if all
    proposals together, with nothing protected, would decide it so, each is tried: few calls are.
    """
    verdict = proposals[0].rule.verdict
    policies = [Policy([RuleSet((proposal.rule,))], protected) for proposal in proposals]
    widest = Policy(
        [RuleSet(tuple(proposal.rule for proposal in proposals))], protected.without(ENTRY_NAMES)
    )
    covered = [0] * len(policies)
    undone: list[list[Event]] = [[] for _ in policies]
    for event, past_verdict in past:
        context = context_of(event)
        call = read_call(event, context)
        if call is None or _ruled(widest, call, event, context) is not verdict:
            continue
        for place, policy in enumerate(policies):
            if _ruled(policy, call, event, context) is verdict:
                covered[place] += 1
                if past_verdict is _OPPOSITE[verdict]:
                    undone[place].append(event)
    return tuple(Trial(count, tuple(some)) for count, some in zip(covered, undone, strict=True))


def _ruled(policy: Policy, call: Call, event: Event, context: Context) -> RuleVerdict | None:
    return policy.examine_call(call, event, context).verdict


_Draft = tuple[tuple[str, ...], RuleScope, str]


def _drafts(call: Call, event: Event, context: Context) -> Iterator[_Draft]:
    """Yield texts, scope and words for each width: every part of the call at the same width."""
    widths = [_widths(part, event, context) for part in call.required]
    if not widths or not all(widths):
        return
    project = RuleScope(project=(context.project,))
    texts: tuple[str, ...] = ()
    words = ""
    for width in range(max(map(len, widths))):
        chosen = [texts[min(width, len(texts) - 1)] for texts in widths]
        texts = tuple(dict.fromkeys(text for text, _ in chosen))
        words = " and ".join(dict.fromkeys(words for _, words in chosen))
        if width == 0 and event.session:
            yield texts, RuleScope(session=(event.session,)), f"{words}, in this session"
        if context.project:
            yield texts, project, f"{words}, in this project"
    yield texts, RuleScope(), f"{words}, everywhere"


def _narrow_to_wide(
    widths: Sequence[tuple[str, str]], event: Event, context: Context
) -> Iterator[tuple[str, RuleScope, str]]:
    """Yield text, scope and words for each width of one part, in each scope."""
    for width, (text, words) in enumerate(widths):
        if width == 0 and event.session:
            yield text, RuleScope(session=(event.session,)), f"{words}, in this session"
        if context.project:
            project = RuleScope(project=(context.project,))
            yield text, project, f"{words}, in this project"
        yield text, RuleScope(), f"{words}, everywhere"


def _widths(part: parts.Part, event: Event, context: Context) -> Sequence[tuple[str, str]]:
    """Return matchers for one part, narrow to wide, in words."""
    match part:
        case parts.CommandPart():
            return _command_widths(part)
        case parts.FilePart():
            return _file_widths(part, event, context)
        case parts.FetchPart():
            return [(f"WebFetch(domain:{part.host})", f"fetching from {part.host}")]
        case parts.NamePart():
            tool = "Agent" if "Agent" in part.tools else "Skill"
            exact = (f"{tool}({part.text})", f"{tool} {part.text}")
            wide = (f"{tool}({part.name} *)", f"{tool} {part.name} with any arguments")
            return [exact] if part.text == part.name else [exact, wide]
        case parts.ToolPart():
            return _tool_widths(part)


def _command_widths(part: parts.CommandPart) -> list[tuple[str, str]]:
    plain = [reading for reading in part.readings if not reading.assigned]
    if not plain:
        return []
    text = plain[-1].text  # inside the wrappers, which an allow looks through
    words = text.split(" ")
    widths = []
    if not any(letter in text for letter in "*\\\"'"):
        exact = " ".join(
            f'"{word.replace(BLANK, " ")}"' if BLANK in word else word for word in words
        )
        widths.append((f"Bash({exact})", f"exactly `{exact}`"))
    if plain[-1].exact:
        return widths
    for size in (3, 2, 1):
        head = words[:size]
        if len(words) < size or not _says_enough(head) or not all(map(_PLAIN.fullmatch, head)):
            continue
        start = " ".join(head)
        widths.append((f"Bash({start} *)", f"`{start}` with any arguments"))
    return widths


def _says_enough(head: Sequence[str]) -> bool:
    """Whether this beginning of a command determines what the command does."""
    runs = (head[0], *head[1:2]) in _RUNS_SCRIPTS
    return len(head) == (1 if head[0] not in _TAKES_SUBCOMMAND else 3 if runs else 2)


def _file_widths(part: parts.FilePart, event: Event, context: Context) -> list[tuple[str, str]]:
    tool, verb = ("Edit", "writing") if part.use is parts.Use.WRITE else ("Read", "reading")
    if not part.places or any(letter in part.places[0].named for letter in "*?[\\"):
        return []
    name, cwd = part.places[0].named, event.cwd or context.project
    folder = dirname(name)
    widths = [] if name.endswith(ANYTHING) else [(f"{tool}(/{name})", f"{verb} {name}")]
    if folder not in ("/", context.home):
        widths.append((f"{tool}(/{folder}/**)", f"{verb} below {folder}"))
    if is_within(name, cwd) and cwd != context.home:
        widths.append((f"{tool}(./**)", f"{verb} below the working directory"))
    return widths


def _tool_widths(part: parts.ToolPart) -> list[tuple[str, str]]:
    name = next((tool for tool in part.tools if tool.startswith("mcp__")), part.text)
    widths = [(name, f"any call of {name}")]
    server, parted, _ = name.removeprefix("mcp__").partition("__")
    if name.startswith("mcp__") and parted:
        widths.append((f"mcp__{server}__*", f"every tool of {server}"))
    return widths


def why_no_denial(event: Event, context: Context) -> str:
    """Return why no rule is proposed that denies the call."""
    if read_call(event, context) is None:
        return _NO_CALL.format(event.name)
    return _UNWRITABLE


_NO_CALL = "{} is about no call of a tool, and rules speak of calls"
_UNWRITABLE = "no rule can be written that speaks of just this"


def why_none(event: Event, context: Context) -> str:
    """Return why nothing is proposed for the call, where nothing protected is in its way."""
    call = read_call(event, context)
    if call is None:
        return _NO_CALL.format(event.name)
    if is_never_remembered(call):
        return "no rule is made of such a command: it is looked at each time"
    if call.kind is parts.CallKind.ASKING:
        return "no rule answers it: only a person does"
    if call.troubles:
        return f"no rule can allow it: {call.troubles[0]}"
    return _UNWRITABLE
