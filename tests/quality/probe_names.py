"""Names asked for by name, generated: is the symbol first, and is the parameter?

    python tests/quality/probe_names.py [COUNT] [-v]

It asks "What does NAME do in LIB?" and "What is the default of P in NAME?" of random public names of the packages of the
quality environment, NAME spelled in turn whole, with its class, or by its last part where only one thing is called so.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kr_core.toolkit import LocalProject, PassageIndex
from kr_plugins.sources.installed_docs.index_answer import answer
from kr_plugins.sources.installed_docs.material import LocatedMaterial, find
from kr_plugins.sources.installed_docs.package_index import open_index
from kr_plugins.sources.installed_docs.reading_budget import ReadingBudget

if TYPE_CHECKING:
    from kr_core.plugin import Passage

HERE = Path(__file__).parent
ENVIRONMENT = Path(os.environ.get("KR_QUALITY_ENV", HERE.parent.parent / ".quality" / ".venv"))
SEED = 20261123


class Probe(NamedTuple):
    """A generated question, and what must come first."""

    library: str
    question: str
    symbol: str
    parameter: str | None
    form: str


class Figures(NamedTuple):
    """What became of the probes."""

    asked: int
    first: int
    p50_ms: float
    by_form: dict[str, tuple[int, int]]
    wrong: list[tuple[Probe, str]]


def probes(index: PassageIndex, library: str, count: int, chance: random.Random) -> list[Probe]:
    """Questions about random public names of one index."""
    hits = [
        hit.passage
        for hit in index.get(range(1, index.size + 1))
        if hit.passage.symbol
        and hit.passage.data.get("public")
        and hit.passage.kind in {"symbol", "parameter"}
    ]
    lasts: dict[str, set[str]] = {}
    for passage in hits:
        lasts.setdefault(passage.symbol.rpartition(".")[2].lower(), set()).add(passage.symbol)
    chance.shuffle(hits)
    found = []
    for passage in hits[:count]:
        whole, parts = passage.symbol, passage.symbol.split(".")
        form = chance.choice(["whole", "owner", "last"])
        if form == "last" and (len(lasts[parts[-1].lower()]) > 1 or parts[-1].isalpha()):
            form = "owner"
        if form == "owner" and (len(parts) < 3 or not parts[-2][:1].isupper()):
            form = "whole"
        name = {"whole": whole, "owner": ".".join(parts[-2:]), "last": parts[-1]}[form]
        if passage.parameter:
            question = f"What is the default of {passage.parameter} in {name}?"
        else:
            question = f"What does {name} do in {library}?"
        found.append(Probe(library, question, whole, passage.parameter, f"{passage.kind} {form}"))
    return found


def is_right(probe: Probe, passage: Passage) -> bool:
    """Whether a passage is about what was asked, under any of its names."""
    named = {passage.symbol, *passage.also, *passage.aliases}
    names = {name.partition("(")[0] for name in named if name}
    return probe.symbol in names and passage.parameter == probe.parameter


def measure(count: int, cache: Path) -> Figures:
    """Ask about as many names, spread evenly over the packages."""
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory() as root:
        project = LocalProject(Path(root), Path(root), {"VIRTUAL_ENV": str(ENVIRONMENT)})
        located = [
            (name, found)
            for name in sorted(one.name for one in project.distributions())
            if (found := find(name, project)) is not None and not found.material.empty
        ]
        share = -(-3 * count // max(1, 2 * len(located)))  # small packages have not so many names
        outcomes = [
            outcome for name, found in located for outcome in _asked(name, found, share, cache, chance)
        ]
    outcomes = chance.sample(outcomes, min(count, len(outcomes)))
    by_form: dict[str, tuple[int, int]] = {}
    for probe, shown, _seconds in outcomes:
        asked, first = by_form.get(probe.form, (0, 0))
        by_form[probe.form] = (asked + 1, first + (not shown))
    times = sorted(seconds for _probe, _shown, seconds in outcomes)
    wrong = [(probe, shown) for probe, shown, _seconds in outcomes if shown]
    return Figures(len(outcomes), len(outcomes) - len(wrong), 1000 * times[len(times) // 2], by_form, wrong)


def _asked(
    name: str, found: LocatedMaterial, share: int, cache: Path, chance: random.Random
) -> list[tuple[Probe, str, float]]:
    index, _notes = open_index(cache, found.material, lambda _done, _total: None, ReadingBudget())
    outcomes = []
    for probe in probes(index, name, share, chance):
        started = time.perf_counter()
        told = answer(index, probe.question, found.names, found.origin, found.modules_in(probe.question))
        seconds = time.perf_counter() - started
        first = told.passages[0] if told.passages else None
        right = first is not None and is_right(probe, first)
        outcomes.append((probe, "" if right else first.title if first else "nothing", seconds))
    index.close()
    return outcomes


def main() -> None:
    """Print the figures; with `-v` each name that was missed."""
    counts = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    cache = Path(os.environ.get("KR_CACHE_DIR") or tempfile.mkdtemp())
    told = measure(counts[0] if counts else 1000, cache)
    for probe, shown in told.wrong if "-v" in sys.argv else ():
        print(f"{probe.question}\n   want {probe.symbol} {probe.parameter or ''}, got {shown}")
    print(f"{told.first} of {told.asked} first ({told.first / told.asked:.1%}), p50 {told.p50_ms:.0f} ms")
    for form, (asked, first) in sorted(told.by_form.items()):
        print(f"   {form}: {first} of {asked}")


if __name__ == "__main__":
    main()
