"""All that takes turns in the section `hooks`: floors, our own ways in, and what one would use."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bench.candidate import Contender, LeftOut
from bench.candidates import candidates
from bench.instead.commands import instead
from bench.posting import postings
from bench.serving import Server


@contextmanager
def contenders(server: Server) -> Iterator[tuple[Sequence[Contender], Sequence[LeftOut]]]:
    """Yield those that can run on this machine, and those that cannot."""
    with postings(server) as posts:
        every = [*candidates(server), *instead(server), *posts]
        left_out = [one for one in every if isinstance(one, LeftOut)]
        yield [one for one in every if not isinstance(one, LeftOut)], left_out
