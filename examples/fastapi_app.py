"""A service: one pipeline for all requests, opened and closed with the application.

uvicorn fastapi_app:app
curl "localhost:8000/research?question=How+do+I+follow+redirects+in+httpx"
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Annotated

from anyio import CancelScope
from fastapi import Depends, FastAPI, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from kr_core import Event, Pipeline, ResearchResult

watcher: ContextVar[Callable[[Event], object]] = ContextVar("watcher")
"""Who watches the question that is being answered; threads that work on it see the same value."""


def tell(event: Event) -> None:
    """Pass an event on to whoever watches its question."""
    if watch := watcher.get(None):
        watch(event)


@asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncIterator[dict[str, Pipeline]]:
    """Open the pipeline of the folder that the service was started in."""
    async with Pipeline.open(on_event=tell) as pipeline:
        yield {"pipeline": pipeline}


def opened(request: Request) -> Pipeline:
    """The application's pipeline."""
    pipeline: Pipeline = request.state.pipeline
    return pipeline


app = FastAPI(title="Questions about libraries", lifespan=lifespan)
Opened = Annotated[Pipeline, Depends(opened)]


@app.get("/research")
async def research(question: str, pipeline: Opened) -> ResearchResult:
    """Answer a question; what went wrong stands in `status`, `errors` and `results.degradation_notes`."""
    answer = await pipeline.aresearch(question)
    return answer.result


@app.get("/research/events", response_class=EventSourceResponse)
async def events(question: str, pipeline: Opened) -> AsyncIterator[ServerSentEvent]:
    """Answer a question and tell what happens meanwhile: server-sent events, the last of them `result`."""
    loop, said = asyncio.get_running_loop(), asyncio.Queue[Event | None]()
    watcher.set(lambda event: loop.call_soon_threadsafe(said.put_nowait, event))
    task = asyncio.create_task(pipeline.aresearch(question))
    task.add_done_callback(lambda _task: said.put_nowait(None))
    try:
        while event := await said.get():
            yield ServerSentEvent(event=event.kind, data=event.data)
        yield ServerSentEvent(event="result", data=(await task).result)
    finally:
        task.cancel()  # nobody listens any more
        with CancelScope(shield=True):  # whose request was cancelled is cancelled again at every await
            await asyncio.wait({task})
