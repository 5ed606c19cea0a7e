"""Secrets covered on the screen, letter by letter, so that nothing else moves or goes.

It keeps a secret from whoever looks over the operator's shoulder; it is no
claim that nothing else on the screen is one.
"""

from dataclasses import dataclass

from crabhook.ui.full.letters import Speller
from crabhook.ui.secrets import COVER, masked, names_a_secret


@dataclass(frozen=True, slots=True)
class Mask:
    """A speller that covers what it finds before another one spells the rest."""

    spell: Speller
    cover: str = COVER

    def __call__(self, text: str) -> str:
        """Return `text` spelt, the secrets in it covered."""
        return self.spell(masked(text, self.cover))

    def whole(self, text: str) -> str:
        """Return all of `text` covered, as the value of a field that names a secret is."""
        return self.spell("".join(self.cover if letter.isalnum() else letter for letter in text))


def spelling_of(name: str, spell: Speller) -> Speller:
    """Return how the value of a field of that name is spelt."""
    return spell.whole if isinstance(spell, Mask) and names_a_secret(name) else spell
