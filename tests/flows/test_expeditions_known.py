"""What expeditions have found and people have noted, when it is asked for again: by another expedition, and by research."""

import pytest
from support.expeditions import PAGES, Library, of, research

from kr_core import ConfigError, Expeditions
from kr_core.expedition import provenance
from kr_core.toolkit import AxiomStore


@pytest.mark.req("E4", "E9")
def test_later_expeditions_merge_into_what_is_known(bench):
    """What was found is found again without becoming two, and another site's signal joins it."""
    first = research(bench.pipeline({"web": Library()}))[-1]
    more = {
        **PAGES,
        "https://news.example/fast": ("News", "In the news: parcels of Fast Carrier: tracking supported."),
    }
    pipeline = bench.pipeline({"web": Library(more, most=4)})
    updates = research(pipeline)
    assert updates[0].known > 0
    again = updates[-1]
    assert not {one.axiom.id for one in of(updates, "axiom_found")} & {axiom.id for axiom in first.axioms}
    assert {axiom.id for axiom in first.axioms} <= {axiom.id for axiom in again.axioms}
    (written,) = of(updates, "synthesis")
    assert set(written.cited) <= {axiom.id for axiom in again.axioms}
    store = AxiomStore(pipeline.journal)
    assert len(store.all()) == len({axiom.statement for axiom in store.all()})


@pytest.mark.req("E9")
def test_what_is_cited_of_earlier_ones_is_in_the_tree(bench):
    """An answer that rests on what an earlier expedition has found traces that too."""
    research(bench.pipeline({"web": Library()}))
    pipeline = bench.pipeline(
        {"web": Library({"https://other.example/": ("Owls", "Owls carry parcels at night.")})}
    )
    updates = research(pipeline)
    (written,) = of(updates, "synthesis")
    assert written.cited
    assert set(written.cited) <= {axiom.id for axiom in updates[-1].axioms}
    expeditions = Expeditions(pipeline)
    shown = provenance.as_text(expeditions.get(updates[-1].id), expeditions)
    assert all(name in shown for name in written.cited)


@pytest.mark.req("E4")
def test_the_same_question_again(bench):
    """What was found for it before counts, little as each fact of it says of the whole; capitals and marks make no other question."""
    question = (
        "Which night carriers take parcels, letters and crates to the harbour by rail, and who pays for owls?"
    )
    pages = {
        "https://carriers.example/": (
            "Night carriers",
            "Night carriers take parcels, letters and crates to the harbour by rail.",
        ),
        "https://owls.example/": ("Owls", "The forest office pays for owls by the month."),
    }
    first = research(bench.pipeline({"web": Library(pages)}), question)[-1]
    assert "## Answer" in first.answer
    assert "The forest office pays" in first.answer
    updates = research(bench.pipeline({"web": Library({})}), question.replace("?", ".").upper())
    assert updates[0].known == len(first.axioms)
    assert "## Answer" in updates[-1].answer
    assert "The forest office pays" in updates[-1].answer
    other = research(bench.pipeline({"web": Library({})}), "Which owls pay for parcels?")[-1]
    assert "take parcels" not in other.answer


@pytest.mark.req("E4")
def test_what_is_known_of_other_things(bench):
    """A known fact with one word of the question is not about it, and is not shown as what comes near."""
    expeditions = Expeditions(bench.pipeline({"web": Library()}))
    expeditions.note("The order code of the Fast Carrier is FC-7.", by="ada")
    nothing = research(bench.pipeline({"web": Library()}), "What is the zebra code?")
    assert nothing[0].known == 0
    assert "Nothing was found" in nothing[-1].answer
    known = research(bench.pipeline({"web": Library({})}), "What is the order code?")
    assert known[0].known == 1
    assert "FC-7" in known[-1].answer


@pytest.mark.req("E4", "E3")
def test_what_was_found_answers_later_research(bench):
    """The source `axioms` gives valid axioms with the passages that say them; not what is disputed."""
    pipeline = bench.pipeline({"web": Library()})
    research(pipeline)
    Expeditions(pipeline).note("The Owl Post supports tracking of parcels by night.", by="ada")
    later = bench.pipeline(["axioms"])
    asked = bench.request(
        framework="parcel", question="Does the Relay Protocol of carriers sign each message?"
    )
    result = later.research(later.read_request(asked)).result
    assert result.results.citations[0].url == "https://relay.example/protocol"
    noted = later.research(
        later.read_request(
            bench.request(
                topic="owls", tags=["owls"], question="Does the Owl Post support tracking of parcels?"
            )
        )
    )
    assert any(one.locator == "noted by ada" for one in noted.result.results.citations)
    nothing = later.research(
        later.read_request(bench.request(topic="brass", tags=["brass"], question="How is brass polished?"))
    )
    assert nothing.result.status == "degraded"


@pytest.mark.req("E3", "E4")
def test_what_was_noted_is_withdrawn(bench):
    """By its words or its id; it counts no longer until somebody states it anew, and what nobody noted cannot be."""
    expeditions = Expeditions(bench.pipeline([]))
    said = "A parcel is given up after 5.0 seconds."
    noted, _none = expeditions.note(said, by="ada")
    assert expeditions.withdraw(said).status == "superseded"
    assert expeditions.note("A parcel is given up after 9.0 seconds.", by="eve")[1] == []
    for unknown in (noted.id, "A parcel is late."):
        with pytest.raises(ConfigError, match="nobody has noted this"):
            expeditions.withdraw(unknown)
    _anew, [against] = expeditions.note(said, by="eve")
    assert against.statement == "A parcel is given up after 9.0 seconds."
    anew = expeditions.axioms.get(noted.id)
    assert anew.status == "disputed"
    assert [signal.source for signal in anew.signals] == ["eve"]
    assert expeditions.withdraw(noted.id).id == noted.id
