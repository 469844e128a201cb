"""What a question asks, part by part, and what of the passages that were found is beside the point."""

import pytest

from kr_core import Passage
from kr_core.expedition.facts.extraction import extracted
from kr_core.expedition.passage_pool import PassagePool
from kr_core.expedition.query_expansion import first_queries
from kr_core.question.analysis import asked_words, parts_of, weighed


def facts(question, *passages):
    """The statements that are taken from passages: (url, title, text) each."""
    pool = PassagePool(question)
    read = [
        pool.add("local_docs", Passage(text=text, title=title, url=url), 1) for url, title, text in passages
    ]
    return [axiom.statement for axiom in extracted(question, pool, read)]


@pytest.mark.req("E1", "E5")
@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("How are parcels weighed, and what may a carrier refuse?", ["How are parcels weighed", "what may a carrier refuse"]),
        ("Which carriers and depots are there?", []),
        ("Who delivers first, the Fast Carrier or the Slow Carrier?", []),
        ("Which carriers of parcels support tracking, and since which versions?", []),
    ],
)  # fmt: skip
def test_parts_of_a_question(question, parts):
    """Each has at least two telling words; they are asked alone too."""
    assert parts_of(question) == parts
    assert [query.text for query in first_queries(question)] == [question, *parts]


@pytest.mark.req("E5")
def test_what_asks_for_caveats_names_no_thing():
    """Nobody watches anything who watches out."""
    question = "What should I watch out for with parcels, and what should I keep in mind?"
    assert asked_words(question) == ["parcels"]
    assert set(weighed(question)) == {"parcel"}
    assert "watch" in weighed("How do I watch a folder?")


@pytest.mark.req("E5")
@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("What does the scanner show, and what does it accept?", {"scanner"}),
        ("How many parcels per day may a depot get?", {"parcel", "depot"}),
        ("How is the set of carriers sorted?", {"set", "carrier", "sort"}),
        ("What happens?", {"happen"}),
    ],
)
def test_everyday_verbs_are_no_subject(question, telling):
    """They say what a question does with what it is about; after an article such a word is a thing."""
    assert PassagePool(question).telling == telling


@pytest.mark.req("E5")
def test_each_part_has_its_statements():
    """What answers one part is not measured by what answers another, though that says more of the question."""
    question = "How does the depot sort heavy parcels by region at night, and who repairs scales?"
    sorting = (
        "The depot sorts heavy parcels by region at night. Heavy parcels are sorted by region in the depot."
    )
    told = facts(
        question,
        ("docs:depot/a.md", "Sorting", sorting),
        ("docs:depot/b.md", "Tools", "Scales are repaired by the smith."),
    )
    assert "Tools: Scales are repaired by the smith." in told
    assert any("sorts heavy parcels" in said for said in told)


@pytest.mark.req("E5")
def test_a_name_in_one_part_binds_that_part_alone():
    """What is asked beside it is answered by sentences without the name."""
    question = "Which regions has a ParcelGroup, and how are stale labels removed?"
    passages = [
        (f"docs:depot/{number}.md", "Groups", f"A ParcelGroup holds parcels of one region, number {number}.")
        for number in range(4)
    ]
    told = facts(question, *passages, ("docs:depot/x.md", "Cleaning", "Stale labels are removed each night."))
    assert "Cleaning: Stale labels are removed each night." in told


@pytest.mark.req("E5")
def test_what_other_documents_say():
    """Where a question names documents, sentences of others count only if they name them too; their own need not."""
    question = "How does Parcel.js limit the size of uploads?"
    own = [
        (f"docs:parceljs/{number}.md", "Uploads", f"The size of uploads is limited to {number} MB.")
        for number in (3, 4, 5)
    ]
    told = facts(
        question,
        *own,
        ("docs:owls/a.md", "Uploads", "The size of uploads is limited by the owl."),
        ("docs:owls/b.md", "Guests", "Parcel.js limits the size of uploads of owls."),
    )
    assert len(told) == 4
    assert not any("by the owl" in said for said in told)


@pytest.mark.req("E5")
@pytest.mark.parametrize("opening", ["However, the", "This means that the", "For these reasons the"])
def test_what_leads_back_counts_less(opening):
    """Of two sentences the one that can be read alone comes first."""
    text = f"{opening} depot weighs parcels with scales. The depot weighs parcels with its scales."
    told = facts("How does the depot weigh parcels with scales?", ("https://a.example/", "Depot", text))
    assert told[0] == "The depot weighs parcels with its scales."


@pytest.mark.req("E5")
def test_a_language_that_is_named_leaves_what_is_written_in_it_in_question():
    """`Python carriers` are those that other packages bring."""
    pages = [
        (f"docs:python3.11/{n}.html", "Notes", f"Python depot {n} keeps parcels for carriers.")
        for n in range(4)
    ]
    other = ("pkg:pypi/lorry@1.0", "lorry", "A carrier of heavy parcels that weighs each on arrival.")
    assert f"lorry: {other[2]}" in facts("Which Python carriers weigh heavy parcels?", *pages, other)


@pytest.mark.req("E5")
@pytest.mark.parametrize(
    ("text", "unspoken"),
    [
        ("The depot sends parcels when events are there.", ["depot-sent"]),
        ("The depot sent events.", []),
        ("Depot-sent events are kept.", []),
        ("DepotSent is kept.", []),
    ],
)
def test_what_a_hyphen_joins_is_one_thing(text, unspoken):
    """That the depot sends something says nothing of depot-sent events."""
    pool = PassagePool("Which carriers have depot-sent events?")
    pool.add("local_docs", Passage(text=text, title="Notes", url="docs:depot/a.md"), 1)
    assert pool.unspoken == unspoken


@pytest.mark.req("E5")
def test_a_package_whose_name_has_a_hyphen_is_spoken_of_by_its_own_passages():
    pool = PassagePool("How does heavy-lorry weigh parcels?")
    pool.add(
        "installed_docs",
        Passage(text="Parcels are weighed.", title="weigh", url="pkg:pypi/heavy-lorry@1.0"),
        1,
    )
    assert pool.unspoken == []
