"""Runs one agent framework with a scripted model, by the page's own lines or pausing; prints JSON.

Arguments: the framework, the base URL of the provider, and the lines of the page on standard input;
none for a run that pauses. The model calls `refund` with 1, then with 2, and then is done. Printed
are the amounts that ran and what the model read of each call.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from agentapprovalprotocol import AsyncClient, AsyncGate, Receiver

RAN: list[int] = []
READ: list[str] = []
CREATED: list[str] = []
DONE = "Done."
TOKEN = os.environ["CRABHOOK_TOKEN"]


def refund(amount: int) -> str:
    """Refund a payment."""
    RAN.append(amount)
    return f"refunded {amount}"


class NotingClient(AsyncClient):
    """A client that remembers what it asked for."""

    async def create(self, submission: Any, key: str) -> Any:
        request = await super().create(submission, key)
        if request.id not in CREATED:
            CREATED.append(request.id)
        return request


def gate(url: str) -> AsyncGate:
    return AsyncGate(NotingClient(url, TOKEN), mode="async")


async def woken(url: str, name: str, resumer: Any) -> None:
    """Wait for each decision, and wake the paused run, until it pauses no more."""
    client = AsyncClient(url, TOKEN)
    receiver = Receiver(resumers={name: resumer}, client=client)
    seen = 0
    while seen < len(CREATED):
        request_id, seen = CREATED[seen], seen + 1
        while (await client.get(request_id, wait=25)).status == "pending":
            pass
        assert await receiver.wake(request_id)


def langgraph_model() -> Any:
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, *_: Any, **__: Any) -> Any:
            return self

    def turn(amount: int) -> Any:
        call = {"name": "refund", "id": f"c{amount}", "args": {"amount": amount}}
        return AIMessage(content="It was charged twice.", tool_calls=[call])

    return Scripted(messages=iter([turn(1), turn(2), AIMessage(DONE)]))


def langgraph_read(messages: Any) -> None:
    READ.extend(message.content for message in messages if message.type == "tool")


async def langgraph(agent: Any) -> None:
    said = await agent.ainvoke({"messages": [("user", "Refund it")]})
    langgraph_read(said["messages"])


async def langgraph_paused(url: str) -> None:
    from agentapprovalprotocol.langgraph import ApprovalMiddleware, resumer
    from langchain.agents import create_agent
    from langgraph.checkpoint.memory import InMemorySaver

    asks = ApprovalMiddleware(async_gate=gate(url), mode="async")
    agent: Any = create_agent(
        langgraph_model(), tools=[refund], middleware=[asks], checkpointer=InMemorySaver()
    )
    thread: Any = {"configurable": {"thread_id": "thread-7"}}
    await agent.ainvoke({"messages": [("user", "Refund it")]}, thread)
    assert (await agent.aget_state(thread)).interrupts
    await woken(url, "langgraph", resumer(agent))
    langgraph_read((await agent.aget_state(thread)).values["messages"])


def pydantic_ai_model() -> Any:
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    def turn(amount: int) -> Any:
        call = ToolCallPart("refund", {"amount": amount}, tool_call_id=f"c{amount}")
        return ModelResponse(parts=[TextPart("It was charged twice."), call])

    turns = iter([turn(1), turn(2), ModelResponse(parts=[TextPart(DONE)])])
    return FunctionModel(lambda *_: next(turns))


def pydantic_ai_read(messages: Any) -> None:
    parts = (part for message in messages for part in message.parts)
    READ.extend(str(part.content) for part in parts if part.part_kind == "tool-return")


async def pydantic_ai(agent: Any) -> None:
    pydantic_ai_read((await agent.run("Refund it")).all_messages())


async def pydantic_ai_paused(url: str) -> None:
    from agentapprovalprotocol.pydantic_ai import ApprovalCapability, resumer
    from pydantic_ai import Agent, DeferredToolRequests

    agent: Any = Agent(
        pydantic_ai_model(),
        tools=[refund],
        capabilities=[ApprovalCapability(gate=gate(url))],
        output_type=[str, DeferredToolRequests],
    )
    kept: list[Any] = []
    paused = await agent.run("Refund it")
    assert isinstance(paused.output, DeferredToolRequests)
    kept.append(paused.conversation)
    await woken(url, "pydantic-ai", resumer(agent, load=lambda _: kept[-1], save=kept.append))
    pydantic_ai_read(kept[-1].messages)


def openai_agents_model() -> Any:
    from agents import set_tracing_disabled
    from agents.testing import ScriptedModel, assistant_message, function_call

    set_tracing_disabled(disabled=True)

    def turn(amount: int) -> list[Any]:
        call = function_call("refund", {"amount": amount}, call_id=f"c{amount}")
        return [assistant_message("It was charged twice."), call]

    return ScriptedModel([turn(1), turn(2), [assistant_message(DONE)]])


def openai_agents_read(agent: Any) -> None:
    outputs = (item for item in agent.model.last_call.input if isinstance(item, dict))
    READ.extend(o["output"] for o in outputs if o.get("type") == "function_call_output")


async def openai_agents(agent: Any) -> None:
    from agents import Runner

    await Runner.run(agent, "Refund it")
    openai_agents_read(agent)


async def openai_agents_paused(url: str) -> None:
    from agentapprovalprotocol.openai_agents import Approvals
    from agents import Agent, function_tool

    kept: dict[str, str] = {}
    approvals = Approvals(gate=gate(url), save=kept.__setitem__, load=kept.get)
    agent: Any = Agent(name="support", model=openai_agents_model(), tools=[function_tool(refund)])
    paused = await approvals.run(approvals.protect(agent), "Refund it", run_id="run-7")
    assert paused.interruptions
    await woken(url, "openai-agents", approvals.resumer(agent))
    openai_agents_read(agent)


def main() -> None:
    name, url = sys.argv[1:]
    lines = sys.stdin.read()
    if not lines:
        asyncio.run(globals()[f"{name}_paused"](url))
    else:
        own: dict[str, Any] = {"refund": refund, "model": globals()[f"{name}_model"]()}
        exec(lines, own)
        asyncio.run(globals()[name](own["agent"]))
    print(json.dumps({"ran": RAN, "read": READ}))


main()
