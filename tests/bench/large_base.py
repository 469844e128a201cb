"""A knowledge base of 50,000 answers: the first hit, `kr cache check` and `kr cache rebuild`, against reading its files."""

from __future__ import annotations

import random
import shutil
import sys
from datetime import date
from typing import TYPE_CHECKING, Any

from commands import BIN, ENVIRONMENT
from harness import Limit, Measured, Timing, figure

if TYPE_CHECKING:
    from pathlib import Path

ENTRIES, FEW, FRAMEWORKS, WORDS, TURNS = 50_000, 100, 10, 4_000, 3
_READ = "import pathlib, sys\nfor file in pathlib.Path(sys.argv[1]).rglob('*.*'):\n    file.read_bytes()"
"""Every file once, which a check cannot do without."""


def figures(folder: Path) -> list[dict[str, Any]]:
    """Measure and compare."""
    timing = Timing(folder, ENVIRONMENT)
    project, cache = timing.project(), folder / "cache"
    small = timing.project()
    topics = {project: _fill(project, ENTRIES), small: _fill(small, FEW)}
    kr, base = str(BIN / "kr"), project / "knowledge-base"
    index = base / "index.yaml"

    def first_hit(where: Path) -> float:
        shutil.rmtree(cache, ignore_errors=True)
        shutil.rmtree(where / ".kr", ignore_errors=True)
        question = f"{topics[where]} in library7?"
        return timing.run([kr, "research", question, "--framework", "library7"], where, cache)

    def rebuild() -> float:
        text = index.read_bytes()
        index.unlink()
        taken = timing.run([kr, "cache", "rebuild"], project, cache)
        index.write_bytes(text)
        return taken

    timing.in_turn(
        {
            "few": lambda: first_hit(small),
            "hit": lambda: first_hit(project),
            "check": lambda: timing.run([kr, "cache", "check"], project, cache),
            "rebuild": rebuild,
            "read": lambda: timing.run([sys.executable, "-c", _READ, str(base)], project, cache),
        },
        TURNS,
    )
    seconds = timing.seconds

    def row(what: str, name: str, said: str, peer: str, limit: Limit) -> dict[str, Any]:
        return figure(
            Measured(f"{what}, 50,000 entries", seconds[name]), Measured(said, seconds[peer]), limit
        )

    read = "each of its files read once"
    return [
        row("the first hit of a process", "hit", "the same, 100 entries", "few", Limit("times", 4.0)),
        row("`kr cache check`", "check", read, "read", Limit("more", 5.0)),
        row("`kr cache rebuild` without an index", "rebuild", read, "read", Limit("more", 20.0)),
    ]


def _fill(project: Path, count: int) -> str:
    """Write the reports and the index; returns the topic of an entry of `library7`."""
    dice = random.Random(7)
    letters = "bcdfghklmnprstvwz"
    words = ["".join(dice.choice(letters) + dice.choice("aeiou") for _ in range(dice.randint(2, 4))) for _ in range(WORDS)]  # fmt: skip
    day, base = date.today().isoformat(), project / "knowledge-base"
    (project / "kr.yaml").write_text("knowledge_research: {max_entries: 100000}\n", "utf-8")
    items, chosen = [], ""
    for number in range(count):
        library = f"library{number % FRAMEWORKS}"
        topic = " ".join([*dict.fromkeys(dice.choices(words, k=dice.randint(3, 7))), f"x{number}"])
        path = f"frameworks/{library}/{topic.replace(' ', '-')}.md"
        report = base / path
        report.parent.mkdir(parents=True, exist_ok=True)
        report.write_text(
            f"# {library} - {topic}\n\n**Framework:** {library}\n**Version:** 1.2.3\n**Research Date:** {day}\n\n## Summary\n\nSo.\n",
            "utf-8",
        )
        report.with_suffix(".evidence.json").write_text(
            f'{{"question": "{topic}", "level": "high"}}', "utf-8"
        )
        tags = "".join(f"  - {word}\n" for word in topic.split())
        items.append(
            f"- id: {library}-{topic.replace(' ', '-')}\n  framework: {library}\n  framework_version: 1.2.3\n  topic: {topic}\n"
            f"  tags:\n{tags}  path: {path}\n  created: '{day}'\n  last_accessed: '{day}'\n  status: fresh\n"
        )
        chosen = topic if library == "library7" else chosen
    (base / "index.yaml").write_text("schema_version: 1\nentries:\n" + "".join(items), "utf-8")
    return chosen
