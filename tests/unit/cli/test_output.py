"""What the terminal shows of a result."""

import pytest

from kr_core.cli import output
from kr_core.model import Citation, ResearchQuery, ResearchRequest, ResearchResult, Results
from kr_core.research.results import CompletedResearch

QUOTE = Citation(n=1, source="a", url="pkg:pypi/box@1", locator="box.py:1", quote="Put it in.")
LONG = "How do I put a very large ball into a box that has already been closed with a lid and wrapped in several layers of brown paper?"


def result(**values):
    return ResearchResult(status="success", story_key="0-0", session_id="s", results=Results(**values))


@pytest.mark.req("R9", "R18")
@pytest.mark.parametrize(
    ("verbose", "citations", "shown"),
    [(False, (QUOTE,), False), (True, (QUOTE,), True), (False, (), True)],
)
def test_a_dropped_quote_is_noted_where_all_is_asked_for_or_nothing_is_left(
    capsys, verbose, citations, shown
):
    """A source that was down is always noted."""
    found = result(citations=citations, degradation_notes=("quote dropped: box: ...", "context7: down"))
    output.notes(found, [], errors_only=False, verbose=verbose)
    err = capsys.readouterr().err
    assert "note: context7: down\n" in err
    assert ("note: quote dropped: box: ...\n" in err) is shown


@pytest.mark.req("R12")
@pytest.mark.parametrize(
    ("question", "inferred", "title"),
    [
        ("What does box.put do?", {"topic"}, "What does box.put do?"),
        ("What does box.put do?", set(), "putting"),
        (LONG, {"topic"}, f"{LONG[:117].rpartition(' ')[0]}\N{HORIZONTAL ELLIPSIS}"),
    ],
)
def test_the_title_is_the_question_as_it_was_asked_or_the_topic_that_was_given(
    tmp_path, question, inferred, title
):
    """A long question ends with a whole word."""
    query = ResearchQuery(framework="box", framework_version="1", topic="putting", tags=("a",), question=question, inferred=frozenset(inferred))  # fmt: skip
    request = ResearchRequest(story_key="0-0", session_id="s", query=query)
    shown = output.answer(request, CompletedResearch(result(confidence="high")), tmp_path, tmp_path)
    assert shown.split("\n")[0] == f"# box 1 - {title}"


@pytest.mark.req("A6", "R12")
@pytest.mark.parametrize(
    ("cited", "said"),
    [
        ((("pkg:npm/lid@9.0.0", "9.0.0"),), "1"),
        ((("pkg:npm/lid@9.0.0", "9.0.0"), ("pkg:npm/box@1.2.0", "1.2.0")), "1.2.0"),
        ((("https://docs.example/box", "1.1.0"),), "1.1.0"),
        ((("pkg:npm/%40types/box@0.9.0", "0.9.0"),), "1"),
    ],
)
def test_the_title_names_the_version_of_the_library_asked_about(tmp_path, cited, said):
    """The version of a dependency that the answer cites is not the library's."""
    query = ResearchQuery(framework="box", framework_version="1", topic="lids", tags=("a",), question="?")
    request = ResearchRequest(story_key="0-0", session_id="s", query=query)
    citations = tuple(QUOTE.model_copy(update={"url": url, "version": version}) for url, version in cited)
    found = result(confidence="high", citations=citations)
    shown = output.answer(request, CompletedResearch(found), tmp_path, tmp_path)
    assert shown.startswith(f"# box {said} - lids\n")
