"""What an agent reads: in its configuration, and from its hooks.  The linter's measure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

ANY = "any tool's name"
FREE = "a value that is not from a list"
NOTHING = "nothing: a matcher here is ignored"


@dataclass(frozen=True, slots=True)
class Reads:
    """What an agent reads about one event.

    `specific`: the keys read in hookSpecificOutput.  `matcher`: what a matcher
    is held against: ANY, FREE, NOTHING, or else one of the `values`.
    `silent`: exit code 2 does nothing here.  `timeout`: seconds, where no
    other is registered.
    """

    specific: frozenset[str] = frozenset()
    matcher: str = NOTHING
    values: frozenset[str] = frozenset()
    silent: bool = False
    timeout: float | None = None


def reads(
    specific: str = "",
    matcher: str = NOTHING,
    values: str = "",
    *,
    silent: bool = False,
    timeout: float | None = None,
) -> Reads:
    """Return what an agent reads, with its keys and values written with blanks between them."""
    keys, known = frozenset(specific.split()), frozenset(values.split())
    return Reads(keys, matcher, known, silent, timeout)


@dataclass(frozen=True, slots=True)
class Protocol:
    """What one agent reads, in its configuration and from its hooks.

    `unit`: seconds in one unit of a registered timeout.  `timeout`: seconds
    where none is registered.  `tools`: the names known to us, old ones too;
    there may be others.  `nested`: keys that are read in hookSpecificOutput
    alone.  `decisions`: the values of a top-level `decision`.  `permissions`:
    those of `permissionDecision`.  `elsewhere`: other agents' names for
    things, and this agent's own.  `folder`: where its configuration lies, in a
    home or a project.  `marks`: keys that only its configuration has.
    `suffix`: how the name of its configuration may end that no other agent's
    does.  `comments`: its configuration may hold some.  `switches`: a path of
    keys in its configuration, the value with which its hooks do not run, and
    what that does.  `names`: the letters of a matcher that names tools, None
    where every matcher is a regular expression.  `variables`: those that name
    a project's folder.  `spoken`: words by which a script shows that it was
    written for this agent.  `input_key`: under which hookSpecificOutput holds
    a tool's other input.  `listed`: the letters beside those of words that a
    list of names has.  `handler_types`: those there are, none where that is not
    known.  `whole_values`: the values of an event are all that there are.
    `sets_environment`: its configuration may put variables into the environment
    of its hooks.  `goes_on`: the exit codes beside 0 and 2 with which the action
    goes ahead, None for all.  `heeds_silence`: exit code 2 refuses with nothing
    said, too, and `any_output`: what is printed counts as said.
    """

    name: str
    title: str
    unit: float
    timeout: float
    events: Mapping[str, Reads]
    tools: frozenset[str]
    mcp: str
    nested: frozenset[str]
    decisions: frozenset[str]
    permissions: frozenset[str] = frozenset()
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    handler_types: frozenset[str] = frozenset()
    strict_event_name: bool = True
    folder: str = ""
    marks: frozenset[str] = frozenset()
    suffix: str = ""
    comments: bool = False
    switches: tuple[tuple[tuple[str, ...], bool, str], ...] = ()
    names: str | None = None
    variables: tuple[str, ...] = ()
    spoken: frozenset[str] = frozenset()
    input_key: str = "updatedInput"
    listed: str = "_|-, "
    whole_values: bool = False
    sets_environment: bool = False
    goes_on: frozenset[int] | None = None
    heeds_silence: bool = True
    any_output: bool = False
