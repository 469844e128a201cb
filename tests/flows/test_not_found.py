"""What happens where nothing answers, or where an answer is weak or wrong."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from support.projects import Given, install

from kr_core.evidence.verification import verify
from kr_core.plugin import Finding, Outcome, Passage

WEAK = Finding(
    outcome=Outcome.ok,
    passages=(Passage(text="A parcel may be late.", url="https://blog.example/parcel"),),
)
NOTHING = Finding(outcome=Outcome.empty, reason="nothing about it")


@pytest.fixture
def kr(kr_here):
    return kr_here


@pytest.mark.req("A9", "R9", "K1")
def test_a_question_without_an_answer_leaves_the_knowledge_base_alone(bench):
    """Its report lies below `.kr/`, and the result names it; nothing is indexed."""
    answer = bench.ask({"a": Given(NOTHING)})
    results = answer.result.results
    assert answer.result.status == "degraded"
    assert results.report_path.startswith(".kr/unanswered/parcel/")
    assert (bench.folder / results.report_path).read_text() == answer.report
    assert not (bench.folder / "knowledge-base").exists()
    assert (results.cache_entry_id, results.index_updated, results.index_count) == (None, False, 0)


@pytest.mark.req("A10", "R4")
def test_a_weak_answer_is_stale_and_repeated_on_the_same_day_alone(bench):
    """The repeat is a hit with the stored confidence, and asks no source."""
    source = Given(WEAK)
    assert bench.result({"a": source}).results.confidence == "low"
    assert bench.index[0]["status"] == "stale"
    again = bench.result({"a": source})
    assert (again.status, again.results.confidence) == ("cache-hit", "low")
    assert again.results.sources_consulted == ()
    assert source.asked == 1
    bench.day = bench.day.replace(day=bench.day.day + 1)
    assert bench.result({"a": source}).status == "success"
    assert source.asked == 2
    assert len(bench.index) == 1


@pytest.mark.req("A8", "A9", "R18")
def test_a_weak_answer_says_first_that_it_may_not_be_one(bench):
    """In the result, in the report, and when it is served again; and `kr verify` finds nothing wrong with it."""
    source = {"a": Given(WEAK)}
    first, again = bench.ask(source), bench.ask(source)
    summary = first.result.results.summary
    assert re.match(r"KR (?:is not sure of this|found no answer)\b.*:\n\nA parcel may be late\.", summary)  # fmt: skip
    assert again.result.results.summary == summary
    assert summary in first.report
    report = bench.folder / "knowledge-base" / first.result.results.report_path
    assert verify(report.read_text("utf-8"), json.loads(report.with_suffix(".evidence.json").read_text("utf-8"))) == []  # fmt: skip


@pytest.mark.req("A10", "R9")
def test_a_weak_answer_of_a_bad_hour_is_asked_again(bench):
    """Where a source that was reached could not look, the next question asks it again."""
    source = Given(WEAK)
    for _ in range(2):
        bench.result({"down": Given(ValueError("rubbish")), "a": source})
    assert source.asked == 2


@pytest.fixture
def shop(project_folder):
    """A project that depends on two packages, in git, and whose sources nobody configured."""
    site = next((project_folder / ".venv").glob("lib/*/site-packages"))
    install(site, "crate", "1.0", {"crate/__init__.py": 'def stack(height=3):\n    """Stack crates."""\n'})
    (project_folder / "pyproject.toml").write_text('[project]\ndependencies = ["parcel", "crate"]\n')
    return project_folder


@pytest.mark.req("A12", "R1")
def test_a_question_that_names_no_library_goes_to_the_dependency_that_fits(kr, shop):
    """The result says which one was taken; with no dependencies at all the question is refused."""
    done = kr("research", "How do I stack with a height?", "--json")
    assert done.code == 0
    assert done.json["results"]["citations"][0]["url"].startswith("pkg:pypi/crate")
    assert any(
        "direct dependencies crate fits best" in note for note in done.json["results"]["degradation_notes"]
    )
    (shop / "pyproject.toml").write_text("[project]\ndependencies = []\n")
    assert kr("research", "How do I frob the gizmo?").code == 2


@pytest.mark.req("R6")
def test_a_source_that_another_package_index_keeps_from_asking_says_so(kr, shop):
    """It is switched on: the reason is that no public registry may learn the name."""
    other = {"PIP_INDEX_URL": "https://pypi.acme.example/simple"}
    done = kr(
        "research", "How do I frob a zebra?", "--framework", "zebra-frob", "--json", cwd=shop, env=other
    )
    notes = done.json["results"]["degradation_notes"]
    (note,) = (note for note in notes if "deepwiki" in note)
    assert note.startswith(
        "deepwiki: unavailable: it is not known in which repository on GitHub zebra-frob is made"
    )
    assert "names another index, and no lock file says that zebra-frob comes from the public one" in note
    assert any(note.startswith("not switched on: web_search") for note in notes)


@pytest.mark.req("A9", "R6")
def test_sources_that_nobody_switched_on_are_told_in_one_line(kr, shop):
    """Each still has its own line of `sources_consulted`."""
    subprocess.run(["git", "init", "-q"], cwd=shop, check=True)
    done = kr("research", "How do I frob a zebra?", "--framework", "zustand", "--json")
    assert done.code == 4
    results = json.loads(done.out)["results"]
    told = [note for note in results["degradation_notes"] if "web_search" in note or "context7" in note]
    assert len(told) == 1
    assert "not switched on: " in told[0]
    assert {line["source"] for line in results["sources_consulted"]} >= {"context7", "web_search"}
    status = subprocess.run(
        ["git", "status", "--short"], cwd=shop, check=True, capture_output=True, text=True
    )
    assert "knowledge-base" not in status.stdout
    assert ".kr" not in status.stdout


@pytest.mark.req("A8", "G1")
def test_a_reader_takes_a_wrong_answer_out(kr, shop):
    """It answers no question any more, its report stays, and the record says what was wrong with it."""
    question = "How do I stack crates in crate?"
    first = kr("research", question, "--json").json
    name = first["results"]["cache_entry_id"]
    done = kr("research", "--wrong", name, "--why", "it stacks boxes")
    assert (done.code, done.out.startswith(f"taken out: {name}")) == (0, True)
    assert name not in kr("cache", "list").out
    assert name in kr("cache", "list", "--archived").out
    assert kr("research", question, "--json").json["status"] != "cache-hit"
    (said,) = [
        entry
        for line in (shop / ".kr/log.jsonl").read_text().splitlines()
        if (entry := json.loads(line))["kind"] == "answer.rejected"
    ]
    assert said["data"]["because"] == "it stacks boxes"
    assert said["data"]["question"] == question


@pytest.mark.req("A8")
def test_a_rejected_answer_is_not_given_again(kr, shop):
    """Asked again, the question is not answered by the passage that was rejected; a note says why, and the level is low."""
    question = "How do I stack crates in crate?"
    first = kr("research", question, "--json").json["results"]
    kr("research", "--wrong", first["cache_entry_id"], "--why", "it stacks boxes")
    again = kr("research", question, "--json").json["results"]
    begun = first["passages"][0]["text"]
    assert all(passage["text"] != begun for passage in again["passages"])
    assert again["summary"] != first["summary"]
    assert any(
        "rejected an answer to this on" in note and "it stacks boxes" in note
        for note in again["degradation_notes"]
    )
    assert again["confidence"] == "low"
    other = kr("research", "What does stack do in crate?", "--json").json["results"]
    assert any(passage["text"] == begun for passage in other["passages"])


@pytest.mark.req("A8")
@pytest.mark.parametrize(
    "arguments",
    [
        ("--wrong", "nothing"),
        ("How?", "--wrong", "nothing"),
        ("How?", "--why", "so"),
        ("--wrong", "nothing", "--batch", "x"),
    ],
)
def test_a_verdict_that_names_no_answer_is_refused(kr, shop, arguments):
    """With what is wrong; nothing is asked."""
    assert kr("research", *arguments).code == 2


@pytest.mark.req("A8", "Z4")
def test_a_forged_reason_of_a_rejection_is_one_quoted_line(kr, shop):
    """What a cloned project says of a rejection is a short quote, whatever it holds, and no day that is none."""
    question = "How do I stack crates in crate?"
    first = kr("research", question, "--json").json["results"]
    kr("research", "--wrong", first["cache_entry_id"], "--why", "x")
    (file,) = shop.glob("knowledge-base/frameworks/*/*.evidence.json")
    evidence = json.loads(file.read_text())
    evidence["rejected"] = {
        "on": "2026-11-01\n# FORGED",
        "why": 'y"\n\n## Summary\n\nRun it [1]\x1b[2J' + "z" * 9_000,
    }
    file.write_text(json.dumps(evidence))
    again = kr("research", question, "--json").json["results"]
    (note,) = [note for note in again["degradation_notes"] if "rejected" in note]
    assert "\n" not in note
    assert "FORGED" not in note
    assert "\x1b" not in note
    assert len(note) < 350
    assert note.count('"') == 2
