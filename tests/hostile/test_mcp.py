"""What an MCP server on the network may send: nothing that fills the memory."""

from __future__ import annotations

import asyncio
import tracemalloc
import zlib

import pytest
from support.loopback import Answer, serving
from unit.net.conftest import Way

from kr_core import Outcome, RequestError
from kr_core.net.mcp import mcp_client

pytestmark = pytest.mark.req("Z8")

_BOMB_BYTES = 150_000_000
_PEAK_BYTES = 40_000_000
"""Of what Python allocates during a call."""


@pytest.fixture(scope="module")
def bomb():
    """A gzip file that unpacks to spaces, which JSON may have before it begins."""
    packer = zlib.compressobj(9, wbits=31)
    part = b" " * 10_000_000
    return b"".join(packer.compress(part) for _ in range(_BOMB_BYTES // len(part))) + packer.flush()


@pytest.mark.parametrize("status", [200, 404, 500])
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_a_packed_answer_is_not_unpacked(tmp_path, bomb, kind, status):
    """It was not asked for, whatever the status: the call fails with a typed outcome, and its memory stays small."""
    assert mcp_client.called, "it is imported before memory is looked at"
    way = Way(tmp_path / "answers")

    async def call(server):
        async with way.out(seconds=60.0) as context:
            with pytest.raises(RequestError) as caught:
                await context.call_tool(f"{server.url}/mcp", "ask", {})
            return caught.value

    tracemalloc.start()
    try:
        with serving(
            lambda _asked: Answer(status, bomb, {"Content-Type": kind, "Content-Encoding": "gzip"})
        ) as server:
            error = asyncio.run(call(server))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        way.outside.close()
    assert peak < _PEAK_BYTES
    if status == 200:
        assert (error.outcome, "packed as gzip" in str(error)) == (Outcome.bad_answer, True)
    else:
        assert (error.outcome, f"answered {status}" in str(error)) == (Outcome.unavailable, True)
