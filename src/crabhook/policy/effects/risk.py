"""The risk of a call: what it may do, from the rules' own parse, and how bad that is.

Risk decides nothing. Unknown things are never called safe: an unreadable line has the effect
`untold`, and `Risk.unknown` names what is not in the table. The owner's own words, `[[risk]]` in
rule files, override the table.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from posixpath import basename

from crabhook.model.card import NO_RISK, Effect, Level, Risk
from crabhook.model.event import Event
from crabhook.policy.calls.made_names import made_names
from crabhook.policy.calls.mentioned_files import Folders, named_files
from crabhook.policy.calls.parts import CallKind, CommandPart, FetchPart, FilePart, Use, mcp_name
from crabhook.policy.calls.read import CommandLine, command_line, read_call
from crabhook.policy.calls.shell_call import Call, folders_of, known_variables, removal_trouble
from crabhook.policy.context import Context, Wanted
from crabhook.policy.effects.commands import Reader
from crabhook.policy.effects.found import RiskFindings, chosen_by_wildcards, shortened
from crabhook.policy.effects.line import LineFacts
from crabhook.policy.effects.objects import DOUBT, Scene, Search, Subject, host
from crabhook.policy.effects.table import table
from crabhook.policy.effects.unseen import unseen
from crabhook.policy.paths import Bases, is_within, normal
from crabhook.policy.protected import Protected
from crabhook.policy.rule import RiskRule, RuleSet
from crabhook.policy.shell.programs import MOVES, PRINTERS
from crabhook.policy.shell.read import ODD_LETTER, read_script
from crabhook.policy.shell.script import Flow, Redirect, Script, SimpleCommand
from crabhook.policy.shell.unfold import hidden_command, lines, unfold

MOST_UNREAD = 8 * 1024  # letters of a line that is not read, in which words are looked for


EVERYTHING_PROTECTED = Protected()


def effects_of(
    event: Event,
    context: Context,
    protected: Protected = EVERYTHING_PROTECTED,
    wanted: Wanted | None = None,
) -> Risk:
    """Return what the event's call may do.

    `protected`: the list, with crabhook's own places. `wanted`: what to look for in folders that
    the call reads, at least the list's secrets; with the rules' own, one look serves both. Names
    are looked up often, so the `context` should remember where each leads.
    """
    if event.tool is None:
        return NO_RISK
    findings = RiskFindings(context, protected, event, wanted or protected.secret.wanted)
    if line := command_line(event, context):
        _of_line(line, findings)
    elif call := read_call(event, context):
        _of_tool(call, event, findings)
    return findings.risk()


_OPTION = re.compile(r"-[\w-]*")
_CHAINED = re.compile(r"\s*cd\s+[^\s;&|()<>`$]+(?:\s*&&(?:[^;&|\n`(]|>&|&>|\|(?!\|))+)+", re.ASCII)


def _of_line(line: CommandLine, findings: RiskFindings) -> None:
    cwd, context = normal(line.cwd), findings.context
    preset = known_variables(cwd, context)
    script = read_script(line.text, preset)
    if hides := unseen(line.text):
        for letter in hides:
            findings.tell("hides", letter)
        # what is told by name needs no guess at the words, which would take a comment for a name
        troubles = tuple(trouble for trouble in script.troubles if not trouble.endswith(ODD_LETTER))
        script = replace(script, troubles=troubles)
    deep = unfold(line.text[:MOST_UNREAD], script, preset)
    if line.loosened:
        findings.tell("sandbox")
    for trouble in (*deep.troubles[:1], line.trouble, "" if line.text else "it has no command"):
        if trouble:
            findings.tell("untold", trouble)
    commands = [command for command in deep.commands if command.words]
    facts = LineFacts(line.text, deep, preset)
    folders = _narrowed(line.text, folders_of(cwd, commands, context), commands)
    scene = Scene(context, folders, facts.stand_ins, facts.listed)
    away = Scene(context, Folders((), sure=False)) if facts.elsewhere else scene
    near, far = Reader(facts, scene), Reader(facts, away)
    _read_all(commands, script, facts, near, far)
    ran = near.ran | far.ran  # a script is no program that a table could have
    for reader in (near, far):
        for name, subject in reader.effects:
            findings.tell(name, subject)
        findings.unknown |= {
            f"{name}: not known here": None for name in reader.unknown if name not in ran
        }
    _of_what_is_run(near, far, deep, findings)
    _of_redirects(deep.redirects, scene, findings)
    made = made_names(commands, deep.redirects, folders, frozenset(), context)
    for name in made.opened:
        findings.tell("opens-made", name)
    _of_protected(commands, facts, near, folders, findings)
    chosen = chosen_by_wildcards(commands, folders, findings) if set(line.text) & set("*?[") else ()
    findings.look((*near.searches, *far.searches, *chosen), scene)
    here = [
        _as_written(command)
        for command in commands
        if _words(command) not in near.away or not command.hidden
    ]
    if removal_trouble(here, folders.all, context):
        findings.tell("deletes-all")


def _as_written(command: SimpleCommand) -> SimpleCommand:
    """Return a hidden command with its original wildcards."""
    if not command.hidden:
        return command
    words = (replace(word, glob=word.glob or "*" in word.text) for word in command.words)
    return replace(command, words=tuple(words))


def _read_all(
    commands: Sequence[SimpleCommand], script: Script, facts: LineFacts, near: Reader, far: Reader
) -> None:
    """Read each command: hidden commands with `far`, since they may run elsewhere.

    Some of these are guesses: parts of others, or of a given text.
    """
    tails = {command.words[at:] for command in commands if command.hidden for at in (1, 2)}
    for command in commands:
        if not command.hidden:
            near.read(command, sure=True)
        elif _words(command) in near.away:  # whose effects have its place
            continue
        elif _words(command) not in facts.find_removes:
            heard = any(command.source in text for text in script.inputs)
            far.read(command, sure=not (script.troubles or command.words in tails or heard))


def _words(command: SimpleCommand) -> tuple[str, ...]:
    return tuple(word.text for word in command.words)


def _narrowed(text: str, folders: Folders, commands: Iterable[SimpleCommand]) -> Folders:
    """Return where a line runs, without the folder that its first `cd` surely left."""
    moves = sum(command.words[0].text in MOVES for command in commands)
    if moves == 1 and folders.sure and len(folders.all) == 2 and _CHAINED.fullmatch(text):
        return Folders(folders.all[1:], sure=True)
    return folders


def _of_what_is_run(near: Reader, far: Reader, script: Script, findings: RiskFindings) -> None:
    """Add what commands do together: run each other's output."""
    fetched = [*near.fetched, *far.fetched]
    if near.runs_output or far.runs_output:
        if fetched:
            findings.tell("runs-downloaded", ", ".join(filter(None, fetched)))
        if near.decoded or far.decoded:
            findings.tell("runs-decoded")
    saved = near.saved | far.saved
    downloads = any(name == "network" for name, _ in (*near.effects, *far.effects))
    if downloads:
        saved |= {name for redirect in script.redirects for name in redirect.written}
        for name in sorted((near.ran | far.ran) & saved):
            findings.tell("runs-downloaded", name)


_USES: Mapping[Flow, Use] = {Flow.READ: Use.READ, Flow.WRITE: Use.WRITE, Flow.BOTH: Use.WRITE}


def _of_redirects(redirects: Iterable[Redirect], scene: Scene, findings: RiskFindings) -> None:
    for redirect in redirects:
        target, use = redirect.target, _USES[redirect.flow]
        doubtful = not target.fixed and set(target.raw) & set("$`") and not redirect.settled
        for text in redirect.settled or target.values[:1]:
            name = f"{DOUBT}{target.raw}" if doubtful else text
            if text.startswith(("/dev/tcp/", "/dev/udp/")):
                at = host(text.split("/")[3])
                findings.tell("network", at)
                findings.tell("sends", at)
                continue
            subject = scene.file(name)
            if subject is None:
                continue
            device = use is Use.WRITE and subject.device
            written = "disk" if device else "writes" if use is Use.WRITE else "reads"
            findings.tell(written, subject)
            places = scene.places(text)
            findings.concern(FilePart(text, use, places, glob=target.glob), subject.text)


def _of_protected(
    commands: Sequence[SimpleCommand],
    facts: LineFacts,
    near: Reader,
    folders: Folders,
    findings: RiskFindings,
) -> None:
    """Add protected files that commands name, and commands that change protected things."""
    here = []
    for command in commands:
        if command.hidden and _words(command) in near.away:
            continue
        own = near.own_words.get(command.words)
        here.append(replace(command, words=command.words[:own]) if own else command)
        if not findings.triggers.isdisjoint(basename(word.text) for word in here[-1].words):
            texts = frozenset(lines(command))
            run = CommandPart(command.source, command, (), texts, frozenset())
            findings.concern(run, command.source)
    whole = {word.text for command in commands for word in command.words}
    away = [(hidden_command(words), at) for words, at in near.away.items()]
    for part, at in (
        *((part, "") for part in named_files(here, folders.all, findings.context)),
        *(
            (part, at)
            for words, at in away
            for part in named_files([words], ("/",), findings.context)
        ),
    ):
        if at and part.text == ".":
            continue  # nobody here knows the folder that a command elsewhere is in
        looks = part.program in ("find", "fd") and not facts.find_acts
        idle = looks or part.program in PRINTERS or _OPTION.fullmatch(part.text)
        if not idle and (not part.glob or part.text in whole):  # a piece of a word may be no glob
            findings.concern(part, part.text, at)


def _of_tool(call: Call, event: Event, findings: RiskFindings) -> None:
    scene = Scene(findings.context, Folders((findings.cwd,), sure=True))
    files = [part for part in call.parts if isinstance(part, FilePart)]
    for part in dict.fromkeys(part for part in files if "\x1f" not in part.text and part.text):
        subject = scene.file(part.text) or Subject(part.text)
        writes = part.use is Use.WRITE
        deletes = call.kind is CallKind.PATCH and f"*** Delete File: {part.text}" in str(event.tool)
        for letter in unseen(part.text):
            findings.tell("hides", letter)
        if not part.glob:
            name = "deletes" if deletes else "writes" if writes else "reads"
            findings.tell(name, subject)
        findings.concern(part, subject.text)
    if call.tool == "ReadMany" or (call.tool == "Grep" and _shows_lines(event)):
        read = [(at.named, part.deep.globs) for part in files if part.deep for at in part.places]
        findings.look((Search(folder, globs, sure=False) for folder, globs in read), scene)
    for call_part in call.parts:
        if isinstance(call_part, FetchPart):
            findings.tell("network", host(call_part.host) if call_part.host else call_part.text)
    if call.kind in (CallKind.AGENT, CallKind.SKILL):
        name = "subagent" if call.kind is CallKind.AGENT else "skill"
        findings.tell(name, call.required[0].text)
    elif call.kind is CallKind.OTHER:
        _of_other_tool(call.tool, event, findings)
    if call.troubles and call.kind is not CallKind.ASKING:
        findings.tell("untold", call.troubles[0])


def _shows_lines(event: Event) -> bool:
    """Whether a search shows the found lines, not only the files."""
    inputs = event.tool.input if event.tool and isinstance(event.tool.input, dict) else {}
    if event.tool and event.tool.name == "Grep":
        return inputs.get("output_mode") == "content"
    return not inputs.get("names_only")


_DELETES = re.compile(
    r"(?:^|[_\W])(?:delete|remove|drop|destroy|purge|erase|wipe|truncate)(?:s|d)?(?=$|[_\W]|[A-Z])"
)
_SPLIT = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _of_other_tool(name: str, event: Event, findings: RiskFindings) -> None:
    """Add a tool by its name: the agent's own, or an unknown server's."""
    own = table().tools.get(name)
    for effect, _ in own or ():
        findings.tell(effect)
    if own is not None:
        return
    whole = mcp_name(event.fields) or name
    server = whole.startswith("mcp_")
    if _DELETES.search(_SPLIT.sub("_", whole).lower()):
        findings.tell("named-deletion", whole)
    findings.unknown["what MCP tools do is not known" if server else f"{whole}: not known here"] = (
        None
    )


OWN = "own"
MOST_OWN = 4
# Whatever the owner says of a call as a whole, these stay what they are.
_KEPT = frozenset({"agent-settings", "crabhook", "sandbox"})


def with_own(
    risk: Risk, call: Call, event: Event, rulesets: Sequence[RuleSet], context: Context
) -> Risk:
    """Return the risk of a call with the rule files' words.

    One part of the call is enough to raise the level. To lower it, rules of the owner's file must
    cover every part, like an allow; a project's file never lowers it.
    """
    cwd = event.cwd if event.cwd.startswith("/") else context.project or "/"
    here = context.project or cwd
    speaking: list[Effect] = []
    lowers: list[RiskRule] = []
    left = list(call.required)
    for rules in rulesets:
        if rules.folder and not is_within(here, rules.folder):
            continue
        bases = Bases(context.home, rules.folder or context.project, cwd, context.real)
        for rule in rules.risks:
            if any(m.hits(part, bases) for m in rule.matchers for part in call.parts):
                words = f"{rule.words} (says the project)" if rules.folder else rule.words
                speaking.append(Effect(OWN, rule.level, words))
            if not rules.folder:
                rest = [p for p in left if not any(m.covers(p, bases) for m in rule.matchers)]
                lowers += [rule] if len(rest) < len(left) else []
                left = rest
    cap = max((rule.level for rule in lowers), default=Level.DANGER)
    cap = Level.DANGER if left or call.troubles or not call.required else cap
    effects = [
        effect if effect.kind in _KEPT else replace(effect, level=min(effect.level, cap))
        for effect in risk.effects
    ]
    own = sorted(speaking, key=lambda effect: -effect.level)[:MOST_OWN]
    return shortened((*own, *effects), risk.unknown)
