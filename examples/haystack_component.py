"""KR in a Haystack pipeline: a component that answers from the documentation of the version installed.

python haystack_component.py "How do I follow redirects in httpx?"
"""

import asyncio
import sys
from typing import Any

from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder

import kr_core


@component
class LibraryResearch:
    """Answers a question about a library; what it cites goes on as documents.

    Args:
        folder: the project whose libraries are asked about.
    """

    def __init__(self, folder: str = ".") -> None:
        self.folder = folder
        self._pipeline: kr_core.Pipeline | None = None

    def warm_up(self) -> None:
        """Open KR's pipeline; Haystack calls this before each run."""
        if self._pipeline is None:
            self._pipeline = kr_core.Pipeline.open(folder=self.folder)

    def close(self) -> None:
        """Let go of it again."""
        if self._pipeline is not None:
            self._pipeline.close()
            self._pipeline = None

    @component.output_types(answer=str, score=int, documents=list[Document])
    def run(self, question: str) -> dict[str, Any]:
        """Answer in a pipeline that runs by itself."""
        return _outputs(self._opened.research(question))

    @component.output_types(answer=str, score=int, documents=list[Document])
    async def run_async(self, question: str) -> dict[str, Any]:
        """Answer in a pipeline that runs in an event loop, without blocking it."""
        return _outputs(await self._opened.aresearch(question))

    @property
    def _opened(self) -> kr_core.Pipeline:
        self.warm_up()
        assert self._pipeline is not None
        return self._pipeline


def _outputs(answer: kr_core.CompletedResearch) -> dict[str, Any]:
    results = answer.result.results
    documents = [
        Document(content=cited.quote, meta={"url": cited.url, "locator": cited.locator})
        for cited in results.citations
    ]
    return {"answer": results.summary, "score": results.score or 0, "documents": documents}


def prompts() -> Pipeline:
    """A pipeline that ends in the prompt for a model of your choice."""
    template = (
        "Answer from these passages only.\n"
        "{% for document in documents %}{{ document.meta.locator }}: {{ document.content }}\n{% endfor %}"
        "Question: {{ question }}"
    )
    pipeline = Pipeline()
    pipeline.add_component("research", LibraryResearch())
    pipeline.add_component("prompt", PromptBuilder(template, required_variables=["documents", "question"]))
    pipeline.connect("research.documents", "prompt.documents")
    return pipeline


async def main(question: str) -> None:
    """Print the prompt for a question."""
    pipeline = prompts()
    try:
        made = await pipeline.run_async(
            {"research": {"question": question}, "prompt": {"question": question}}
        )
    finally:
        pipeline.close()
    print(made["prompt"]["prompt"])


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:])))
