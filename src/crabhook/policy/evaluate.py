"""All rule sets and the protected list, asked about one call at a time.

The order is: deny, protected, ask, allow, pass. It is the hook protocol's section 10, plus the
protected list. Among rules of one kind, the first counts. A denial or a question needs one part of
the call, an allow or a pass needs every part.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import chain, islice, takewhile
from typing import TypeAlias

from crabhook.model.ballot import Terms
from crabhook.model.card import Because, Brought, Risk
from crabhook.model.event import Event
from crabhook.policy import plan_file, rule_index
from crabhook.policy.calls.parts import FilePart, Part, Use
from crabhook.policy.calls.read import read_call
from crabhook.policy.calls.shell_call import Call
from crabhook.policy.context import Below, Context, Wanted, fits_shell_glob, selects
from crabhook.policy.matcher import CommandMatcher, PathMatcher
from crabhook.policy.paths import Bases, PathSet, expand_home, is_within, place
from crabhook.policy.plan_file import is_plan_file
from crabhook.policy.protected import Protected
from crabhook.policy.rule import (
    PLAN_FILE,
    PartRuling,
    Rule,
    RuleScope,
    RuleSet,
    RuleVerdict,
    Ruling,
    Trust,
)
from crabhook.policy.rule_index import Placed, Rank, RankedRuling, RuleIndex, keys_of
from crabhook.policy.shell.mentions import Mentions
from crabhook.policy.shell.programs import NAMES_ONLY, PRINTERS, READ_NOTHING

_MODES = {"manual": "default"}  # the protocol's own second name
_ASKS = (RuleVerdict.ASK_OPERATOR, RuleVerdict.ASK_AGENTS_USER)
FOLDERS = 64  # of one call that are looked into
_Match: TypeAlias = tuple[Placed, str]  # a rule, and which of its matchers it was


class Evaluation:
    """Asks the law about each part of one call."""

    def __init__(self, law: "Policy", call: Call, event: Event, context: Context) -> None:
        self._law = law
        self._call = call
        self._event = event
        self._context = context
        cwd = event.cwd if event.cwd.startswith("/") else context.project or "/"
        self._bases = Bases(context.home, context.project, cwd, context.real)
        self._bases_of_source: dict[str, Bases] = {context.project: self._bases}
        # Without a project, a rule's scope and a denial go by the folder that the agent is in.
        self._here = context.project or cwd

    def ruling(self) -> Ruling:
        """Return the ruling on the whole call, with who must allow it."""
        ruling = self._ruling()
        if ruling.verdict not in _ASKS or not self._law.ask.with_terms:
            return ruling
        if not (terms := self._terms()):
            return ruling
        # Another rule may hand it to the agent's user, who would then allow it alone.
        return replace(ruling, verdict=RuleVerdict.ASK_OPERATOR, terms=terms)

    def _terms(self) -> tuple[Terms, ...]:
        """Return the terms of every rule that asks about a part of the call, or may."""
        rules = [placed for placed in self._law.ask.with_terms if self._holds(placed)]
        asking = [placed.rule.terms for placed in rules if self._may_speak_of_it(placed)]
        return tuple(dict.fromkeys(terms for terms in asking if terms is not None))

    def _may_speak_of_it(self, placed: Placed) -> bool:
        """Whether the rule matches a part of the call, a file in its folders, or what it hides."""
        call, mentions = self._call, self._call.mentions
        bases = self._bases_for(placed, otherwise=self._here)
        files = (use for part in call.parts for use in self._files_below(part))
        if any(
            matcher.hits(part, bases)
            for matcher in placed.rule.matchers
            for part in chain(call.required, call.suspected, files)
        ):
            return True
        if any(_speaks_of(placed, name, mentions) for name in mentions.programs):
            return True
        for matcher in placed.rule.matchers:
            if isinstance(matcher, CommandMatcher) and mentions.starts:
                return True
            if isinstance(matcher, PathMatcher) and any(
                matcher.may_hit(part, bases) for part in call.computed
            ):
                return True
        return False

    def _files_below(self, part: Part) -> Iterator[FilePart]:
        """Yield the files that a part reads or changes through a folder, as far as rules name them.

        A folder that could not be looked at whole is a question of its own.
        """
        if not isinstance(part, FilePart) or not (part.deep or self._is_chosen(part)):
            return
        folders = dict.fromkeys(_above_wildcards(target.named, part) for target in part.places)
        for folder in islice(folders, FOLDERS):
            below = self._context.below(folder, self._law.wanted)
            yield from self._uses(part, below)

    def _uses(self, part: FilePart, below: Below) -> Iterator[FilePart]:
        """Yield what a part does with each of the files in its folder."""
        cut = part.deep is not None and part.deep.split and below.odd
        for name in below.files:
            if not (cut or _takes(part, name)):
                continue
            where = (place(name, "/", self._context),)
            yield FilePart(name, Use.READ, where)
            if part.writes:
                yield FilePart(name, Use.NAMED, where, program=part.program, writes=True)

    def _ruling(self) -> Ruling:
        required = [self._rule_on(part, hidden=False) for part in self._call.required]
        suspected = [self._rule_on(part, hidden=True) for part in self._call.suspected]
        hits = [ranked for ranked in suspected if ranked.rank is not Rank.NOTHING]
        parts = tuple(dict.fromkeys(ranked.part for ranked in (*required, *hits)))
        against = [ranked for ranked in (*required, *hits) if ranked.rank <= Rank.ASK]
        if not against and (held := self._held()):
            parts, against = (*parts, held.part), [held]
        if against:
            return self._decided(
                min(against, key=lambda ranked: (ranked.rank, ranked.order)), parts
            )
        # A companion's agent might run it without asking anybody.
        if unseen := self._unseen() or self._denied_by_computing():
            why, because = unseen
            troubles = (*self._call.troubles, why)
            ask = RuleVerdict.ASK_OPERATOR
            return Ruling(ask, None, why, parts, troubles, because=because)
        unnamed = self._starts_untold()
        if troubles := tuple(filter(None, (*self._call.troubles, unnamed))):
            why = f"no rule may allow this: {unnamed or troubles[0]}"
            return Ruling(None, None, why, parts, troubles)
        last = max(required, key=lambda ranked: ranked.rank, default=None)
        if last is None or last.rank is Rank.NOTHING:
            why = f"no rule speaks of {last.part.text}" if last else "no rule speaks of it"
            return Ruling(None, None, why, parts)
        if secret := self._secret_by_computing():
            why, because = secret
            return Ruling(RuleVerdict.ASK_OPERATOR, None, why, parts, because=because)
        return self._decided(last, parts)

    def _unseen(self) -> tuple[str, Because] | None:
        """Return the denied or asked-about program that could run unnoticed."""
        mentions = self._call.mentions
        for name in sorted(mentions.programs):
            against = (*self._law.deny.of_program(name), *self._law.ask.of_program(name))
            for placed in filter(self._holds, against):
                if _speaks_of(placed, name, mentions):
                    before, rule = f"{name} may run in it, and ", placed.rule
                    why = f"{before}a rule denies or asks: {rule.where}"
                    return why, rule_index.because_of_rule(rule, str(rule), before)
        return None

    def _denied_by_computing(self) -> tuple[str, Because] | None:
        """Return the denial or question that may mean a file whose name the line computes."""
        against = (*self._law.deny.of_files, *self._law.ask.of_files) if self._call.computed else ()
        for placed in filter(self._holds, against):
            bases = self._bases_for(placed, otherwise=self._here)
            for text, matcher in placed.rule.pairs:
                if not isinstance(matcher, PathMatcher):
                    continue
                part = next((p for p in self._call.computed if matcher.may_hit(p, bases)), None)
                if part is not None:
                    why = f"{_opens(part)}a rule denies or asks: {placed.rule.where}"
                    return why, rule_index.because_of_rule(placed.rule, text, _opens(part))
        return None

    def _secret_by_computing(self) -> tuple[str, Because] | None:
        """Return the protected entry that may hold a file whose name the line computes."""
        for part in self._call.computed:
            if entry := self._law.protected.may_be_meant(part, self._bases):
                why = f"{_opens(part)}{entry.what} always reach a person"
                return f"{why} (protected: {entry.name})", Because(
                    Brought.PROTECTED, why, entry.name
                )
        return None

    def _starts_untold(self) -> str:
        """Return why a denied or asked-about program may run though the line does not name it."""
        starts = self._call.mentions.starts
        against = (*self._law.deny.of_commands, *self._law.ask.of_commands) if starts else ()
        first = next(filter(self._holds, against), None)
        return f"{starts}, and a rule denies or asks: {first.rule.where}" if first else ""

    def _decided(self, by: RankedRuling, parts: tuple[PartRuling, ...]) -> Ruling:
        protected = by.part.why if by.rank is Rank.PROTECTED else ""
        why = f"{by.part.why}: {by.part.text}" if protected else by.part.why
        verdict, rule, because = by.part.verdict, by.part.rule, by.part.because
        return Ruling(verdict, rule, why, parts, self._call.troubles, protected, because)

    def _rule_on(self, part: Part, *, hidden: bool) -> RankedRuling:
        """Return the ruling on one part: the first of deny, protected, ask, allow, pass."""
        keys = keys_of(part)
        if match := self._first(self._law.deny, part, keys, against=True):
            return rule_index.ruling_by_rule(Rank.DENY, match, part, hidden=hidden)
        plan = is_plan_file(part, self._event, self._bases)
        but = plan_file.ENTRY if plan else ""
        if entry := self._law.protected.concerned(part, self._bases, but=but):
            why = f"{entry.what} always reach a person (protected: {entry.name})"
            verdict = RuleVerdict.ASK_OPERATOR
            words = f"{entry.what} always reach a person: {part.text}"
            because = Because(Brought.PROTECTED, words, entry.name)
            part_ruling = PartRuling(part.kind, part.text, verdict, None, why, hidden, because)
            return RankedRuling(Rank.PROTECTED, 0, part_ruling)
        if match := self._first(self._law.ask, part, keys, against=True):
            return rule_index.ruling_by_rule(Rank.ASK, match, part, hidden=hidden)
        if plan:  # before an allow: whose plan file it is, only the agent knows
            rule, why = PLAN_FILE, plan_file.WHY
            part_ruling = PartRuling(part.kind, part.text, rule.verdict, rule, why, hidden)
            return RankedRuling(Rank.PASS, 0, part_ruling)
        if not hidden:
            for rank, index in ((Rank.ALLOW, self._law.allow), (Rank.PASS, self._law.leave)):
                if match := self._first(index, part, keys, against=False):
                    return rule_index.ruling_by_rule(rank, match, part, hidden=hidden)
        nothing = PartRuling(part.kind, part.text, None, None, "no rule speaks of it", hidden)
        return RankedRuling(Rank.NOTHING, 0, nothing)

    def _held(self) -> RankedRuling | None:
        """Return the ruling on files that the call reads through a folder."""
        looked_into: set[str] = set()
        if not self._law.wanted:
            return None
        for part in self._call.parts:
            if not isinstance(part, FilePart) or not (part.deep or self._is_chosen(part)):
                continue
            for folder in dict.fromkeys(
                _above_wildcards(target.named, part) for target in part.places
            ):
                looked_into.add(folder)
                if len(looked_into) > FOLDERS:
                    if part.program in READ_NOTHING:
                        break
                    why = "it goes into too many folders"
                    return rule_index.question_about_folder(part, folder, why)
                if held_by := self._held_by(folder, part):
                    return held_by
        return None

    def _is_chosen(self, part: FilePart) -> bool:
        """Whether a shell's wildcards choose a program's files, perhaps a wanted file."""
        if not part.glob or part.program in PRINTERS | NAMES_ONLY or not part.program:
            return False
        return any(self._law.wanted.may_be_in(place.named) for place in part.places)

    def _held_by(self, folder: str, part: FilePart) -> RankedRuling | None:
        below, deep = self._context.below(folder, self._law.wanted), part.deep
        for file in self._uses(part, below):
            ranked = self._rule_on(file, hidden=True)
            if ranked.rank <= Rank.ASK and not self._is_for_all(ranked, file, part):
                return rule_index.question_about_search(ranked, part)
        if part.program in READ_NOTHING:
            return None
        why = "" if below.whole else "nobody could look at all that is in it"
        if not why and deep is not None and deep.follows and below.leads_out:
            why = "a link in it leads elsewhere"
        return rule_index.question_about_folder(part, folder, why) if why else None

    def _is_for_all(self, ranked: RankedRuling, file: FilePart, part: FilePart) -> bool:
        """Whether only the protected list names the file, and a search may show it anyway."""
        if ranked.rank is not Rank.PROTECTED or part.writes or part.program in READ_NOTHING:
            return False
        return any(self._law.protected.may_be_shown(place, self._bases) for place in file.places)

    def _first(
        self, index: RuleIndex, part: Part, keys: frozenset[tuple[str, str]], *, against: bool
    ) -> _Match | None:
        """Return the first rule of an index that hits or covers the part."""
        for placed in filter(self._holds, index.candidates(part, keys)):
            bases = self._bases_for(placed, otherwise=self._here if against else "")
            for text, matcher in placed.rule.pairs:
                if (matcher.hits if against else matcher.covers)(part, bases):
                    return placed, text
        return None

    def _bases_for(self, placed: Placed, otherwise: str = "") -> Bases:
        """Return what `/x` means in the rule: its file's folder, else its one project.

        Without a project `/x` means `otherwise`; an allow then matches nothing.
        """
        projects = placed.rule.scope.project
        alone = expand_home(projects[0], self._context.home) if len(projects) == 1 else ""
        source = placed.folder or alone or self._bases.source or otherwise
        if source not in self._bases_of_source:
            bases = Bases(self._bases.home, source, self._bases.cwd, self._bases.real)
            self._bases_of_source[source] = bases
        return self._bases_of_source[source]

    def _holds(self, placed: Placed) -> bool:
        """Whether the rule is in force here and now."""
        if placed.folder and not is_within(self._here, placed.folder):
            return False
        expires = placed.rule.expires
        if expires is not None and expires <= self._context.now:
            return False
        return self._is_in(placed.rule.scope)

    def _is_in(self, scope: RuleScope) -> bool:
        event, mode = self._event, self._event.permission_mode
        if scope.session and event.session not in scope.session:
            return False
        if scope.agent_type and event.agent_type not in scope.agent_type:
            return False
        if scope.platform and not {event.agent, event.platform} & {*scope.platform}:
            return False
        modes = [_MODES.get(mode, mode) for mode in scope.mode]
        if modes and _MODES.get(mode, mode) not in modes:
            return False
        folders = [expand_home(folder, self._context.home) for folder in scope.project]
        return not folders or any(is_within(self._here, folder) for folder in folders)


def _opens(part: FilePart) -> str:
    if part.repository:
        return f"{part.text} shows what git keeps of another folder, and "
    return f"{part.text} opens a file whose name is only known when it runs, and "


def _takes(part: FilePart, name: str) -> bool:
    """Whether a search, or a shell's wildcards, may take this file of the folder."""
    if part.deep is None:
        return any(fits_shell_glob(place.named, name) for place in part.places)
    return not part.deep.globs or selects(part.deep.globs, name)


def _speaks_of(placed: Placed, name: str, mentions: Mentions) -> bool:
    """Whether a command of the rule begins with this name, and could come to run."""
    commands = (
        matcher.pattern for matcher in placed.rule.matchers if isinstance(matcher, CommandMatcher)
    )
    return any(
        pattern.first_word == name and mentions.may_run(name, pattern.written_words[1:])
        for pattern in commands
    )


def _above_wildcards(name: str, part: FilePart) -> str:
    """Return the folder in or below which the name is, up to its first wildcard."""
    if not part.glob:
        return name
    fixed = takewhile(lambda piece: not set(piece) & set("*?[{"), name.split("/"))
    return "/".join(fixed) or "/"


def _looking_once(context: Context) -> Context:
    """Return the context for one call, whose parts share the look where a path leads."""
    return replace(context, real=cache(context.real))


class Policy:
    """All rules in order, asked about each part of a call."""

    def __init__(self, rulesets: Sequence[RuleSet], protected: Protected) -> None:
        rules = ((rule, ruleset.folder) for ruleset in rulesets for rule in ruleset.counting)
        placed = [Placed(order, rule, folder) for order, (rule, folder) in enumerate(rules)]
        off = [name for ruleset in rulesets if not ruleset.folder for name in ruleset.unprotect]

        def index(*verdicts: RuleVerdict) -> RuleIndex:
            return RuleIndex(
                placed_rule for placed_rule in placed if placed_rule.rule.verdict in verdicts
            )

        self.deny = index(RuleVerdict.DENY)
        self.ask = index(*_ASKS)
        self.allow, self.leave = index(RuleVerdict.ALLOW), index(RuleVerdict.PASS)
        self.protected = protected.without(off)
        self._rulesets, self._size = rulesets, len(placed)
        self.ends = sorted(
            placed_rule.rule.expires
            for placed_rule in placed
            if placed_rule.rule.expires is not None
        )
        self._risks = tuple(
            ruleset for ruleset in rulesets if ruleset.risks and ruleset.trust is not Trust.NONE
        )
        self._all_protected = protected  # a secret that is off the list is a risk all the same

    def __len__(self) -> int:
        return self._size

    def with_rule(self, rule: Rule) -> "Policy":
        """Return these rules with another of the user's own behind them."""
        return Policy((*self._rulesets, RuleSet((rule,))), self._all_protected)

    @cached_property
    def wanted(self) -> Wanted:
        """The names of all files that a search must not read without a word from a person."""
        against = (*self.deny.matchers, *self.ask.matchers)
        named = (matcher.pattern for matcher in against if isinstance(matcher, PathMatcher))
        return PathSet((*named, *self.protected.secret.patterns)).wanted

    @cached_property
    def _looked_for(self) -> Wanted | None:
        """Return what a risk looks for in folders; the same as rulings do, to share one look.

        None where secrets were taken off the list: they are still a risk.
        """
        listed = self.protected.secret.patterns
        return self.wanted if self._all_protected.secret.patterns == listed else None

    def judge(self, event: Event, context: Context) -> Ruling | None:
        """Return what the rules say of the event, or None where they leave it open."""
        ruling = self.examine(event, context)
        return ruling if ruling.verdict is not None else None

    def risk(self, event: Event, context: Context) -> Risk:
        """Return what the event's call may do, and how much can go wrong; it decides nothing."""
        # Imported with the first card: its tables are large, and the server listens without them.
        from crabhook.policy.effects.risk import effects_of, with_own

        context = _looking_once(context)
        risk = effects_of(event, context, self._all_protected, self._looked_for)
        call = read_call(event, context) if self._risks else None
        return risk if call is None else with_own(risk, call, event, self._risks, context)

    def examine(self, event: Event, context: Context) -> Ruling:
        """Return what the rules say of each part of the call, even where that decides nothing."""
        context = _looking_once(context)
        call = read_call(event, context)
        if call is None:
            return Ruling(None, None, f"{event.name} calls no tool, and rules speak of calls")
        return self.examine_call(call, event, context)

    def examine_call(self, call: Call, event: Event, context: Context) -> Ruling:
        """As `examine`, of a call that `read_call` has read already in these context."""
        return Evaluation(self, call, event, context).ruling()
