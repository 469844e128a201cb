"""What a survey asks for: its kind, and its subject without the words that only ask."""

import pytest

from kr_core import Passage
from kr_core.expedition.survey_plan import names_subject, plan_of, short_name
from kr_core.question.analysis import versions_between


@pytest.mark.req("E1", "E10")
@pytest.mark.parametrize(
    ("question", "kind", "about"),
    [
        ("Which loading strategies are there in SQLAlchemy, and when is each right?", "options", "loading strategies SQLAlchemy"),
        ("Which ways to wait between retries does tenacity offer?", "options", "wait retries tenacity"),
        ("How does dependency injection work in FastAPI?", "workings", "dependency injection FastAPI"),
        ("How do attrs validators and converters work together?", "together", "attrs validators converters"),
        ("How do Lock and Semaphore of anyio differ?", "comparison", "Lock Semaphore anyio"),
        ("What are the dangers of reading pickles with numpy?", "limits", "reading pickles numpy"),
        ("What changed in click between 8.1 and 8.5?", "changes", "click"),
        ("How do I use it?", "workings", ""),
    ],
)  # fmt: skip
def test_the_kind_and_the_subject(question, kind, about):
    """Verbs and frames of the question are never its subject; where nothing else is left, its words stay."""
    plan = plan_of(question)
    assert plan.kind == kind
    assert plan.about.split()[: len(about.split())] == about.split() or not about


@pytest.mark.req("E10")
def test_versions_of_a_question():
    """Whole numbers count in a question about changes alone; what lies between excludes the first version."""
    assert plan_of("What changed between marshmallow 3 and 4?").versions == ("3", "4")
    assert plan_of("What changed in pandas 2.10 since 2.9?").versions == ("2.10", "2.9")
    assert plan_of("Which 3 hooks are there in pytest?").versions == ()
    between = versions_between(("8.1", "8.5"))
    assert [version for version in ("8.0", "8.1", "8.1.3", "8.2", "8.5", "8.5.1", "8.6", "9") if between(version)] == ["8.2", "8.5", "8.5.1"]  # fmt: skip
    assert versions_between(("3",))("3.1.2")
    assert not versions_between(("3",))("4.0")
    assert versions_between(())("anything")


@pytest.mark.req("E10")
def test_names_of_subjects():
    """The last part of a name, of a heading the last one; more parts tell two of the same name apart."""
    assert short_name("anyio.to_thread.run_sync") == "run_sync"
    assert short_name("anyio.to_thread.run_sync", parts=2) == "to_thread.run_sync"
    assert short_name("httpx.Client(timeout)") == "Client(timeout)"
    assert short_name("README § Usage § Retries") == "Retries"


@pytest.mark.req("E10")
@pytest.mark.parametrize(
    ("text", "about"),
    [("Use `Retry` to try again.", True), ("Retry the call.", False), ("call Retry(total=3)", True)],
)
def test_an_everyday_word_is_a_subject_only_as_a_name(text, about):
    """A passage is about `Retry` if it writes it as code or calls it."""
    assert names_subject(Passage(text=text, url="https://a.example/"), "urllib3.util.Retry") is about
