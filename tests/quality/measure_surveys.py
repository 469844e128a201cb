"""Reports of expeditions without a model, measured on survey questions that others wrote without seeing a report.

    python tests/quality/measure_surveys.py chosen|reported [-v] [--only ID] [--show FOLDER]

`surveys/choosing.yaml` is the half that choices were made on. `surveys/reported.yaml` is only reported: count it once a choice is made,
and add a line to docs/quality.md on how often it was counted. What is printed: how many of the subjects that a good report must name
it names, how many of the facts it holds, how many of the facts that it lists are about the question, how often it says that nothing was
found although it is there, and how long a report took. A listed fact counts as about the question if it, or the heading above it, names
one of the subjects or facts, or has two of the telling words of the question; names of packages are none.

The packages are installed as `surveys/requirements.txt` has them into `.quality/surveys/.venv`; `KR_SURVEYS_ENV` names another
environment. Documents are looked for in `.quality/surveys/<name>`.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from contextlib import aclosing
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from kr_core import Expeditions, Pipeline
from kr_core.search.documents.indexer import update
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore
from kr_core.text import STOP_WORDS, is_weak, root_of, words
from kr_core.toolkit import make_state_folder, yaml_text

HERE = Path(__file__).parent
SETS = HERE / "surveys"
FOLDER = HERE.parent.parent / ".quality" / "surveys"
ENVIRONMENT = Path(os.environ.get("KR_SURVEYS_ENV", FOLDER / ".venv"))
HALVES = {"chosen": "choosing.yaml", "reported": "reported.yaml"}
_LISTED = re.compile(r"^(?:- (?!\[\d)|\| (?!---)(?!  ?\|)|\S.*\[\d+\]$)")


class Report(NamedTuple):
    """What became of one question."""

    id: str
    kind: str
    named: int
    subjects: int
    held: int
    facts: int
    about: int
    listed: int
    found: bool
    wanted: bool
    """Whether there is something to find."""
    seconds: float
    lacks: tuple[str, ...]
    text: str


def prepare() -> None:
    """Install the packages, once."""
    if not (ENVIRONMENT / "bin" / "python").exists():
        venv.create(ENVIRONMENT, with_pip=True)
        requirements = SETS / "requirements.txt"
        subprocess.run(
            [
                ENVIRONMENT / "bin" / "python",
                "-m",
                "pip",
                "install",
                "--quiet",
                "--requirement",
                requirements,
            ],
            check=True,
        )


def measured(entry: dict[str, Any]) -> Report:
    """Run one survey and count what its report has."""
    root = Path(tempfile.mkdtemp(prefix="kr-survey-"))
    before = Path.cwd(), os.environ.get("VIRTUAL_ENV")
    try:
        source = "installed_docs"
        if documents := entry.get("documents"):
            source = "local_docs"
            _index(root, FOLDER / documents, documents)
        os.chdir(root)
        os.environ["VIRTUAL_ENV"] = str(ENVIRONMENT)
        began = perf_counter()
        with Pipeline({"knowledge_research": {"sources": [source]}}) as pipeline:
            text, answered = asyncio.run(_run(pipeline, entry["question"]))
        return _counted(entry, text, answered, perf_counter() - began)
    finally:
        os.chdir(before[0])
        os.environ.pop("VIRTUAL_ENV") if before[1] is None else os.environ.update(VIRTUAL_ENV=before[1])
        shutil.rmtree(root, ignore_errors=True)


def _index(root: Path, folder: Path, name: str) -> None:
    """Index a folder of documents, once; each survey has a copy of the index."""
    kept = FOLDER / f"{name}.index" / FILE_NAME
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        store = DocumentStore(kept, writable=True)
        update(store, folder, name)
        store.close()
    make_state_folder(root / ".kr")
    shutil.copy(kept, root / ".kr" / FILE_NAME)


async def _run(pipeline: Pipeline, question: str) -> tuple[str, bool]:
    async with aclosing(Expeditions(pipeline).run_expedition(question)) as updates:
        last = [update async for update in updates][-1]
    return last.answer, last.answered  # type: ignore[union-attr]  # the last one is Finished


def _counted(entry: dict[str, Any], text: str, answered: bool, seconds: float) -> Report:
    body = text.partition("\n## Sources")[0].partition("\n")[2]
    said = " ".join(body.split())
    plain = re.sub(r"[`*\\]", "", re.sub(r":(?:\w+:)?\w+:(?=`)", "", said))
    subjects, facts = entry.get("subjects", []), entry.get("facts", [])
    named = [forms for forms in subjects if any(_names(form, said) or _names(form, plain) for form in forms)]
    held = [
        one for one in facts if any(re.search(one["pattern"], part, re.IGNORECASE) for part in (said, plain))
    ]
    listed = list(_listed(body))
    about = [line for line in listed if _is_about(line, entry)]
    lacks = [
        *("/".join(forms) for forms in subjects if forms not in named),
        *(one["pattern"] for one in facts if one not in held),
    ]
    nothing = bool(entry.get("nothing"))
    return Report(
        entry["id"], entry["kind"], len(named), len(subjects), len(held), len(facts), len(about), len(listed),
        answered and bool(listed), not nothing, seconds, tuple(lacks), text,
    )  # fmt: skip


def _names(form: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text, re.IGNORECASE) is not None


def _listed(body: str) -> list[str]:
    """The facts of a report, each with the heading that it stands below."""
    found, heading = [], ""
    for line in body.split("\n"):
        if line.startswith("#"):
            heading = line.strip("# ")
        elif _LISTED.match(line) and re.search(r"\[\d+\]", line):
            found.append(f"{heading}: {line}")
    return found


def _is_about(line: str, entry: dict[str, Any]) -> bool:
    plain = re.sub(r"[`*\\]", "", line)
    if any(_names(form, plain) for forms in entry.get("subjects", []) for form in forms):
        return True
    if any(re.search(one["pattern"], plain, re.IGNORECASE) for one in entry.get("facts", [])):
        return True
    packages = {word for name in entry.get("packages", []) for word in words(name)}
    asked = {
        root_of(word)
        for word in words(entry["question"])
        if word not in STOP_WORDS and not is_weak(word) and word not in packages
    }
    return len(asked & {root_of(word) for word in words(plain)}) >= min(2, len(asked))


def main(arguments: list[str]) -> None:
    """Measure a half and print its figures."""
    half = arguments[0] if arguments and arguments[0] in HALVES else "chosen"
    only = arguments[arguments.index("--only") + 1] if "--only" in arguments else ""
    shown = Path(arguments[arguments.index("--show") + 1]) if "--show" in arguments else None
    prepare()
    reports = []
    for entry in yaml_text.load((SETS / HALVES[half]).read_text("utf-8")):
        if (only and only not in entry["id"]) or (
            entry.get("documents") and not (FOLDER / entry["documents"]).exists()
        ):
            continue
        one = measured(entry)
        reports.append(one)
        if shown is not None:
            shown.mkdir(parents=True, exist_ok=True)
            (shown / f"{one.id}.md").write_text(one.text)
        if "-v" in arguments:
            print(
                f"{one.id:<28} subjects {one.named}/{one.subjects}  facts {one.held}/{one.facts}  about {one.about}/{one.listed}"
                f"  {'found' if one.found else 'nothing'}  {one.seconds:.1f} s",
                *(f"    lacks {lack}" for lack in one.lacks), sep="\n", flush=True,
            )  # fmt: skip
    wanted = [one for one in reports if one.wanted]
    print(f"{len(reports)} questions of {HALVES[half]}")
    print(
        f"subjects named      {_share(sum(one.named for one in wanted), sum(one.subjects for one in wanted))}"
    )
    print(f"facts held          {_share(sum(one.held for one in wanted), sum(one.facts for one in wanted))}")
    print(
        f"listed facts about  {_share(sum(one.about for one in wanted), sum(one.listed for one in wanted))}"
    )
    print(f"nothing, though it is there  {_share(sum(not one.found for one in wanted), len(wanted))}")
    print(
        f"something, though there is nothing  {_share(sum(one.found for one in reports if not one.wanted), len(reports) - len(wanted))}"
    )
    print(
        f"seconds  {sum(one.seconds for one in reports) / max(1, len(reports)):.1f} on average, {max(one.seconds for one in reports):.1f} at most"
    )


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.0%})" if whole else "none"


if __name__ == "__main__":
    main(sys.argv[1:])
