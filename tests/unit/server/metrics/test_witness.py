"""A runner's witness: what it hears of, and in which order."""

from collections.abc import Sequence

from crabhook.broker.messages import Effect, Fact
from crabhook.desk.updates import News
from crabhook.server.metrics.tally import Tally
from tests.support.playbook import ALLOW, bash
from tests.support.runners import bare_runner
from tests.support.seat import hears, seat


class Notary(Tally):
    """Writes down what it hears."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def handled(self, fact: Fact, effects: Sequence[Effect]) -> None:
        self.heard.append(f"{type(fact).__name__} {len(effects) > 0}")

    def unread(self, platform: str) -> None:
        self.heard.append(f"unread {platform}")


async def test_it_hears_of_facts_in_order_even_where_a_screen_answers_at_once() -> None:
    notary = Notary()
    runner = bare_runner(witness=notary)

    def answer(_: News) -> None:
        if runner.broker.waiting():
            seat(runner).decide(1, ALLOW)

    hears(runner, answer)
    runner.enter(bash("a", "ls", wait=runner.now() + 60), None)
    runner.close()
    assert notary.heard == ["Arrived True", "Answered True", "Closing False"]
