"""Batches of research that workers take: chunks of requests, each result kept as soon as it is there.

A batch is a document of the journal, and so is each chunk; the runtime only hands out the chunks' ids. What is handed out twice
comes to one result for each request: the first that is stored.
"""

from __future__ import annotations

import asyncio
import json
import logging
from functools import partial
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from kr_core.agents.question_dispatch import together
from kr_core.aio import shielded
from kr_core.errors import ConfigError, suggestion
from kr_core.model import ResearchRequest, ResearchResult
from kr_core.protocols import Document, QueuedRun
from kr_core.research.request_form import InvalidRequest
from kr_core.review import reviewed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from kr_core.protocols import Journal, Runtime
    from kr_core.research.pipeline import Pipeline

__all__ = ["RESEARCH", "BatchProgress", "ResearchBatches"]

RESEARCH = "research"
"""The queue of the chunks."""
_BATCH, _CHUNK = "batch", "batch.chunk"
_RUNNING, _PAUSED, _QUEUED, _ENDED = "running", "paused", "queued", "ended"
_SIZE = 10
"""Requests of a chunk, which one worker researches at once."""
_BEGUN = "begun"
"""The step by which a chunk shows that a worker has taken it."""
_LOOK_SECONDS, _LONGEST_LOOK = 0.02, 0.5
_WARN_SECONDS = 5.0
"""How long a batch waits for a worker until KR says so."""

_logger = logging.getLogger(__name__)


class BatchProgress(NamedTuple):
    """How far a batch has come."""

    id: str
    status: str
    """`running`, `paused` or `ended`."""
    requests: int
    chunks: int
    chunks_ended: int
    cost_usd: float
    max_cost_usd: float | None


class ResearchBatches:
    """The batches of a project.

    Args:
        pipeline: the project's.
        runtime: hands out the chunks.
    """

    def __init__(self, pipeline: Pipeline, runtime: Runtime) -> None:
        self._pipeline = pipeline
        self._runtime = runtime

    # -- for who asks ------------------------------------------------------------------------------------

    async def begin(self, lines: Sequence[Any], max_cost_usd: float | None) -> str:
        """Queue a batch; the same lines are the same batch until it has ended, and go on where they were.

        Raises:
            StorageError: the journal or the runtime cannot be used.
        """
        text = json.dumps(lines, sort_keys=True, ensure_ascii=True)
        batch = sha256(text.encode()).hexdigest()[:12]
        known = await shielded(lambda: self._journal.document(_BATCH, batch))
        chunks = -(-len(lines) // _SIZE)
        if known is None or (await self._progress(known)).status == _ENDED:
            data = {
                "generation": 1 if known is None else known.data["generation"] + 1,
                "requests": len(lines), "chunks": chunks, "cost_usd": 0.0, "max_cost_usd": max_cost_usd,
            }  # fmt: skip
            version = 1 if known is None else known.version + 1
            known = Document(_BATCH, batch, _RUNNING, version, data)
            await shielded(
                lambda: self._journal.change(known)
            )  # where another caller was first, it is the same
        else:
            await shielded(lambda: self._set(batch, _RUNNING, max_cost_usd))
        for place in range(chunks):
            await shielded(
                partial(self._keep_chunk, known, place, lines[place * _SIZE : (place + 1) * _SIZE])
            )
            await self._runtime.submit(QueuedRun(_chunk_of(known, place), RESEARCH))
        return batch

    def _keep_chunk(self, batch: Document, place: int, lines: Sequence[Any]) -> None:
        requests = []
        for raw in lines:
            request = self._pipeline.read_request(raw)  # here, where the versions are those of who asks
            if isinstance(request, InvalidRequest):
                requests.append({"raw": raw})
            else:
                requests.append({"request": request.model_dump(mode="json")})
        data = {"batch": batch.key, "requests": requests}
        self._journal.change(Document(_CHUNK, _chunk_of(batch, place), _QUEUED, 1, data))

    async def results(self, batch: str) -> AsyncIterator[ResearchResult]:
        """The results of a batch in the order of its lines, as they come; they end early where it is paused.

        Raises:
            StorageError: the journal cannot be used.
        """
        kept = await shielded(lambda: self._batch(batch))
        for place in range(kept.data["chunks"]):
            chunk = await self._ended_chunk(batch, _chunk_of(kept, place))
            if chunk is None:
                return
            for result in chunk.data["results"]:
                yield ResearchResult.model_validate(result)
        await shielded(lambda: self._set(batch, _ENDED))

    async def _ended_chunk(self, batch: str, key: str) -> Document | None:
        """A chunk once it has ended; None where its batch is paused."""
        loop = asyncio.get_running_loop()
        began, pause, warned = loop.time(), _LOOK_SECONDS, False
        while True:
            chunk = await shielded(lambda: self._journal.document(_CHUNK, key))
            if chunk is not None and chunk.status == _ENDED:
                return chunk
            if (await shielded(lambda: self._batch(batch))).status == _PAUSED:
                return None
            waited = loop.time() - began
            if not warned and waited >= _WARN_SECONDS:
                warned = True
                if await shielded(lambda: self._journal.step(key, _BEGUN)) is None:
                    _logger.warning(
                        "batch %s: no worker has taken it for %.0f s; start `kr worker`", batch, waited
                    )
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_LOOK)

    async def all(self) -> list[BatchProgress]:
        """How far each batch has come, oldest first.

        Raises:
            StorageError: the journal cannot be used.
        """
        found = await shielded(lambda: self._journal.documents(_BATCH))
        return [await self._progress(one) for one in found]

    async def _progress(self, batch: Document) -> BatchProgress:
        """How far a batch has come; it has ended where all its chunks have."""
        data, prefix = batch.data, f"{batch.key}-{batch.data['generation']}-"
        chunks = await shielded(lambda: self._journal.versions(_CHUNK))
        ended = sum(key.startswith(prefix) and status == _ENDED for key, status, _ in chunks)
        status = _ENDED if ended == data["chunks"] else batch.status
        return BatchProgress(
            batch.key, status, data["requests"], data["chunks"], ended, data["cost_usd"], data["max_cost_usd"]
        )

    async def pause(self, batch: str) -> None:
        """Let no further request of a batch begin.

        Raises:
            ConfigError: there is no such batch.
            StorageError: the journal cannot be used.
        """
        await shielded(lambda: self._set(batch, _PAUSED))

    async def resume(self, batch: str, max_cost_usd: float | None) -> None:
        """Let a batch go on that is paused, or whose chunks were lost.

        Args:
            batch: its id.
            max_cost_usd: its new limit of cost; None leaves it as it is.

        Raises:
            ConfigError: there is no such batch, or it has cost as much as its limit.
            StorageError: the journal or the runtime cannot be used.
        """
        kept = await shielded(lambda: self._batch(batch))
        limit = max_cost_usd if max_cost_usd is not None else kept.data["max_cost_usd"]
        if limit is not None and kept.data["cost_usd"] >= limit:
            raise ConfigError(
                f"it has cost ${kept.data['cost_usd']:.2f}, and its limit is ${limit:.2f}",
                where=f"batch {batch}",
                hint="give a higher one: --max-cost",
            )
        await shielded(lambda: self._set(batch, _RUNNING, max_cost_usd))
        await self._queue([batch])

    # -- for workers -------------------------------------------------------------------------------------

    async def sweep(self) -> None:
        """Queue the chunks again that have not ended, but for those of batches that are paused.

        Raises:
            StorageError: the journal or the runtime cannot be used.
        """
        running = await shielded(lambda: self._journal.documents(_BATCH, _RUNNING))
        if running:
            await self._queue([one.key for one in running])

    async def _queue(self, batches: Sequence[str]) -> None:
        for key, status, _ in await shielded(lambda: self._journal.versions(_CHUNK)):
            if status == _QUEUED and key.partition("-")[0] in batches:
                await self._runtime.submit(QueuedRun(key, RESEARCH))

    async def perform(self, run: QueuedRun) -> None:
        """Research the requests of a chunk that have no result yet, unless its batch is paused.

        Raises:
            StorageError: the journal cannot be used.
        """
        chunk = await shielded(lambda: self._journal.document(_CHUNK, run.id))
        if chunk is None or chunk.status == _ENDED:
            return
        await shielded(lambda: self._journal.keep_step(run.id, _BEGUN, True))  # noqa: FBT003  a step's result
        batch, requests = chunk.data["batch"], chunk.data["requests"]
        results = await together(
            [self._researched(run.id, place, told, batch) for place, told in enumerate(requests)]
        )
        if all(results):
            data = {"batch": batch, "results": results}
            ended = chunk._replace(status=_ENDED, version=chunk.version + 1, data=data)
            await shielded(lambda: self._journal.change(ended))  # False: another worker has done the same

    async def _researched(
        self, chunk: str, place: int, told: dict[str, Any], batch: str
    ) -> dict[str, Any] | None:
        """The result of a request, which is researched where it has none; None where its batch is paused."""
        known = await shielded(lambda: self._journal.step(chunk, str(place)))
        if known is not None:
            return dict(known)
        if (await shielded(lambda: self._batch(batch))).status == _PAUSED:
            return None
        request: ResearchRequest | InvalidRequest
        if "request" in told:
            request = ResearchRequest.model_validate(told["request"])
        else:
            request = await asyncio.to_thread(self._pipeline.read_request, told["raw"])
        answer = await self._pipeline.aresearch_as(request, f"{chunk}:{place}")
        result = (await reviewed(self._pipeline, request, answer)).result
        await shielded(lambda: self._journal.keep_step(chunk, str(place), result.to_dict()))
        written = result.results.written_by
        if written is not None and written.cost_usd:
            cost = written.cost_usd
            await shielded(lambda: self._add_cost(batch, cost))
        return result.to_dict()

    # -- documents ---------------------------------------------------------------------------------------

    @property
    def _journal(self) -> Journal:
        return self._pipeline.journal

    def _batch(self, batch: str) -> Document:
        found = self._journal.document(_BATCH, batch)
        if found is None:
            known = [key for key, _, _ in self._journal.versions(_BATCH)]
            hint = (
                suggestion(batch, known, "batches") if known else "`kr batch list` shows those that there are"
            )
            raise ConfigError("there is no such batch", where=f"batch {batch}", hint=hint)
        return found

    def _set(self, batch: str, status: str, max_cost_usd: float | None = None) -> None:
        for _ in count():
            kept = self._batch(batch)
            data = kept.data if max_cost_usd is None else {**kept.data, "max_cost_usd": max_cost_usd}
            if (kept.status, kept.data) == (status, data):
                return
            if self._journal.change(kept._replace(status=status, version=kept.version + 1, data=data)):
                return

    def _add_cost(self, batch: str, cost: float) -> None:
        """Count what a request has cost, and pause its batch where that is as much as it may cost."""
        for _ in count():
            kept = self._batch(batch)
            data = {**kept.data, "cost_usd": kept.data["cost_usd"] + cost}
            limit = data["max_cost_usd"]
            is_spent = limit is not None and data["cost_usd"] >= limit and kept.status == _RUNNING
            status = _PAUSED if is_spent else kept.status
            if self._journal.change(kept._replace(status=status, version=kept.version + 1, data=data)):
                return


def _chunk_of(batch: Document, place: int) -> str:
    return f"{batch.key}-{batch.data['generation']}-{place}"
