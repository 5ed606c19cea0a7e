"""docs/reference/metrics.md has every number there is, and names no other."""

import re
from functools import partial

from prometheus_client.parser import text_string_to_metric_families

from crabhook.app.leadership import Writing, gauges
from crabhook.server.grpc.listener import SERVICES, WATCHES, Fitness
from crabhook.server.metrics.collector import Metrics
from tests.docs.metrics_table import PAGE, TOLD, WORDS, with_table
from tests.support.runners import bare_runner

TEXT = PAGE.read_text(encoding="utf-8")


async def shown() -> dict[str, set[str]]:
    """The names of what is exposed, without those of the process, and the labels of each."""
    metrics = Metrics()
    runner = bare_runner(witness=metrics.tally)
    metrics.watch(runner, partial(gauges, Writing()))
    text = metrics.exposition().decode()
    runner.close()
    return {
        name: {label for sample in family.samples for label in sample.labels}
        for family in text_string_to_metric_families(text)
        if not (name := family.name).startswith("process_")
    }


def test_the_page_has_the_tables() -> None:
    assert with_table(TEXT) == TEXT, "python -m tests.docs.metrics_table writes them anew"


async def test_the_page_has_all_that_is_exposed_and_nothing_else() -> None:
    rows = re.findall(r"^\| `(crabhook_\w+)` \|", TEXT, re.MULTILINE)
    assert {name.removesuffix("_total") for name in rows} == set(await shown())
    assert len(rows) == len(set(rows))


def test_every_number_named_in_an_example_is_there() -> None:
    rows = set(re.findall(r"^\| `(crabhook_\w+)` \|", TEXT, re.MULTILINE))
    named = {name.removesuffix("_bucket") for name in re.findall(r"\bcrabhook_\w+", TEXT)}
    assert named == rows


async def test_every_label_is_explained() -> None:
    explained = {*WORDS, *TOLD, "le"}
    assert {label for labels in (await shown()).values() for label in labels} <= explained
    for name, value in re.findall(r'(\w+)="([a-z-]+)"', TEXT):
        assert value in WORDS[name]


def test_the_page_tells_how_health_is_asked() -> None:
    assert all(f"`{word}`" in TEXT for word in Fitness if word is not Fitness.SERVING)
    assert SERVICES[1] in TEXT
    assert re.search(rf"\b{WATCHES}\b", TEXT)
