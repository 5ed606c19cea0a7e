"""Whether the people who signed are those whom an answer needs.

Strict hooks import this, and what verifies the record.

The law is the broker's (`crabhook.model.ballot`). All terms have to hold, each by so many different
people. One person counts for each of the terms that mean that person. So the law of a hook and the
law of a server are compared by a test, answer by answer.
"""

TYPE_CHECKING = False  # typing's own name, without what importing typing costs
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crabhook.hook.statement import SignedTerms


class TrueSigner:
    """A person whose signature is true.

    `groups` are written as `@leads`. `own`: the call comes from this person's own machine.
    `stepped_up`: a passkey or an SSH key has signed.
    """

    __slots__ = ("_selectors", "name", "own", "stepped_up")

    def __init__(self, name: str, groups: "Iterable[str]", *, own: bool) -> None:
        self.name = name
        self._selectors = {each.casefold() for each in ("@all", name, *groups)}
        self.own = own
        self.stepped_up = False

    def is_in(self, selectors: tuple[str, ...]) -> bool:
        """Whether one of these names or groups means this person; none of them means all."""
        return not selectors or any(each.casefold() in self._selectors for each in selectors)


class Quorum:
    """Who signed, and for how long the hook has waited, in milliseconds.

    `owner_known`: whether the team file names the owner of the machine that asks.
    """

    def __init__(self, signers: "Iterable[TrueSigner]", waited: int, *, owner_known: bool) -> None:
        self._signers = tuple(signers)
        self._waited = waited
        self._owner_known = owner_known

    def lacks(self, terms: "Iterable[SignedTerms]") -> "Iterator[str]":
        """Yield what is missing of the terms, in words; nothing where all of them hold."""
        for each in terms:
            counted = [signer.name for signer in self._signers if self._counts(signer, each)]
            if len(counted) < each.need:
                yield self._in_words(each, counted)

    def _counts(self, signer: TrueSigner, terms: "SignedTerms") -> bool:
        if terms.not_self and (signer.own or not self._owner_known):
            return False
        if terms.step_up and not signer.stepped_up:
            return False
        # A step counts once this hook has waited so long. The server's word is not asked.
        due = tuple(to for after, to in terms.after if after <= self._waited)
        return signer.is_in((*terms.of, *due) if terms.of else ())

    def _in_words(self, terms: "SignedTerms", counted: list[str]) -> str:
        whom = f" people of {', '.join(terms.of)}" if terms.of else ""
        how = " by a passkey or an SSH key" if terms.step_up else ""
        who = f" ({', '.join(counted)})" if counted else ""
        words = f"{len(counted)} of {terms.need}{whom} have signed the answer{how}{who}"
        if terms.not_self and not self._owner_known:
            return f"{words}: the team file names no owner of the machine, who would not count"
        return f"{words}: the owner of the machine does not count" if terms.not_self else words
