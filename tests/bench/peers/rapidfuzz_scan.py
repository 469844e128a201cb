"""rapidfuzz: the best of 10,000 topics by a look at each; prints seconds for one look-up, a list."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter

from rapidfuzz import fuzz, process

ROUNDS = 5


def measure(topics: dict[str, list[str]]) -> list[float]:
    """Seconds for one look-up, in several rounds over all queries."""
    entries, queries, found = topics["entries"], topics["queries"], []
    for _ in range(ROUNDS + 1):
        start = perf_counter()
        for query in queries:
            process.extractOne(query, entries, scorer=fuzz.token_set_ratio, score_cutoff=70)
        found.append((perf_counter() - start) / len(queries))
    return found[1:]


if __name__ == "__main__":
    print(json.dumps({"rapidfuzz": measure(json.loads(Path(sys.argv[1]).read_text("utf-8")))}))
