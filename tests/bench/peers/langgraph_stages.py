"""LangGraph: a graph of seven nodes that do nothing; prints seconds for one run, a list each for `invoke` and `ainvoke`."""

from __future__ import annotations

import asyncio
import json
from time import perf_counter
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph

ROUNDS = 9
RUNS = 100


class State(TypedDict):
    value: int


def nothing(_state: State) -> dict[str, Any]:
    return {"value": 0}


async def nothing_later(_state: State) -> dict[str, Any]:
    return {"value": 0}


def graph(node: Any) -> Any:
    builder = StateGraph(State)
    names = [f"stage_{number}" for number in range(7)]
    for name in names:
        builder.add_node(name, node)
    for one, other in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(one, other)
    return builder.compile()


def sync_seconds() -> list[float]:
    compiled, found = graph(nothing), []
    for _ in range(ROUNDS + 1):
        start = perf_counter()
        for _ in range(RUNS):
            compiled.invoke({"value": 0})
        found.append((perf_counter() - start) / RUNS)
    return found[1:]


async def async_seconds() -> list[float]:
    compiled, found = graph(nothing_later), []
    for _ in range(ROUNDS + 1):
        start = perf_counter()
        for _ in range(RUNS):
            await compiled.ainvoke({"value": 0})
        found.append((perf_counter() - start) / RUNS)
    return found[1:]


if __name__ == "__main__":
    print(json.dumps({"invoke": sync_seconds(), "ainvoke": asyncio.run(async_seconds())}))
