"""Blind question sets measured: is the key fact within reach, is the right symbol first, does the level hold?

    python tests/quality/measure_sets.py tuning [-v] [--names]
    KR_QUALITY_NODE=/tmp/node python tests/quality/measure_sets.py npm_tuning [-v]
    python tests/quality/measure_sets.py everyday_tuning [-v]
    python tests/quality/measure_sets.py parameters_tuning [-v]
    KR_QUALITY_OTHER=/tmp/other python tests/quality/measure_sets.py everyday_other_tuning [-v]

With `--names` each question comes with the names that an agent would reach for, those of `sets/names.yaml`.

The folder that KR_QUALITY_NODE names is a copy of `tests/quality/npm/sets` in which this was run:

    npm ci --ignore-scripts --omit=optional

For `npm_everyday` and `npm_later` it is a copy of `tests/quality/npm/everyday`.

KR_QUALITY_OTHER names an environment in which `tests/quality/tuning-requirements.txt` was installed, KR_QUALITY_WIDE one
with `tests/quality/wide-requirements.txt`, installed with `pip install --no-deps -r`.

The sets lie in `tests/quality/sets` in three parts: one to tune on, one to choose with, one only reported. A question counts
as right if every pattern of its key fact is within the first 900 characters of the summary, and a symbol that the set
names comes first, or the message that was pasted; patterns are kinder than readers, who want the answer itself first. A question without an answer
counts as right if its level is `low`.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from quality.measure import ENVIRONMENT, Answered, answered_by, names

from kr_core.toolkit import LocalProject, yaml_text
from kr_plugins.scorers.evidence.answer_features import features
from kr_plugins.sources.installed_docs import InstalledDocs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SETS = Path(__file__).parent / "sets"
REACH = 900
"""Characters of the summary in which the key fact must be."""


class Outcome(NamedTuple):
    """What became of one question."""

    entry: Mapping[str, Any]
    answerable: bool
    fact: bool
    """The key fact is within reach."""
    quoted: bool
    """The first passage is the pasted message in the source; the symbol that explains it comes after."""
    symbol: int | None
    """The position of the first passage that the set names, from 0."""
    level: str
    score: int
    summary: str
    features: Mapping[str, float]

    @property
    def right(self) -> bool:
        """Whether a reader who knows the library would most likely act on it."""
        return (
            self.answerable
            and self.fact
            and (self.symbol == 0 or self.quoted or not self.entry.get("symbols"))
        )


def measure(
    entries: Iterable[Mapping[str, Any]],
    project: LocalProject,
    cache: Path,
    expected: Mapping[str, Sequence[str]] | None = None,
) -> list[Outcome]:
    """Ask every question.

    Args:
        entries: the questions.
        project: where they are asked.
        cache: where indexes are kept.
        expected: the names that each question comes with, by its id.
    """
    source = InstalledDocs(cache)
    names_of = expected or {}
    return [_outcome(source, project, entry, tuple(names_of.get(entry["id"], ()))) for entry in entries]


def expected_names() -> dict[str, list[str]]:
    """What an agent would reach for, by the id of the question."""
    found = yaml_text.load((SETS / "names.yaml").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def _outcome(
    source: InstalledDocs, project: LocalProject, entry: Mapping[str, Any], expected: tuple[str, ...]
) -> Outcome:
    return outcome_of(
        answered_by(source, project, entry["package"].lower(), entry["question"], expected), entry
    )


def outcome_of(asked: Answered, entry: Mapping[str, Any]) -> Outcome:
    """What an answer is worth by its entry."""
    wanted = set(entry.get("symbols") or ())
    shown = asked.finding.passages
    place = next((n for n, passage in enumerate(shown) if suffixes(names(passage)) & wanted), None)
    head = re.sub(r"\s+", " ", asked.summary)[:REACH]
    patterns = entry.get("fact") or ()
    fact = bool(patterns) and all(re.search(one, head, re.IGNORECASE | re.DOTALL) for one in patterns)
    return Outcome(
        entry, entry.get("answerable", True), fact, bool(shown and shown[0].what == "message"), place, asked.score.level, asked.score.score, asked.summary,
        features(asked.query, asked.found, asked.draft),
    )  # fmt: skip


def suffixes(found: Iterable[str]) -> set[str]:
    """Names, and what is left of each without its first parts, as far as two parts are left: `yargs.Argv.strict`."""
    ends = {".".join(name.split(".")[n:]) for name in found for n in range(1, name.count("."))}
    return ends.union(found)


def load(part: str, language: str = "python") -> list[Mapping[str, Any]]:
    """The questions of a part: `tuning`, `choosing` or `reported`."""
    entries = yaml_text.load((SETS / f"{language}_{part}.yaml").read_text("utf-8"))
    assert isinstance(entries, list)
    return entries


def project_of(language: str, root: Path) -> LocalProject:
    """The project in which the questions of a set are asked: an empty one with an environment, or that of the npm sets."""
    if language == "npm":
        folder = Path(os.environ["KR_QUALITY_NODE"])
        return LocalProject(folder, folder, {}, own_prefix=None)
    environment: Path | str = ENVIRONMENT
    if language.endswith("_other"):
        environment = os.environ["KR_QUALITY_OTHER"]
    elif language.startswith("wide"):
        environment = os.environ["KR_QUALITY_WIDE"]
    return LocalProject(root, root, {"VIRTUAL_ENV": str(environment)})


def table(outcomes: Sequence[Outcome]) -> str:
    """The figures by kind and by level, as lines of text."""
    answerable = [one for one in outcomes if one.answerable]
    others = [one for one in outcomes if not one.answerable]
    lines = [_line("all", answerable)]
    by_kind = defaultdict(list)
    for one in answerable:
        by_kind[str(one.entry.get("kind"))].append(one)
    lines += [_line(kind, found) for kind, found in sorted(by_kind.items())]
    for level in ("high", "medium", "low"):
        found = [one for one in answerable if one.level == level]
        wrong = sum(one.level == level for one in others)
        lines.append(f"{_line(level, found)}   unanswerable at this level: {wrong} of {len(others)}")
    return "\n".join(lines)


def _line(name: str, found: Sequence[Outcome]) -> str:
    count = len(found) or 1
    fact, first = sum(one.fact for one in found), sum(one.symbol == 0 for one in found)
    right = sum(one.right for one in found)
    return (
        f"{name:12} {len(found):4}   fact {fact:3} ({fact / count:4.0%})   symbol first {first:3} ({first / count:4.0%})"
        f"   right {right:3} ({right / count:4.0%})"
    )


def main() -> None:
    name = sys.argv[1] if "_" in sys.argv[1] else f"python_{sys.argv[1]}"
    language, _, part = name.rpartition("_")
    cache = Path(os.environ.get("KR_CACHE_DIR") or tempfile.mkdtemp())
    with tempfile.TemporaryDirectory() as root:
        expected = expected_names() if "--names" in sys.argv else None
        outcomes = measure(load(part, language), project_of(language, Path(root)), cache, expected)
    if "-v" in sys.argv:
        if part == "reported":
            raise SystemExit("the reported part is only counted; look at the tuning part")
        for one in outcomes:
            if one.right != one.answerable or (not one.answerable and one.level != "low"):
                print(f"\n=== {one.level} {one.score} fact={one.fact} symbol={one.symbol} {one.entry['id']}")
                print(f"{one.entry['question']}\n--- want {one.entry.get('symbols')} {one.entry.get('fact')}")
                print(one.summary[:REACH])
    print(table(outcomes))


if __name__ == "__main__":
    main()
