"""The knowledge base: an answer that is there already, in process and from the command line, against what others would use.

The limits of an answer in process hold without an observer (`on_event`), which is how a pipeline is opened by default; what
one adds stands in a row of its own.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commands import BIN, ENVIRONMENT, PASS, QUESTION, SHORT
from engine import PEERS
from harness import Limit, Measured, Timing, compile_everything, figure, output

if TYPE_CHECKING:
    from harness import Values

TURNS = 3
ENTRIES, QUERIES = 10_000, 100
WORDS = 4_000
_HERE = Path(__file__).parent


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure and compare."""
    python = PEERS / "bin" / "python"
    for needed, target in ((python, "peers-env"), (ENVIRONMENT, "quality-env")):
        if not needed.exists():
            raise SystemExit(f"{needed} is missing; run `make {target}`")
    compile_everything(str(python), list(PEERS.glob("lib/python*/site-packages")))
    topics = folder / "topics.json"
    topics.write_text(json.dumps(_topics()), "utf-8")
    programs = [
        [sys.executable, str(_HERE / "lookups.py"), "", str(topics)],
        [str(python), str(_HERE / "peers" / "langchain_lookup.py"), str(folder)],
        [str(python), str(_HERE / "peers" / "rapidfuzz_scan.py"), str(topics)],
    ]
    seconds: Values = {}
    for turn in range(TURNS):
        here = folder / f"lookups-{turn}"
        here.mkdir()
        programs[0][2] = str(here)
        for command in programs:
            for name, values in json.loads(output(command, folder)).items():
                seconds.setdefault(name, []).extend(values)
    seconds |= _commands(folder)
    return _rows(seconds)


def _topics() -> dict[str, list[str]]:
    """Topics of three to eight words, of which a few are in every tenth topic and most in hardly any; and queries.

    Every other query has an entry that differs by a word at most; the others are topics of their own.
    """
    dice = random.Random(7)
    letters = "bcdfghklmnprstvwz"
    words = ["".join(dice.choice(letters) + dice.choice("aeiou") for _ in range(dice.randint(2, 4))) for _ in range(WORDS)]  # fmt: skip
    commonness = [1 / (place + 10) for place in range(WORDS)]

    def topic() -> list[str]:
        return list(dict.fromkeys(dice.choices(words, commonness, k=dice.randint(3, 8))))

    entries = [topic() for _ in range(ENTRIES)]
    queries = []
    for number in range(QUERIES):
        asked = topic()
        if number % 2:
            asked = list(dice.choice(entries))
            dice.shuffle(asked)
            asked = asked[:-1] if len(asked) > 4 else asked
        queries.append(asked)
    return {"entries": [" ".join(one) for one in entries], "queries": [" ".join(one) for one in queries]}


def _commands(folder: Path) -> Values:
    timing = Timing(folder, ENVIRONMENT)
    kr, cache, project = str(BIN / "kr"), folder / "cache", timing.project()
    again, as_json = [kr, "research", QUESTION], [kr, "research", QUESTION, "--json"]
    for command in (again, again, as_json):  # researched, and kept for each form
        timing.run(command, project, cache)
    llm = [str(PEERS / "bin" / "llm"), "--version"]
    timing.in_turn(
        {
            "pass": lambda: timing.run(PASS, project, cache),
            "hit": lambda: timing.run(again, project, cache),
            "hit as json": lambda: timing.run(as_json, project, cache),
            "llm": lambda: timing.run(llm, project, cache),
        },
        SHORT // 2,
    )
    return timing.seconds


def _rows(seconds: Values) -> list[dict[str, Any]]:
    def row(what: str, name: str, said: str, peer: str, limit: Limit | None) -> dict[str, Any]:
        return figure(Measured(what, seconds[name]), Measured(said, seconds[peer]), limit)

    again, as_json = "the same question again", "the same question again, `--json`"
    least, llm = "`python -c pass`", "`llm --version`"
    cache = "LangChain's `SQLiteCache`, lookup"
    asked = "the same question again in one process"
    request = "the same request again in one process, its session's budget asked for"
    fuzzy, scan = "the best of 10,000 topics, exact 70 % rule", "rapidfuzz, `extractOne`"
    index, loader = "an index of 200 entries that has not changed", "`yaml.CSafeLoader` on it"
    return [
        row(again, "hit", least, "pass", Limit("times", 3.0)),
        row(as_json, "hit as json", least, "pass", Limit("times", 3.0)),
        row(again, "hit", llm, "llm", Limit("times", 1 / 20)),
        row(as_json, "hit as json", llm, "llm", Limit("times", 1 / 20)),
        row(asked, "again", cache, "langchain", Limit("times", 1 / 4)),
        row(asked, "again", cache, "langchain", Limit("seconds", 60e-6)),
        row(f"{asked}, with an observer", "watched", cache, "langchain", Limit("times", 1 / 4)),
        row(request, "warm", cache, "langchain", Limit("times", 1 / 4)),
        row(request, "warm", cache, "langchain", Limit("seconds", 60e-6)),
        row(fuzzy, "fuzzy", scan, "rapidfuzz", Limit("times", 1 / 20)),
        row(f"{fuzzy}, every word a tag", "inferred", scan, "rapidfuzz", Limit("times", 1 / 20)),
        row(index, "unchanged", loader, "yaml", Limit("times", 1 / 20)),
    ]
