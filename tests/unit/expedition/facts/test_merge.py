"""How short statements and those below headings stand to each other."""

from datetime import UTC, datetime

import pytest

from kr_core import Passage
from kr_core.expedition.facts.axiom import of_quote
from kr_core.expedition.facts.comparison import compared
from kr_core.expedition.facts.merge import KnownAxioms
from kr_core.markup.rst_tables import rest_rows
from kr_core.markup.tables import rows

WHEN = datetime(2026, 2, 5, tzinfo=UTC)


@pytest.mark.req("E4")
@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        ("TLS is required.", "TLS is not required.", "conflict"),
        ("TLS is required.", "SSH is not required.", "other"),
        ("The default is 5.", "The default is 3.", "other"),
        ("It works.", "It does not work.", "other"),
        ("Limits: API keys expire after 90 days.", "Limits: API keys do not expire.", "conflict"),
        ("Limits: API keys expire after 90 days.", "Limits: Tokens of users do not expire.", "other"),
    ],
)
def test_a_denial_of_few_words(one, other, relation):
    """One that is the other with a denial and nothing else says otherwise, however short, if it says of what."""
    assert compared(one, other) == compared(other, one) == relation


def stated(text, statement="", title="Limits", url="file:notes/a.md", **values):
    """What a passage states below its title."""
    passage = Passage(text=text, url=url, title=title, fetched_at=WHEN, **values)
    return of_quote(passage, text, "local_docs", statement=f"{title}: {statement or text}")


def of_table(form, url, title="Limits", **cells):
    """What each row of a table of plans, bursts and more states."""
    plans, width = list(cells), len(next(iter(cells.values()))) + 1
    told = [(plan, *map(str, cells[plan])) for plan in plans]
    heads = ("Plan", "Burst", "Requests per minute")[:width]
    if form == "markdown":
        lines = [heads, ["---"] * width, *told]
        found = rows("\n".join(f"| {' | '.join(line)} |" for line in lines))
    else:
        rule = " ".join(["=" * 20] * width)
        lines = [" ".join(f"{cell:20}" for cell in line) for line in (heads, *told)]
        found = rest_rows("\n".join([rule, lines[0], rule, *lines[1:], rule]))
    assert len(found) == len(cells)
    return [stated(row.line, row.message, title, url) for row in found]


@pytest.mark.req("E4")
@pytest.mark.parametrize("form", ["markdown", "rst"])
def test_rows_of_tables(form):
    """Two rows of one table never disagree; the same row of another document does, where its numbers are others."""
    known = KnownAxioms()
    for axiom in of_table(form, "file:notes/a.md", free=(2, 10), partner=(50, 300)):
        assert not known.join(axiom).conflicts
    free, partner = of_table(form, "file:notes/b.md", free=(2, 10), partner=(100, 600))
    assert not known.join(free).new  # the same row says the same
    joined = known.join(partner)
    assert [known.get(name).statement for name in joined.conflicts] == [
        "Limits: Plan: partner; Burst: 50; Requests per minute: 300"
    ]


@pytest.mark.req("E4")
def test_rows_with_other_columns():
    """Only what stands in a column of both is compared, and a row that says more says not the same."""
    known = KnownAxioms(of_table("markdown", "file:notes/a.md", free=(2, 10)))
    [same] = of_table("markdown", "file:notes/b.md", free=(2,))
    [otherwise] = of_table("markdown", "file:notes/c.md", free=(4,))
    assert known.join(same).new
    assert len(known.join(otherwise).conflicts) == 2


FIXED = "Fixed a data loss possibility in the select_for_update() of {} (#{})."


@pytest.mark.req("E4")
@pytest.mark.parametrize(
    ("titles", "url"),
    [
        (("Django 2.1.15 release notes / Bugfixes", "Django 3.0.4 release notes / Bugfixes"), "docs:django/{}.html"),
        (("Bugfixes", "Bugfixes"), "docs:django/releases/{}.html"),
        (("Version 2.1.15", "Version 3.0.4"), "file:docs/changes.md"),
    ],
)  # fmt: skip
def test_notes_on_releases_contradict_no_others(titles, url):
    """Each lists what was done for its own version."""
    known = KnownAxioms([stated(FIXED.format("querysets", 31100), title=titles[0], url=url.format("2.1.15"))])
    assert not known.join(
        stated(FIXED.format("querysets", 31246), title=titles[1], url=url.format("3.0.4"))
    ).conflicts


@pytest.mark.req("E4")
def test_headings_that_differ_are_no_contradiction():
    """What stands below them must say otherwise itself."""
    said = "The largest upload of the shop takes {} megabytes."
    known = KnownAxioms([stated(said.format(25), title="Guide to shop 1.8", url="file:a/one.md")])
    assert not known.join(stated(said.format(25), title="Guide to shop 2.3", url="file:b/two.md")).conflicts
    assert known.join(stated(said.format(90), title="Guide to shop 2.4", url="file:c/two.md")).conflicts


@pytest.mark.req("E4")
@pytest.mark.parametrize(
    ("title", "status"), [("Guide", "superseded"), ("b / Guide", "superseded"), ("Handbook", "disputed")]
)
def test_versions_of_documents_in_one_folder(title, status):
    """Of documents that call themselves alike the later version supersedes; of others each counts its own versions."""
    said = "The largest upload of the shop takes {} megabytes."
    known = KnownAxioms([stated(said.format(25), title="Guide", url="file:notes/a.md", version="1.8")])
    [old] = known
    known.join(stated(said.format(90), title=title, url="file:notes/b.md", version="2.0"))
    assert known.get(old.id).status == status
