"""How long an event loop is held up, in seconds of its own thread: that the machine is slow is nobody's fault."""

from __future__ import annotations

import asyncio
import gc
import time
from contextlib import contextmanager

EVERY = 0.005


@contextmanager
def heartbeats():
    """Yields a list that has, after the block, what the running loop computed between each two beats of 5 ms.

    What other tests left behind is kept from the garbage collector meanwhile: it may look through it for 0.3 s.
    """
    gaps = []

    async def beat():
        last = time.thread_time()
        while True:
            await asyncio.sleep(EVERY)
            now = time.thread_time()
            gaps.append(now - last)
            last = now

    gc.collect()
    gc.freeze()
    heart = asyncio.get_running_loop().create_task(beat())
    try:
        yield gaps
    finally:
        heart.cancel()
        gc.unfreeze()
