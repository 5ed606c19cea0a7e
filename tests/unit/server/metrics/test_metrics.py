"""What Prometheus reads: well-formed, exact, and with nothing in it that an agent has sent."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from crabhook import __version__
from crabhook.app.leadership import Writing, gauges
from crabhook.model.event import Event
from crabhook.model.order import Order, OrderKind
from crabhook.platforms import PLATFORMS
from crabhook.policy.rule import RuleVerdict, Ruling
from crabhook.server.core.runner import Runner
from crabhook.server.metrics import collector as module
from crabhook.server.metrics.collector import COUNTERS, GAUGES, TIMINGS, Definition, Metrics
from crabhook.server.metrics.tally import BY, End
from crabhook.store.interface import StoreError
from crabhook.store.opening import open_writer
from crabhook.store.recorder import Recorder
from tests.support.playbook import ALLOW, asking, bash
from tests.support.runners import RulesOf, bare_runner
from tests.support.seat import seat

ALLOWED = Ruling(RuleVerdict.ALLOW, None, "so")


def measured(recorder: Recorder | None = None) -> tuple[Runner, Metrics]:
    """A runner, and the metrics that count what it does."""
    metrics = Metrics()
    runner = bare_runner(recorder, witness=metrics.tally)
    metrics.watch(runner, partial(gauges, Writing()))
    return runner, metrics


def shown(metrics: Metrics) -> Mapping[tuple[str, tuple[str, ...]], float]:
    """Every sample, by its name and the values of its labels in the order of these."""
    families = text_string_to_metric_families(metrics.exposition().decode())
    samples = [sample for family in families for sample in family.samples]
    found = {
        (one.name, tuple(value for _, value in sorted(one.labels.items()))): one.value
        for one in samples
    }
    assert len(found) == len(samples), "a sample is there twice"
    return found


async def test_an_exposition_has_every_family_with_its_words_and_type() -> None:
    runner, metrics = measured()
    text = metrics.exposition().decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    defined = sorted(one.name for one in (*COUNTERS, *GAUGES))
    assert defined == sorted([*module._COUNTED, *module._SEEN, *gauges(Writing())])
    for family, kind in (
        *((one, "counter") for one in COUNTERS),
        *((one, "gauge") for one in GAUGES),
    ):
        found = families[family.name.removesuffix("_total") if kind == "counter" else family.name]
        assert (found.documentation, found.type) == (family.documentation, kind)
        assert f"# HELP {family.name} " in text
        assert f"# TYPE {family.name} {kind}" in text
    for one in TIMINGS:
        assert (families[one.name].documentation, families[one.name].type) == (
            one.documentation,
            "histogram",
        )
    assert "process_open_fds" in families or sys.platform != "linux"
    assert "_created" not in text
    runner.close()


async def test_what_happens_is_counted() -> None:
    runner, metrics = measured()
    runner.enter(bash("a", "ls", wait=runner.now() + 60), None)
    runner.enter(bash("b", "make", "t2", wait=runner.now() + 60), None)
    runner.enter(asking("c", "AfterTool", platform="gemini", session="t"), None)
    seat(runner).order(Order(OrderKind.ALLOW_ALL, session="z", until=runner.now() + 60))
    seat(runner).answer(1, ALLOW)
    seen = shown(metrics)
    assert seen["crabhook_requests_total", ("PreToolUse", "claude")] == 2
    assert seen["crabhook_requests_total", ("AfterTool", "gemini")] == 1
    assert seen["crabhook_waiting", ("claude",)] == 1
    assert seen["crabhook_waiting", ("gemini",)] == 0
    assert seen["crabhook_requests_ended_total", ("decided",)] == 1
    assert seen["crabhook_requests_ended_total", ("observed",)] == 1
    assert seen["crabhook_decisions_total", ("operator", "allow")] == 1
    assert seen["crabhook_wait_seconds_count", ()] == 1
    assert 0 < seen["crabhook_oldest_wait_seconds", ()] < 5
    assert seen["crabhook_orders", ("allow-all",)] == 1
    assert seen["crabhook_sessions", ()] == 2
    assert seen["crabhook_serving", ()] == 1
    assert seen["crabhook_build_info", (__version__,)] == 1
    assert runner.confirm("a", "secret of a")
    assert shown(metrics)["crabhook_receipts_total", ("received",)] == 1
    runner.close()
    seen = shown(metrics)
    assert seen["crabhook_serving", ()] == 0
    assert seen["crabhook_requests_ended_total", ("operator-left",)] == 1


async def test_a_record_in_trouble_is_seen(tmp_path: Path) -> None:
    recorder = Recorder(lambda: open_writer(tmp_path))
    runner, metrics = measured(recorder)
    assert shown(metrics)["crabhook_record_trouble", ()] == 0
    recorder.error = StoreError("the disk is full")
    assert shown(metrics)["crabhook_record_trouble", ()] == 1
    recorder.error = None
    runner.close()
    recorder.close()


HOSTILE = 'MARK"}\\ 1\nMARK{x="\u202e'


async def test_nothing_an_agent_sent_is_in_it_however_it_is_sent() -> None:
    runner, metrics = measured()
    sent: dict[str, Any] = {"session": HOSTILE, "agent": HOSTILE, "wait": runner.now() + 60}
    for number, platform in enumerate(PLATFORMS):
        runner.enter(asking(f"MARK{number}", HOSTILE, platform=platform, **sent), None)
    runner.enter(bash("MARKx", HOSTILE, HOSTILE, secret=HOSTILE, **sent), None)
    runner.observe(Event("claude", "?", session=HOSTILE), HOSTILE)
    runner.witness.unread("claude")
    text = metrics.exposition().decode()
    assert "MARK" not in text
    assert "\u202e" not in text
    seen = shown(metrics)
    assert all(seen["crabhook_requests_total", ("other", name)] == 1 for name in PLATFORMS)
    assert seen["crabhook_unreadable_total", ("claude",)] == 1
    runner.close()


async def test_an_agent_that_makes_up_names_makes_no_more_samples() -> None:
    runner, metrics = measured()
    runner.enter(asking("a", "Made-up"), None)
    before = len(shown(metrics))
    for number in range(200):
        runner.enter(asking(f"r{number}", f"Made-up-{number}", session=f"s{number}"), None)
    assert len(shown(metrics)) == before
    runner.close()


def test_all_labels_are_words_of_our_own() -> None:
    words = [
        *End,
        *BY.values(),
        *PLATFORMS,
        *(name for one in PLATFORMS.values() for name in one.events),
    ]
    assert all(re.fullmatch("[A-Za-z]+([-_./][A-Za-z]+)*", word) for word in words)


@pytest.mark.parametrize("timed", TIMINGS, ids=lambda timed: timed.name)
@given(times=st.lists(st.floats(0, 1e6), max_size=20))
def test_each_bucket_has_what_was_no_longer_than_its_bound(
    timed: Definition, times: list[float]
) -> None:
    metrics = Metrics()
    histogram = metrics._timings[timed.name]
    for one in times:
        (histogram.labels("ahead") if timed.labels else histogram).observe(one)
    labels = ("ahead",) if timed.labels else ()
    seen = shown(metrics)
    for top in timed.bounds:
        within = sum(one <= top for one in times)
        assert seen[f"{timed.name}_bucket", tuple(sorted((*labels, str(float(top)))))] == within
    assert seen[f"{timed.name}_count", labels] == len(times)
    assert seen[f"{timed.name}_sum", labels] == pytest.approx(sum(times))


async def test_the_judge_is_timed_whatever_it_does() -> None:
    metrics = Metrics()

    async def judge(event: Event, *, long: bool) -> Ruling | None:
        if event.name == "Bad":
            raise ValueError("bad")
        return ALLOWED

    timed = metrics.timed(RulesOf(judge))
    assert await timed.judge(Event("claude", "Good"), long=False) is ALLOWED
    with pytest.raises(ValueError, match="bad"):
        await timed.judge(Event("claude", "Bad"), long=False)
    seen = shown(metrics)
    assert seen["crabhook_rules_seconds_count", ("at-once",)] == 2
    assert seen["crabhook_rules_seconds_count", ("ahead",)] == 0


async def test_what_is_judged_in_a_thread_is_timed_apart() -> None:
    metrics = Metrics()

    async def judge(_: Event, *, long: bool) -> None:
        await asyncio.sleep(0.02)

    await metrics.timed(RulesOf(judge)).judge(Event("claude", "PreToolUse"), long=True)
    seen = shown(metrics)
    assert seen["crabhook_rules_seconds_count", ("ahead",)] == 1
    assert seen["crabhook_rules_seconds_count", ("at-once",)] == 0
    assert seen["crabhook_rules_seconds_sum", ("ahead",)] >= 0.02


async def test_the_loops_lag_is_measured_while_the_doors_are_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LOOK_EVERY", 0.005)
    metrics = Metrics()
    async with metrics.keeping_time():
        async with asyncio.timeout(60):
            while not shown(metrics)["crabhook_loop_lag_seconds_count", ()]:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0)
        keeping = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.wait(keeping, timeout=60)
    assert all(task.cancelled() for task in keeping)


SERVE = """
import sys
import crabhook.cli.serve
print([name for name in ("prometheus_client", "aiohttp") if name in sys.modules])
"""


@pytest.mark.process
def test_who_wants_no_metrics_does_not_import_them() -> None:
    done = subprocess.run([sys.executable, "-c", SERVE], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
