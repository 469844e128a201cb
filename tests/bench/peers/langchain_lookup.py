"""LangChain's `SQLiteCache`: a lookup that finds its answer; prints seconds for one lookup, a list."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from time import perf_counter

from langchain_community.cache import SQLiteCache
from langchain_core.outputs import Generation

ROUNDS = 9
RUNS = 200
PROMPT = "How do I set a timeout for a parcel?"
ANSWER = "Pass `timeout=` to `send` to set the timeout for a parcel.\n" * 20


def measure(folder: Path) -> list[float]:
    """Seconds for one lookup, in several rounds."""
    path = folder / "langchain.sqlite"
    path.unlink(missing_ok=True)
    warnings.simplefilter("ignore")  # to write one each time would take longer than the lookup
    cache = SQLiteCache(database_path=str(path))
    cache.update(PROMPT, "model", [Generation(text=ANSWER)])
    found = []
    for _ in range(ROUNDS + 1):
        start = perf_counter()
        for _ in range(RUNS):
            assert cache.lookup(PROMPT, "model")
        found.append((perf_counter() - start) / RUNS)
    return found[1:]


if __name__ == "__main__":
    print(json.dumps({"langchain": measure(Path(sys.argv[1]))}))
