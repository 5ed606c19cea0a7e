"""A true server, watched as any other: the gRPC health service and, over HTTP, its numbers."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from grpc_health.v1 import health_pb2 as pb
from grpc_health.v1.health_pb2_grpc import HealthStub
from prometheus_client.parser import text_string_to_metric_families

from crabhook.server.metrics.collector import Metrics
from tests.support.client import Client
from tests.support.http_desk import HttpDesk, call
from tests.support.service import Service

if TYPE_CHECKING:
    from collections.abc import Mapping

UP = pb.HealthCheckResponse.SERVING
DOWN = pb.HealthCheckResponse.NOT_SERVING
SERVICE = "crabhook.v1.PermissionService"


def health(channel: grpc.Channel, service: str = "") -> int:
    stub: Any = HealthStub(channel)
    return int(stub.Check(pb.HealthCheckRequest(service=service), timeout=60).status)


def numbers(text: str) -> Mapping[tuple[str, str], float]:
    """The samples of an exposition, by name and the values of their labels."""
    return {
        (sample.name, " ".join(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def metrics(desk: HttpDesk) -> str:
    """What Prometheus would read."""
    said = desk.send(method="GET", path="/metrics")
    assert (said.status, said.headers["content-type"]) == (200, Metrics.CONTENT_TYPE)
    return said.body.decode()


def test_a_server_tells_that_it_is_up_on_each_of_its_addresses() -> None:
    with Service("--headless", "--listen", "127.0.0.1:0") as service:
        where = next(line for line in service.said if "listening" in line)
        port = where.rpartition("127.0.0.1:")[2].rstrip('"')
        for target in (service.address, f"127.0.0.1:{port}"):
            with grpc.insecure_channel(target) as channel:
                assert [health(channel), health(channel, SERVICE)] == [UP, UP]


ENDS = [signal.SIGTERM, signal.SIGUSR1]
AGAIN = [pytest.param(how, marks=pytest.mark.thorough) for how in ENDS * 3]  # it may meet a write


@pytest.mark.parametrize("how", [*ENDS, *AGAIN])
def test_whoever_watches_is_told_of_the_end_and_does_not_delay_it(how: signal.Signals) -> None:
    with Service("--headless") as service, grpc.insecure_channel(service.address) as channel:
        stub: Any = HealthStub(channel)
        watching = iter(stub.Watch(pb.HealthCheckRequest(service=SERVICE), timeout=60))
        assert next(watching).status == UP
        service.process.send_signal(how)
        assert [one.status for one in watching] == [DOWN]
        assert service.process.wait(60) == 0


def test_what_was_decided_at_the_desk_is_in_the_numbers_and_nothing_of_what_it_was() -> None:
    with HttpDesk() as desk:
        waits = Client(desk.address, call("echo hush-hush"))
        desk.wait_for(r"^#1 PreToolUse")
        seen = numbers(metrics(desk))
        assert seen["crabhook_waiting", "claude"] == 1
        assert seen["crabhook_requests_total", "PreToolUse claude"] == 1
        desk.say("1 allow")
        assert waits.finish().output["hookSpecificOutput"]["permissionDecision"] == "allow"
        desk.wait_for(r"^#1 delivered")
        text = metrics(desk)
        seen = numbers(text)
        assert seen["crabhook_waiting", "claude"] == 0
        assert seen["crabhook_decisions_total", "operator allow"] == 1
        assert seen["crabhook_receipts_total", "received"] == 1
        assert seen["crabhook_rules_seconds_count", "at-once"] == 1
        assert seen["crabhook_wait_seconds_count", ""] == 1
        assert seen["crabhook_serving", ""] == 1
        assert ("process_open_fds", "") in seen or sys.platform != "linux"
        assert "hush" not in text
        assert "/nowhere" not in text
