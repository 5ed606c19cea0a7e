"""A server that exports its record, as its owner runs it: settings, hooks, and a receiver."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.client import Client
from tests.support.exported import TRACEPARENT
from tests.support.http_desk import HttpDesk, call
from tests.support.plain_desk import CRABHOOK
from tests.support.receivers import HttpSink, SyslogSink, certified, http_sink, syslog_sink
from tests.unit.server.export.test_exporter import until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process

RULES = '[[rule]]\nverdict = "deny"\nmatch = "Bash(rm *)"\n'
SECRET = "ghp_" + "a1B2" * 9


class ExportingDesk(HttpDesk):
    """A server with a rule and an [export] in its settings."""

    def __init__(self, export: str) -> None:
        super().__init__()
        self.write_rules(RULES)
        settings = self.folder / ".config/crabhook/settings.toml"
        settings.write_text(f"[export]\n{export}\n", "utf-8")

    def state(self) -> tuple[str, str]:
        """What /healthz says, and /metrics."""
        asked = self.send(method="GET", path="/healthz"), self.send(method="GET", path="/metrics")
        health, metrics = (answer.body.decode() for answer in asked)
        return health, metrics


async def denies(desk: HttpDesk, command: str) -> None:
    answer = await asyncio.to_thread(desk.send, call(command))
    assert answer.output["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.slow
async def test_a_receiver_of_syslog_over_tls_that_comes_late_has_every_decision(
    tmp_path: Path,
) -> None:
    context, ca = certified(tmp_path)
    sink = SyslogSink()
    async with syslog_sink(sink, context):
        pass
    export = f'to = "syslogs://127.0.0.1:{sink.port}"\nca = "{ca}"'
    with ExportingDesk(export) as desk:
        for number in range(5):
            await denies(desk, f"rm -rf {number} # {SECRET}")
        told = desk.wait_for(r"NOT EXPORTED since .*")
        assert "records wait in the record" in told.group()
        health, metrics = await asyncio.to_thread(desk.state)
        assert health == "ok\nnot-exported\n"
        assert "\ncrabhook_export_failing 1.0\n" in metrics
        async with syslog_sink(sink, context):
            await until(lambda: "takes the record again" in "\n".join(sink.messages()))
            health, metrics = await asyncio.to_thread(desk.state)
            assert health == "ok\n"
            assert "\ncrabhook_export_failing 0.0\n" in metrics
    denied = [message for message in sink.messages() if "act=deny" in message]
    assert len(denied) == 5
    assert all("rm -rf" in message for message in denied)
    assert SECRET not in "".join(sink.messages())
    assert sink.numbers == sorted(set(sink.numbers))


async def test_a_receiver_of_otlp_gets_a_span_for_each_decision(tmp_path: Path) -> None:
    headers = tmp_path / "headers"
    headers.write_text("Authorization: Bearer t0ken\n", "utf-8")
    async with http_sink(HttpSink()) as sink:
        export = f'to = "{sink.url}"\nheaders = "{headers}"'
        with ExportingDesk(export) as desk:
            await until(lambda: sink.bodies)
            hook = Client(desk.address, call("rm x"), TRACEPARENT=TRACEPARENT)
            await asyncio.to_thread(hook.finish)
            named = "crabhook.approval"
            await until(lambda: any(span["name"] == named for span in sink.spans))
    assert {each["Authorization"] for each in sink.headers} == {"Bearer t0ken"}
    (span,) = [span for span in sink.spans if span["name"] == "crabhook.approval"]
    assert [span["traceId"], span["parentSpanId"]] == TRACEPARENT.split("-")[1:3]
    told = {each["key"]: each["value"].get("stringValue") for each in span["attributes"]}
    assert told["crabhook.verdict"] == "deny"
    assert json.loads(told["gen_ai.tool.call.arguments"]) == {"command": "rm x"}


def test_a_format_that_does_not_go_that_way_is_an_error_before_the_start(tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text('[export]\nto = "syslog://127.0.0.1:1"\nformat = "otlp"\n', "utf-8")
    command = [CRABHOOK, "serve", "--plain", "--settings", str(settings)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    ended = subprocess.run(
        command, env=environment, input="", capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode != 0
    assert 'format = "otlp" does not go by syslog: "cef" or "ocsf" does' in ended.stderr
