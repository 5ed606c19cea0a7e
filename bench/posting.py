"""A hook of type `http`: one POST, with no process started at all.

Asked from this process by a bare socket, which costs next to nothing, and from
one warm Node process by its own two clients.
"""

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median

from bench import goals
from bench.candidate import LeftOut, verdict_in
from bench.errors import BenchError
from bench.events import DECIDED_EVENT, new_call
from bench.httpclient import Answer, HttpClient
from bench.instead.commands import HERE, where
from bench.process import Run
from bench.serving import Server, Told, talker
from bench.sizes import sized

EACH_ROUND = sized(25, 3)  # calls; a percentile wants more of them than there are rounds


@dataclass(frozen=True, slots=True)
class Posting:
    """A way to post hook inputs, some of them in every round."""

    name: str
    post: Callable[[bytes], Answer]

    def run(self, _: Mapping[str, str]) -> Run:
        """Post one after the other; raise BenchError for an answer that is no allow."""
        answers = [self.post(new_call(DECIDED_EVENT)) for _ in range(EACH_ROUND)]
        for answer in answers:
            if verdict_in(answer.body) != "allow":
                raise BenchError(f"{self.name}: answered {answer.body!r}")
        each = [answer.wall for answer in answers]
        cpu = sum(answer.cpu for answer in answers) / EACH_ROUND
        return Run(median(each), cpu, 0, answers[-1].body, b"", each)


@contextmanager
def postings(server: Server) -> Iterator[Sequence[Posting | LeftOut]]:
    """Make all of them; their connections and the Node process end with the context."""
    client = HttpClient(server.http_port, server.authorization)
    with client.connected() as kept:
        ours = (
            Posting(goals.POST_KEPT, partial(client.post, kept)),
            Posting(goals.POST_NEW, client.post_anew),
        )
        with _from_node(server) as theirs:
            yield (*ours, *theirs)


@contextmanager
def _from_node(server: Server) -> Iterator[Sequence[Posting | LeftOut]]:
    """Start a Node process that stays; it times its own calls."""
    ways = {goals.POST_AGENT: "agent", goals.POST_FETCH: "fetch"}
    node = where("node")
    if node is None:
        yield [LeftOut(name, "there is no node here") for name in ways]
        return
    command = (node, str(HERE / "poster.js"), server.url, server.authorization)
    with talker(command, environment=server.environment) as poster:
        yield [Posting(name, partial(_told_to_post, poster, way)) for name, way in ways.items()]


def _told_to_post(poster: Told, way: str, body: bytes) -> Answer:
    poster.say(f"{way} {body.decode()}")
    nanoseconds, microseconds, answer = poster.line("took")
    return Answer(b64decode(answer), int(nanoseconds) / 1e9, int(microseconds) / 1e6)
