"""Results in words."""

from kr_core import Event
from kr_core.model import Citation, Fault, Match, ResearchResult, Results
from kr_core.server.mcp.progress import said
from kr_core.server.mcp.reply_text import in_arguments, researched
from kr_core.server.mcp.text_pages import DEFAULT_TOKENS, tokens


def result(**values):
    return ResearchResult(status="success", story_key="0-0", session_id="s", results=Results(**values))


def test_a_long_result_has_at_most_the_tokens_of_a_page():
    """Whatever is long in it; it says that something is gone, and where the rest is."""
    cite = Citation(n=1, source="web", url="https://docs.example/" + "x" * 30_000, locator="", quote="q")
    long = result(summary="字" * 30_000 + " [1]", citations=(cite,), report_path="frameworks/a/b.md")
    text = researched(long)
    assert tokens(text) <= DEFAULT_TOKENS
    assert "more characters]" in text
    notes = result(summary="Yes.", degradation_notes=tuple(f"note {n} {'y' * 5000}" for n in range(50)))
    assert tokens(researched(notes)) <= DEFAULT_TOKENS
    assert "and 42 more" in researched(notes)


def test_only_sources_that_the_summary_cites_are_listed():
    """The rest is in the report, which the text names."""
    cited, other = (
        Citation(n=n, source="web", url=f"https://docs.example/{n}", locator="Timeouts", quote="q")
        for n in (1, 2)
    )
    match = Match(
        tier="tags", overlap=0.5, entry_version="1", version="1", warning="may be about another topic"
    )
    text = researched(
        result(summary="So. [1]", citations=(cited, other), report_path="frameworks/a/b.md", match=match)
    )
    assert "[1] https://docs.example/1 Timeouts" in text
    assert "https://docs.example/2" not in text
    assert 'get_report(report="frameworks/a/b.md")' in text
    assert "may be about another topic" in text


def test_a_refusal_speaks_of_arguments():
    """Not of options of the command line."""
    refused = ResearchResult(
        status="failure",
        story_key="",
        session_id="",
        errors=(Fault(type="x", message="name it with --framework"),),
    )
    assert researched(refused) == "name it with `framework`"
    assert in_arguments("`--ref` and x--y and --tag 'a'") == "`--ref` and x--y and `tag` 'a'"


def test_steps_are_told_in_words_of_one_line():
    """Sources, agents and files; nothing in them steers a terminal; other events are not worth telling."""
    assert said(Event("source.started", "r", {"source": "a\nb\x1b[2J"})) == "asking a b\ufffd[2J"
    finished = {"source": "web", "outcome": "ok", "passages": 3}
    assert said(Event("source.finished", "r", finished)) == "web: ok, 3 passages"
    assert (
        said(Event("index.progress", "r", {"package": "p", "done": 10, "total": 15}))
        == "reading p: 10 of 15 files"
    )
    assert said(Event("index.progress", "r", {"package": "p", "done": 11, "total": 15})) == ""
    assert said(Event("lookup.finished", "r", {})) == ""
