"""KR in a LangGraph graph: a node researches, and an edge sends what is not sure enough to a person.

python langgraph_node.py "How do I follow redirects in httpx?"
"""

import asyncio
import sys
from typing import Any, NotRequired, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from kr_core import Pipeline

SURE = 50
"""The least score, of 100, that needs nobody to look at it: `medium` begins there."""


class State(TypedDict):
    """What goes through the graph."""

    question: str
    answer: NotRequired[str]
    score: NotRequired[int]
    cited: NotRequired[list[str]]
    ask: NotRequired[str]
    """What a person is asked."""


def build(pipeline: Pipeline) -> CompiledStateGraph[State, None, State, State]:
    """A graph around a pipeline, which stays the caller's."""

    async def research(state: State) -> dict[str, Any]:
        results = (await pipeline.aresearch(state["question"])).result.results
        cited = [f"{citation.url} {citation.locator}" for citation in results.citations]
        return {"answer": results.summary, "score": results.score or 0, "cited": cited}

    def sure_enough(state: State) -> bool:
        return state["score"] >= SURE

    def person(state: State) -> dict[str, Any]:
        return {"ask": f"{state['question']} (found, with {state['score']} of 100: {state['answer']})"}

    graph = StateGraph(State)
    graph.add_node("research", research)
    graph.add_node("person", person)
    graph.add_edge(START, "research")
    graph.add_conditional_edges("research", sure_enough, {True: END, False: "person"})
    graph.add_edge("person", END)
    return graph.compile()


async def main(question: str) -> None:
    """Print the answer with what it cites, or what a person would be asked."""
    async with Pipeline.open() as pipeline:
        state = await build(pipeline).ainvoke({"question": question})
    print(state.get("ask") or state["answer"])
    print(*state["cited"], sep="\n")


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:])))
