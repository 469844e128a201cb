"""Plugins that add to a stage, from the command line: installed, named under `hooks`, and seen in what KR says and keeps."""

import json
import sys

import pytest
from support.projects import QUESTION, install

pytestmark = pytest.mark.req("P1")

WATCH = """
import pathlib
from kr_core.plugin import hookimpl

KR_CONTRACT = 2

def note(text):
    with pathlib.Path("seen.txt").open("a") as file:
        file.write(f"{text}\\n")

@hookimpl
def kr_before_consult(query, source):
    note(f"consult {source}")

@hookimpl
def kr_passages_found(source, passages):
    note(f"found {source} {bool(passages)}")
    return [passage.model_copy(update={"notes": ("watched",)}) for passage in passages]

@hookimpl
def kr_report_ready(report):
    return report.model_copy(update={"notes": (*report.notes, "Seen by watch.")})

@hookimpl
def kr_case_opened(case):
    note(f"case {case.id}")

@hookimpl
def kr_answer_accepted(exchange, question):
    note(f"accepted {exchange.answer.agent}: {question.text}")
"""
BROKEN = """
from kr_core.plugin import hookimpl

@hookimpl
def kr_passages_found(passages):
    return "passages"

@hookimpl
def kr_case_opened():
    raise OSError("no room")

@hookimpl
def kr_answer_accepted():
    raise OSError("no room")
"""
OLD = "from kr_core import  Entry, hookimpl\n"
PRIVATE = "from kr_core.text import content_words\n" + BROKEN
SAYS = "import json; print(json.dumps({{'answer': 'Redis.', 'rationale': 'Fast.', 'confidence': {}}}))"


@pytest.fixture
def hooked(kr, project_folder, tmp_path):
    """`hooked(settings, *arguments)`: KR with the plugins installed, and what `watch` has seen."""
    site = tmp_path / "site"
    site.mkdir()
    for name, source in {"watch": WATCH, "broken": BROKEN, "old": OLD, "private": PRIVATE}.items():
        folder = install(site, f"kr_{name}", "1.0", {f"kr_{name}.py": source})
        (folder / "entry_points.txt").write_text(f"[kr]\n{name} = kr_{name}\n")

    def run(settings, *arguments):
        (project_folder / "kr.yaml").write_text(json.dumps(settings))
        done = kr(*arguments, env={"PYTHONPATH": str(site), "KR_TRUST": "all"})
        seen = project_folder / "seen.txt"
        return done, seen.read_text().splitlines() if seen.exists() else []

    return run


def test_research_goes_through_the_hooks(hooked, project_folder):
    """Each source is seen before and after; passages and report carry what was added; a broken plugin is named."""
    settings = {
        "hooks": ["watch", "broken", "old"],
        "knowledge_research": {"sources": ["installed_docs"]},
    }
    done, seen = hooked(settings, "research", QUESTION, "--json")
    assert done.code in {0, 1}, done
    notes = done.json["results"]["degradation_notes"]
    (broken,) = [note for note in notes if "hook broken" in note]
    assert "kr_passages_found returned str; return a list of kr_core.Passage" in broken
    (old,) = {note for note in notes if "hook old" in note}
    assert "it is written for contract 1: write `from kr_core.plugin import Entry`" in old
    assert seen == ["consult installed_docs", "found installed_docs True"], done
    report = "".join(path.read_text("utf-8") for path in (project_folder / "knowledge-base").rglob("*.md"))
    assert "- Note: Seen by watch." in report
    assert ": watched" in report


@pytest.mark.parametrize(("confidence", "status"), [(95, "accepted"), (20, "escalated")])
def test_questions_go_through_the_hooks(hooked, confidence, status):
    """An accepted answer and an opened case are seen once; one whose hook raises is named, and the answer stands."""
    settings = {
        "hooks": ["broken", "watch"],
        "agents": {"duc": {"plugin": "command"}},
        "plugins": {"command": {"argv": [sys.executable, "-I", "-c", SAYS.format(confidence)]}},
    }
    done, seen = hooked(settings, "ask", "Which store?", "--topic", "authentication", "--json")
    assert done.json["status"] == status, done
    (note,) = [note for note in done.json["notes"] if "hook broken" in note]
    assert "OSError: no room" in note
    (line,) = seen
    assert line.startswith("accepted duc: Which store?" if status == "accepted" else "case E")


def test_the_doctor_looks_at_hooks(hooked):
    """What cannot be imported is a fault, and an import of what is not public is noted with file and line."""
    done, _ = hooked({"hooks": ["watch", "old", "private"]}, "doctor")
    assert "hook watch" in done.out
    assert "write `from kr_core.plugin import Entry`" in done.out
    assert "imports kr_core.text (kr_private.py:1); these modules may change at any time" in done.out


def test_the_doctor_names_what_is_not_a_hook(hooked):
    """A plugin without a hook around a stage does nothing under `hooks`, and the doctor says what to do."""
    done, _ = hooked({"hooks": ["installed_docs", "watch"]}, "doctor")
    (said,) = [line for line in done.out.splitlines() if "hook installed_docs" in line]
    assert "a plugin of another kind (source); take it out of `hooks`" in said
    assert done.code == 2


def test_a_name_that_is_near_a_hook_is_suggested(hooked):
    """A misspelt name is compared with plugins that have hooks."""
    done, _ = hooked({"hooks": ["deprecatoin"]}, "doctor")
    assert "did you mean `deprecation`?" in done.out + done.err


SCORES = """
from kr_core.plugin import Provider, Score, hookimpl

KR_CONTRACT = 2

class Wrong:
    def score(self, query, findings, draft):
        return Score(score=95, level="low")

@hookimpl
def kr_scorer():
    return Provider(lambda settings, setup: Wrong())
"""


def reports(project_folder):
    return "".join(path.read_text("utf-8") for path in (project_folder / "knowledge-base").rglob("*.md"))


@pytest.mark.req("P1", "Z8")
def test_what_a_hook_adds_to_a_report_is_shown_and_its_faults_stay_out_of_it(hooked, project_folder):
    """A note of a hook is in the terminal and in the report; that a hook could not be loaded or failed is in the terminal alone."""
    settings = {
        "hooks": ["watch", "broken", "old"],
        "knowledge_research": {"sources": ["installed_docs"]},
    }
    done, _ = hooked(settings, "research", QUESTION)
    assert "note: Seen by watch." in done.err
    assert "note: hook old: " in done.err
    assert "note: hook broken: " in done.err
    report = reports(project_folder)
    assert "- Note: Seen by watch." in report
    assert "hook old" not in report
    assert "hook broken" not in report
    assert "No caveat was found." not in report.partition("- Note: ")[0].rpartition("## ")[2]


@pytest.mark.req("A8", "Z8")
def test_a_score_whose_level_is_wrong_is_noted_with_the_line_of_the_scorer(hooked, tmp_path):
    """The note names the plugin, its line and what the level must be, on one line."""
    folder = install(tmp_path / "site", "kr_scores", "1.0", {"kr_scores.py": SCORES})
    (folder / "entry_points.txt").write_text("[kr]\nscores = kr_scores\n")
    settings = {"scorer": "scores", "knowledge_research": {"sources": ["installed_docs"]}}
    done, _ = hooked(settings, "research", QUESTION, "--json")
    said = "a score of 95 is `high`, not `low`; `high` is from 80, `medium` from 50 (kr_scores.py:8)"
    note = f"scorer scores: the scorer failed (ValidationError: Score: {said})"
    assert note in done.json["results"]["degradation_notes"]
    assert done.json["results"]["score"] == 0
