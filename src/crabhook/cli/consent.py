"""A person's word on what widens the rules.

An agent runs as its owner and can start any command of ours, in more spellings than a rule can
list. So a command that widens the rules asks for what an agent does not have. That is the
passphrase of the team, where this machine has a team, and else a yes on the controlling terminal.
Neither is read from a pipe. A program that makes a terminal of its own can type a yes there; it
cannot type the passphrase.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial

from crabhook import config
from crabhook.cli.terminal import UnseenError, agrees
from crabhook.model.errors import CrabhookError
from crabhook.policy.rule import Rule, RuleScope
from crabhook.policy.rulefile import read_rules
from crabhook.present.safe import safe_lines
from crabhook.rulebook.edit import Widening, widening
from crabhook.rulebook.files import RULES, RuleFiles, RulesError
from crabhook.team.folder import Folder
from crabhook.ui.console import say


class NoConsentError(CrabhookError):
    """No person agreed to what widens the rules; nothing was changed."""


def write_rules(files: RuleFiles, text: str) -> None:
    """Write the owner's rules, after a person's word where that widens them.

    Raises NoConsentError without it, and RulesError where writing failed or the rules were changed
    while the person was asked.
    """
    before = files.read(RULES)
    after = read_rules(text, files.where(RULES))
    wider = widening(read_rules(before, files.where(RULES)), after)
    if wider:
        consent(files, [*in_words(wider), "This lets more happen without you."], "Write it?")
    if files.read(RULES) != before:
        raise RulesError(f"{files.where(RULES)} changed while you were asked: nothing was written")
    files.write(RULES, text)


def in_words(wider: Widening) -> Iterator[str]:
    """Yield what a change of rules lets happen, a line each."""
    yield from (f"  new:     {described(rule)}" for rule in wider.allows)
    yield from (f"  removed: {described(rule)}" for rule in wider.lifted)
    yield from (f"  no longer protected: {name}" for name in wider.unprotected)
    yield from (f"  changed: {risk}  # {risk.words}" for risk in wider.risks)


def consent(files: RuleFiles, lines: Iterable[str], question: str) -> None:
    """Have a person agree to what the lines say; raises CrabhookError if nobody does.

    Where a team's authority signs the change of shared rules, its passphrase is asked for then.
    """
    shown = [line for text in lines for line in safe_lines(text)]
    if files.signed:
        for line in shown:
            say(line)
        return
    try:
        if _asks_passphrase(files, "\n".join(shown)):
            return
        agreed = agrees("\n".join([*shown, question]))
    except UnseenError as error:
        raise NoConsentError(
            f"{error}. Nothing was changed. This lets more happen without a person, so no script "
            "and no agent can do it. Run the command yourself at a terminal. To set up a machine, "
            "copy a rules.toml into its settings folder (docs/how-to/ci.md)"
        ) from error
    if not agreed:
        raise NoConsentError("you did not agree: nothing was changed")


def _asks_passphrase(files: RuleFiles, shown: str) -> bool:
    """Ask for the passphrase of this person's team keys; whether there are such keys.

    The keys beside the rules count first, since the environment cannot tell them from the rules.
    Of several the oldest count: a team that an agent founds gives it nothing. Raises CrabhookError
    where nobody types the passphrase.
    """
    team = Folder(config.team_folder())
    made = (files.folder / "desks").glob("*/authority.pem")
    oldest = min(made, key=lambda path: path.stat().st_mtime, default=None)
    if oldest is None and not team.authority_key.exists():
        return False
    from crabhook.cli.team.asking import with_passphrase, yours  # it needs cryptography
    from crabhook.team.desk_keys import DeskFolder  # likewise
    from crabhook.team.team_file import authority_of, team_in  # likewise

    name = ""
    opened: Callable[[str], object] = partial(authority_of, team)
    if oldest is not None:
        desk = DeskFolder(oldest.parent)
        name, opened = desk.facts().team, desk.opened
    prompt = yours(name or team_in(team).name)
    with_passphrase(f"{shown}\n{prompt}" if shown else prompt, opened)
    return True


def described(rule: Rule) -> str:
    """Return a rule as a line of a list, whose verdicts stand in a column."""
    return f"{rule.verdict:<17}{'  '.join((*rule.texts, *_limits(rule)))}{_note(rule)}"


def in_a_sentence(rule: Rule) -> str:
    """Return a rule as the end of a sentence."""
    return f"{', '.join((str(rule), *_limits(rule)))}{_note(rule)}"


def _limits(rule: Rule) -> Iterator[str]:
    """Yield where a rule holds, who must allow, and until when."""
    for key in RuleScope.__dataclass_fields__:
        if values := getattr(rule.scope, key):
            yield f"{key}={','.join(values)}"
    if rule.terms:
        yield f"by {rule.terms.words}"
    if rule.expires:
        ended = rule.expires <= datetime.now(UTC)
        yield f"{'ENDED' if ended else 'until'} {rule.expires:%Y-%m-%d %H:%M %Z}"


def _note(rule: Rule) -> str:
    return f"  # {rule.note}" if rule.note else ""
