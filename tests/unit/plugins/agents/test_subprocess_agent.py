"""Programs that answer, as the plugins run them."""

import asyncio
import gc
import sys

import pytest

from kr_plugins.agents.subprocess_agent import run_program


@pytest.mark.req("Q7")
def test_cancelled_twice_it_ends_in_silence(tmp_path):
    """As where a service that is closed ends its agents: nothing is said of what nobody waits for any more."""
    begun = tmp_path / "begun"
    code = f"import pathlib, time; pathlib.Path({str(begun)!r}).touch(); time.sleep(3600)"
    told = []

    async def cancelled_twice():
        argv = [sys.executable, "-I", "-S", "-c", code]
        running = asyncio.ensure_future(run_program(argv, "", folder=tmp_path, environ={}))
        while not begun.exists():  # noqa: ASYNC110  another process makes it
            await asyncio.sleep(0.005)
        running.cancel()
        await asyncio.sleep(0)  # it is about to wait for what it has cancelled itself
        running.cancel()
        await asyncio.wait({running})
        return running.cancelled()

    async def main():
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: told.append(context))
        assert await cancelled_twice()
        gc.collect()

    asyncio.run(main())
    assert told == []
