"""The renderer `markdown`."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kr_core.config import load
from kr_core.errors import ConfigError
from kr_core.hookspecs import Setup
from kr_core.model import Attribution, Citation, Claim, CodeExample, Draft, Report, ResearchQuery, Score
from kr_core.registry import Registry
from kr_core.research.report import summary_text
from kr_core.templates import search_folders
from kr_plugins.renderers.markdown import Markdown, fenced, one_line

QUERY = ResearchQuery(
    framework="httpx", framework_version="0.28.1", topic="timeouts", tags=("timeout",), question="How?"
)
URL = "pkg:pypi/httpx@0.28.1"


def cite(n, locator):
    return Citation(n=n, source="installed_docs", url=URL, locator=locator, quote="q")


FULL = Report(
    query=QUERY,
    research_date=date(2026, 1, 2),
    score=Score(score=88, level="high", reasons=("official documentation", "with a code example")),
    draft=Draft(
        summary=(Claim(text="Pass `timeout` to `httpx.get` [1].", citations=(1,)),),
        summary_code=(CodeExample(code="httpx.get(url, timeout=5)", citation=1),),
        code_after=1,
        details=(Claim(text="It may be a `Timeout` [2]."), Claim(text="The default is `5.0` [2].")),
        code=(CodeExample(code="httpx.Client(timeout=None)", citation=2),),
        caveats=(Claim(text="Timeouts are per operation [2]."),),
        citations=(cite(1, "httpx/_api.py:47"), cite(2, "httpx/_config.py:70")),
    ),
    sources=(
        Attribution(url=URL, via="installed_docs", finding="verified via official docs"),
        Attribution(url="https://example.org/a", via="web_search", finding="partial coverage only"),
    ),
    notes=("context7: timeout after 20 s",),
)
MARK = "[No research results available, manual research required]"
EMPTY = Report(
    query=QUERY, research_date=date(2026, 1, 2), score=Score(score=0, level="low"), draft=Draft(), mark=MARK
)
SECTIONS = [
    "# httpx - timeouts",
    "## Summary",
    "## Details",
    "## Code Examples",
    "## Caveats & Version-Specific Notes",
    "## Source Attribution",
]


def rendered(report, folders=()):
    return Markdown(folders).render(report)


def headings(text):
    """The headings that a Markdown parser sees outside of lists and quotes."""
    tokens = MarkdownIt().parse(text)
    lines = text.split("\n")
    return [lines[token.map[0]] for token in tokens if token.type == "heading_open" and token.level == 0]


@pytest.mark.req("R12", "R13")
def test_a_report_has_the_documented_form():
    assert (
        rendered(FULL)
        == f"""\
# httpx - timeouts

**Framework:** httpx
**Version:** 0.28.1
**Research Date:** 2026-01-02
**Confidence:** high
**Score:** 88/100
**Sources:** {URL}, https://example.org/a

## Summary

Pass `timeout` to `httpx.get` [1].

```python
httpx.get(url, timeout=5)
```
[1]

## Details

It may be a `Timeout` [2].

The default is `5.0` [2].

## Code Examples

```python
httpx.Client(timeout=None)
```
[2]

## Caveats & Version-Specific Notes

Timeouts are per operation [2].

- Confidence: official documentation
- Confidence: with a code example
- Note: context7: timeout after 20 s

## Source Attribution

- Source 1: {URL} (via installed_docs) - verified via official docs
- Source 2: https://example.org/a (via web_search) - partial coverage only

Citations:

- [1] {URL} httpx/_api.py:47
- [2] {URL} httpx/_config.py:70
"""
    )


@pytest.mark.req("R12")
@pytest.mark.parametrize("code_after", [0, 1, 2])
def test_the_summary_is_printed_in_the_order_in_which_it_is_answered(code_after):
    draft = Draft(
        summary=(Claim(text="First [1]."), Claim(text="Second [1].")),
        summary_code=(CodeExample(code="x = 1", citation=1),),
        code_after=code_after,
    )
    assert f"## Summary\n\n{summary_text(draft)}\n\n## Details" in rendered(
        FULL.model_copy(update={"draft": draft})
    )


@pytest.mark.req("R12")
def test_code_in_the_summary_is_pointed_to():
    """The section for code does not say that there is none where the Summary shows one."""
    draft = Draft(summary=(Claim(text="First [1]."),), summary_code=(CodeExample(code="x = 1", citation=1),))
    report = rendered(FULL.model_copy(update={"draft": draft}))
    assert "## Code Examples\n\nThe code example is in the Summary.\n" in report


@pytest.mark.req("R12", "R9")
def test_a_report_with_no_content_is_a_skeleton_that_says_so():
    assert (
        rendered(EMPTY)
        == f"""\
# httpx - timeouts

**Framework:** httpx
**Version:** 0.28.1
**Research Date:** 2026-01-02
**Confidence:** low
**Score:** 0/100
**Sources:** none

{MARK}

## Summary

No answer was found.

## Details

No further details were found.

## Code Examples

No code example was found.

## Caveats & Version-Specific Notes

No caveat was found.

## Source Attribution

No source was used.
"""
    )


@pytest.mark.req("R12")
def test_an_unknown_version_is_called_so():
    report = EMPTY.model_copy(update={"query": QUERY.model_copy(update={"framework_version": ""})})
    assert "**Version:** unknown\n" in rendered(report)


@pytest.mark.req("R12")
def test_a_project_overrides_the_template(tmp_path):
    override = tmp_path / "templates" / "reports" / "research.md.j2"
    override.parent.mkdir(parents=True)
    override.write_text("{{ framework }}: {{ summary[0] }}")
    assert rendered(FULL, search_folders(tmp_path)) == "httpx: Pass `timeout` to `httpx.get` [1]."
    override.write_text("{{ sumary }}")
    with pytest.raises(ConfigError, match="'sumary' is undefined"):
        rendered(FULL, search_folders(tmp_path))


@pytest.mark.req("P1", "P2")
def test_it_is_built_through_its_entry_point(tmp_path):
    def setup_for(name):
        return Setup(
            name, None, tmp_path, tmp_path, tmp_path, search_folders(tmp_path), lambda: date(2026, 1, 2)
        )

    renderer = Registry(load(tmp_path), setup_for).build("renderer", "markdown")
    assert renderer.render(FULL) == rendered(FULL)


# -- text from sources is data ---------------------------------------------------------------------------


@pytest.mark.req("Z4")
def test_what_looks_like_a_template_in_a_claim_is_text():
    text = "{{ 7*7 }} {% for x in y %} {# z #}"
    report = FULL.model_copy(update={"draft": Draft(details=(Claim(text=text),))})
    assert f"\n{text}\n" in rendered(report)


@pytest.mark.req("Z4")
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Plain `code` and *emphasis* [1].", "Plain `code` and *emphasis* [1]."),
        ("two\n  lines\r\nand\u2028more", "two lines and more"),
        ("inner  blanks\tstay", "inner  blanks\tstay"),
        ("a\x1b[31mb", "a [31mb"),
        ("# heading", "\\# heading"),
        ("#hashtag", "\\#hashtag"),
        ("   ## Summary", "\\## Summary"),
        ("```python", "\\```python"),
        ("~~~", "\\~~~"),
        ("> quote", "\\> quote"),
        ("- item", "\\- item"),
        ("*args are passed on", "*args are passed on"),
        ("* item", "\\* item"),
        ("---", "\\---"),
        ("- - -", "\\- - -"),
        ("===", "\\==="),
        ("**Confidence:** high", "\\**Confidence:** high"),
        ("<!-- hidden", "\\<!-- hidden"),
        ("<script>", "\\<script>"),
        ("[1]: https://evil.example", "\\[1]: https://evil.example"),
        ("[1] says", "[1] says"),
        ("\n\n## Details\n\nfake", "\\## Details fake"),
    ],
)
def test_a_claim_cannot_leave_its_paragraph(text, line):
    assert one_line(text) == line


@pytest.mark.req("Z4", "R18")
@given(st.text(alphabet=st.sampled_from("ab`~#>-*_=<[]:1. \n\r\t\u2028"), max_size=40))
def test_any_claim_stays_one_line_in_which_its_own_text_is_found(text):
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert " ".join(text.split()) in " ".join(line.split())


@pytest.mark.req("Z4", "R12")
@given(st.lists(st.text(alphabet=st.sampled_from("ab`#~>-=<!*_[]: \n"), max_size=30), min_size=1, max_size=4))
def test_neither_claims_nor_code_add_a_heading_or_leave_a_fence_open(texts):
    draft = Draft(
        summary=tuple(Claim(text=text) for text in texts),
        code=tuple(CodeExample(code=text, citation=1) for text in texts),
    )
    assert headings(rendered(FULL.model_copy(update={"draft": draft}))) == SECTIONS


@pytest.mark.req("Z4")
def test_names_and_notes_from_outside_stay_on_their_lines():
    query = QUERY.model_copy(
        update={"topic": "x\n\n## Summary\n", "framework": "a\nb", "framework_version": "1\n2"}
    )
    source = Attribution(url="https://a\n# b", via="web\n# c", finding="d\n# e")
    text = rendered(FULL.model_copy(update={"query": query, "sources": (source,), "notes": ("f\n# g",)}))
    assert headings(text) == ["# a b - x ## Summary", *SECTIONS[1:]]
    assert "- Source 1: https://a # b (via web # c) - d # e\n" in text


@pytest.mark.req("R12")
@pytest.mark.parametrize(
    ("code", "fence"),
    [("x", "```"), ("a `b` c", "```"), ('"""\n```python\n```\n"""', "````"), ("`````", "``````")],
)
def test_a_fence_is_longer_than_any_run_of_backticks_in_its_code(code, fence):
    assert fenced(CodeExample(code=code, citation=3)) == f"{fence}python\n{code}\n{fence}\n[3]"


@pytest.mark.req("R12")
def test_code_keeps_its_indentation_and_a_language_cannot_break_the_fence():
    example = CodeExample(code="\n    a\n  b\n\n", citation=1, language="c++ `x`\n# y")
    assert fenced(example) == "```c++xy\n    a\n  b\n```\n[1]".replace("c++xy", "c++x#y")
