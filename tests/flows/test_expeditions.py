"""Expeditions: cycles over sources until a named rule ends them, every fact with its sources."""

import asyncio
import io
from typing import get_type_hints

import pytest
from rich.console import Console
from support.expeditions import ENDINGS, PAGES, QUERY, Library, all_of, of, research

import kr_core
from kr_core import EVENTS, ConfigError, Expeditions
from kr_core.cli.expedition_view import JSONStream, Lines, LivePicture, line_of, view_of
from kr_core.evidence.citations import holds
from kr_core.expedition import provenance
from kr_core.expedition.search import ExpeditionSource, wanted
from kr_core.model.expedition import WEIGHTS, Finished, SubQuery
from kr_core.research.container import SourceSlot


@pytest.mark.req("E1")
def test_typed_updates_come_while_it_runs(bench):
    """Cycles, sub-queries, sources, axioms, convergence and tokens in order; the last update has the answer."""
    updates = research(bench.pipeline({"web": Library()}))
    kinds = [update.type for update in updates]
    assert kinds[0] == "started"
    assert kinds[-2:] == ["synthesis", "finished"]
    first = kinds[1 : kinds.index("cycle_started", 2)]
    order = ["cycle_started", "sub_queries", "source_hit", "axiom_found", "convergence", "tokens"]
    assert [kind for kind in dict.fromkeys(first) if kind in order] == order
    finished = updates[-1]
    assert finished.reason in ENDINGS
    assert finished.cycles == len(of(updates, "convergence"))
    assert {axiom.id for axiom in finished.axioms} == {one.axiom.id for one in of(updates, "axiom_found")}
    assert "Fast Carrier supports tracking of parcels. [1]" in finished.answer
    assert all(line_of(update) is not None for update in updates)
    assert bench.kinds().count("cycle.finished") == finished.cycles
    assert bench.kinds()[-1] == "expedition.finished"
    for event in bench.events:
        if event.kind.startswith(("expedition.", "cycle.")):
            assert set(event.data) == set(get_type_hints(EVENTS[event.kind]))


@pytest.mark.req("R19")
def test_words_of_documents_at_home_stay_there(bench):
    """What the project's own documents speak of is searched for at home alone, what the web speaks of everywhere."""
    said = (
        "ProjectNightjar handles the tracking of parcels for carriers. It supports tracking since version 9."
    )
    home = Library({"docs:handbook/nightjar.md": ("ProjectNightjar", said)}, external=False)
    web = Library({"https://one.example/": PAGES["https://carriers.example/fast"]})
    research(bench.pipeline({"home": home, "web": web}))
    assert any("Nightjar" in query for query in home.asked)
    assert not any("Nightjar" in query for query in web.asked)
    assert any("Relay" in query for query in web.asked)


@pytest.mark.req("R19")
@pytest.mark.parametrize(
    ("egress", "external", "asked"), [("question", True, 1), ("code", True, 2), ("names", False, 2)]
)
def test_a_source_that_may_be_sent_code_is_asked_with_words_of_documents_at_home(
    bench, egress, external, asked
):
    """Nobody else outside the machine is."""
    engine = ExpeditionSource(SourceSlot("web", Library, egress=egress), external, None)
    queries = [SubQuery(text="tracking"), SubQuery(text="Nightjar tracking", private=True)]
    found = wanted([engine], queries, (), "", bench.pipeline({}).components.project)
    assert len(found) == asked


@pytest.mark.req("E1", "E5")
def test_later_cycles_follow_what_earlier_ones_name(bench):
    """A page that the question cannot find is found by the name that another page has for it."""
    updates = research(bench.pipeline({"web": Library()}))
    first, *_later = of(updates, "sub_queries")
    assert [query.text for query in first.queries] == [QUERY]
    cycles = {one.axiom.signals[0].source: one.cycle for one in of(updates, "axiom_found")[::-1]}
    assert cycles["https://carriers.example/fast"] == 1
    assert cycles["https://relay.example/protocol"] > 1


@pytest.mark.req("E3", "E9", "R18")
def test_every_signal_resolves_to_a_passage_that_says_it(bench):
    """Each axiom has signals with source, time and weight; each quote stands in the passage that is kept."""
    pipeline = bench.pipeline({"web": Library()})
    finished = research(pipeline)[-1]
    expeditions = Expeditions(pipeline)
    assert finished.axioms
    for axiom in finished.axioms:
        for signal in axiom.signals:
            assert signal.weight == WEIGHTS[signal.type] == 0.7
            assert signal.timestamp.tzinfo is not None
            passage = expeditions.axioms.passage(signal.sha256)
            assert passage.url == signal.source
            assert holds(passage.text, signal.quote)
    assert not expeditions.unsupported(finished.axioms)
    shown = provenance.as_text(expeditions.get("X1"), expeditions)
    for axiom in finished.axioms:
        assert f"{axiom.id} " in shown
        assert f"[{finished.answer.split(axiom.id)[0].count('- [')}]" in finished.answer
        for signal in axiom.signals:
            assert f'"{signal.quote}"' in shown
            assert signal.source in shown
    false = finished.axioms[0].model_copy(
        update={"signals": (finished.axioms[0].signals[0].model_copy(update={"quote": "Owls are fast."}),)}
    )
    assert expeditions.unsupported([false])


@pytest.mark.req("E4")
def test_what_independent_sites_say_is_surer(bench):
    """The forum confirms in its own words what the carrier's page says."""
    pipeline = bench.pipeline({"web": Library()})
    updates = research(pipeline)
    merged = of(updates, "axiom_merged")
    assert [(one.before, one.axiom.confidence) for one in merged] == [(0.7, 0.91)]
    assert "independent sources" in provenance.as_text(Expeditions(pipeline).get("1"), Expeditions(pipeline))


@pytest.mark.req("E4")
def test_pages_that_copy_each_other(bench):
    """Both are signals, and the copy adds no confidence."""
    pages = {**PAGES, "https://mirror.example/fast": PAGES["https://carriers.example/fast"]}
    finished = research(bench.pipeline({"web": Library(pages, most=3)}))[-1]
    copied = [
        axiom
        for axiom in finished.axioms
        if {signal.source.split("/")[2] for signal in axiom.signals} >= {"carriers.example", "mirror.example"}
    ]
    assert copied
    dated = next(axiom for axiom in copied if "2.1" in axiom.statement)
    assert len(dated.signals) == 2
    assert dated.confidence == 0.7


@pytest.mark.req("E1", "P5")
def test_one_call_for_a_folder(bench, of_nobody):
    """`kr_core.run_expedition` opens the project of a folder and closes it again."""
    bench.configure("knowledge_research: {sources: [installed_docs]}\n")
    updates = asyncio.run(all_of(kr_core.run_expedition("zyzzyva quokka", 2, folder=bench.folder)))
    assert isinstance(updates[-1], Finished)
    with pytest.raises(ConfigError, match="from 2 to 10"):
        asyncio.run(all_of(kr_core.run_expedition("parcels", 12, folder=bench.folder)))


@pytest.mark.req("E1", "I1")
def test_what_a_person_sees_meanwhile(bench):
    """On a terminal a picture of the cycle, the searches and the latest axioms; in a pipe lines; with --json each update."""
    updates = research(bench.pipeline({"web": Library()}))
    picture = LivePicture()
    for update in updates:
        picture.show(update)
    console = Console(width=100, file=io.StringIO())
    console.print(picture._picture())
    picture.clear()
    seen = console.file.getvalue()
    for words in (f"X1 {QUERY}", "cycle 3", "web: 4 searches", "A-", "ends: the last cycle found fewer"):
        assert words in seen
    assert isinstance(view_of(quiet=True, verbose=False, json=True), JSONStream)
    assert isinstance(view_of(quiet=False, verbose=True, json=False), Lines)
