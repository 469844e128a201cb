"""Expeditions over documents that are indexed: what changes in them, what is taken away, and what they cannot say."""

import shutil

import pytest
from support.expeditions import Library, of, research
from support.projects import install, make_environment

from kr_core import Expeditions
from kr_core.expedition import provenance
from kr_core.search.documents import indexer
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore

KEPT = "How many days does the backup server keep copies of the order database?"


@pytest.fixture
def handbook(bench, tmp_path):
    """Documents that are indexed; called with their texts by name, it changes them and indexes anew."""
    folder = tmp_path / "handbook"
    folder.mkdir()

    def write(**pages):
        for page in folder.iterdir():
            page.unlink()
        for name, text in pages.items():
            (folder / f"{name}.rst").write_text(text)
        store = DocumentStore(bench.folder / ".kr" / FILE_NAME, writable=True)
        indexer.update(store, folder, "handbook")
        store.close()

    return write


def copies(days):
    return f"Backups\n=======\n\nThe backup server keeps copies of the order database for {days} days.\n"


@pytest.mark.req("E4", "E9")
def test_what_a_changed_document_says_no_longer(bench, handbook):
    """Its axiom is not used again, which a note says; the tree of the expedition that found it marks it."""
    handbook(backups=copies(60))
    pipeline = bench.pipeline(["local_docs"])
    assert "60 days" in research(pipeline, KEPT)[-1].answer
    handbook(backups=copies(90))
    later = research(bench.pipeline(["local_docs"]), KEPT)[-1]
    assert "90 days" in later.answer
    assert "60 days" not in later.answer
    assert any("say them no longer" in note and "handbook/backups.rst:4" in note for note in later.notes)
    expeditions = Expeditions(pipeline)
    shown = provenance.as_text(expeditions.get("X1"), expeditions)
    assert "superseded: The backup server keeps copies" in shown
    assert "! its documents say it no longer" in shown
    handbook(backups=copies(60))
    back = research(bench.pipeline(["local_docs"]), KEPT)[-1].answer
    assert "60 days" in back
    assert "90 days" not in back


@pytest.mark.req("E4", "E9")
def test_what_was_taken_out_of_the_index(bench, handbook):
    """A document that is indexed no longer says nothing; what another one says as well has that one's signal alone."""
    handbook(backups=copies(60), elsewhere="Notes\n=====\n\nOwls sleep by day.\n")
    pipeline = bench.pipeline(["local_docs"])
    assert "60 days" in research(pipeline, KEPT)[-1].answer
    store = Expeditions(pipeline).axioms
    [known] = store.about(KEPT)
    other = known.signals[0].model_copy(update={"found_by": "web", "source": "https://backups.example/"})
    store.keep([known.model_copy(update={"signals": (other,)})])
    assert len(store.about(KEPT)[0].signals) == 2
    handbook(elsewhere="Notes\n=====\n\nOwls sleep by day.\n")
    assert store.about(KEPT)[0].signals == (other,)


@pytest.mark.req("E4", "E9")
def test_what_was_disputed_by_what_is_gone(bench, handbook):
    """Of two that say otherwise the one that still stands is valid again, and `axioms` tells it alone."""
    handbook(one=copies(60), two=copies(90))
    pipeline = bench.pipeline(["local_docs"])
    assert "The sources disagree" in research(pipeline, KEPT)[-1].answer
    handbook(two=copies(90))
    [left] = Expeditions(pipeline).axioms.about(KEPT)
    assert "90 days" in left.statement
    assert (left.status, left.conflicts) == ("valid", ())
    later = bench.pipeline(["axioms"])
    asked = bench.request(topic="backups", tags=["backups"], question=KEPT)
    cited = later.research(later.read_request(asked)).result.results.citations
    assert {one.url for one in cited} == {"docs:handbook/two.rst"}


@pytest.mark.req("E4", "E9")
def test_what_another_version_says_no_longer(bench):
    """What was quoted from a package counts as long as the version that is installed says it too."""
    site = make_environment(bench.folder)
    module = '"""Parcels."""\n\n\ndef send(address):\n    """Send a parcel.\n\n    {said}\n    """\n'
    said = "A parcel that nobody takes waits nine days at the depot."
    asked = "How many days does a parcel that nobody takes wait at the depot?"
    folder = install(site, "parcel", "1.4.0", {"parcel/__init__.py": module.format(said=said)})
    found = research(bench.pipeline(["installed_docs"]), f"parcel: {asked}")[-1]
    assert said in found.answer
    shutil.rmtree(folder)
    longer = said.replace("nine days at", "nine days\n    at")
    folder = install(site, "parcel", "1.5.0", {"parcel/__init__.py": module.format(said=longer)})
    assert any(said in axiom.statement for axiom in Expeditions(bench.pipeline([])).axioms.about(asked))
    shutil.rmtree(folder)
    install(site, "parcel", "2.0.0", {"parcel/__init__.py": module.format(said=said.replace("nine", "ten"))})
    expeditions = Expeditions(bench.pipeline([]))
    assert not any(said in axiom.statement for axiom in expeditions.axioms.about(asked))
    later = research(bench.pipeline(["installed_docs"]), f"parcel: {asked}")[-1]
    assert "waits ten days" in later.answer
    assert "waits nine days" not in later.answer
    assert any("say them no longer" in note and "parcel/__init__.py" in note for note in later.notes)
    assert "! its documents say it no longer" in provenance.as_text(expeditions.get("X1"), expeditions)


@pytest.mark.req("E4")
def test_what_disagrees_is_told_with_the_days_of_its_documents(bench, handbook):
    """The newest first, by what each states of itself; of one that states a version too, the earlier is superseded."""
    old, new = (
        copies(days).replace("\n\n", f"\n\n:Version: {version}\n:Date: {day}\n\n", 1)
        for days, version, day in ((60, "1.10", "2024-03-11"), (90, "2.3", "2026-02-19"))
    )
    handbook(one=old, two=new)
    answer = research(bench.pipeline(["local_docs"]), KEPT)[-1].answer
    told = answer.partition("\n")[2].partition("##")[0]
    assert "for 90 days. (handbook 2.3) [1]" in told, "what is superseded makes it no less the answer"
    assert "60 days" not in told
    first, second = answer.partition("The sources disagree")[2].partition("## Sources")[0].split("\n- ")[1:]
    assert "for 90 days. (handbook 2.3) [1], version 2.3, of 2026-02-19, read " in first
    assert "for 60 days. (handbook 1.10) [2], version 1.10, of 2024-03-11, read " in second
    assert second.rstrip().endswith("(superseded)")


@pytest.mark.req("E4")
def test_what_answers_another_question_contradicts(bench, handbook):
    """What is found now is compared with all that is known, and not only with what is about the question."""
    handbook(uploads="Uploads\n=======\n\nThe largest upload of the shop takes 25 megabytes.\n")
    research(bench.pipeline(["local_docs"]), "What is the largest upload of the shop?")
    pipeline = bench.pipeline({"web": Library({"https://shop.example/": (
        "Warehouse volumes", "The largest upload of the shop takes 90 megabytes. Warehouse volumes are measured daily.",
    )})})  # fmt: skip
    updates = research(pipeline, "Which warehouse volumes in megabytes are measured?")
    assert updates[0].known == 0
    [found] = of(updates, "conflict_found")
    told = {axiom.id: axiom for axiom in Expeditions(pipeline).axioms.all()}
    assert "90 megabytes" in told[found.first].statement
    assert "25 megabytes" in told[found.second].statement
    assert {told[found.first].status, told[found.second].status} == {"disputed"}
    assert "The sources disagree" in updates[-1].answer


@pytest.mark.req("E5", "E6")
def test_other_forms_of_a_verb_are_found(bench, handbook):
    """A question in one form of an irregular verb is answered by a document that has another."""
    handbook(
        letters="Letters\n=======\n\nThey are sent by the night porter.\n",
        owls="Owls\n====\n\nThey sleep by day.\n",
    )
    asked = "Who throws letters away, and who sends them?"
    answer = research(bench.pipeline(["local_docs"]), asked)[-1].answer
    assert "sent by the night porter" in answer


@pytest.mark.req("E1", "E2")
@pytest.mark.parametrize("indexed", [False, True])
def test_documents_that_are_not_there(bench, handbook, tmp_path, indexed):
    """Where nothing is indexed, or all of it is gone, that is said once; it is not asked, and the other sources end it."""
    if indexed:
        handbook(backups=copies(60))
        shutil.rmtree(tmp_path / "handbook")
    missing = "handbook is not there" if indexed else "nothing is indexed yet"
    alone = research(bench.pipeline(["local_docs"]), KEPT)
    notes = [update.text for update in of(alone, "note")]
    assert len(notes) == 1
    assert notes[0].startswith("local_docs: not asked: ")
    assert missing in notes[0]
    assert not of(alone, "source_hit")
    assert (alone[-1].reason, alone[-1].cycles) == ("zero_findings", 2)
    assert "Nobody could look" in alone[-1].answer
    beside = research(bench.pipeline({"local_docs": "local_docs", "web": Library()}))
    assert {update.source for update in of(beside, "source_hit")} == {"web"}


@pytest.mark.req("E2")
def test_documents_that_go_meanwhile(bench, handbook, tmp_path):
    """A folder that goes away while others are asked is one that cannot be looked into, and not one that holds nothing."""
    handbook(backups=copies(60))
    pipeline = bench.pipeline(["local_docs"])
    asked = bench.request(topic="backups", tags=["backups"], question=KEPT)
    shutil.rmtree(tmp_path / "handbook")
    told = pipeline.research(pipeline.read_request(asked)).result.results
    assert any("local_docs: unavailable" in note for note in told.degradation_notes), told


PAGE = """<html><head><title>{title} - Parcel 3.11.2 documentation</title></head><body><main>
<h2>Parameters</h2><h3>follow(number)<a class="mark" id="follow">#</a></h3>
<p>Added in: v2.1.0</p><p>Follows a parcel by its number until a carrier has delivered the parcel.</p>
<h3>forget(number)<a class="mark" id="forget">#</a></h3><p>Forgets it.</p></main></body></html>"""


@pytest.mark.req("E3", "E6", "E9")
def test_signals_of_indexed_documents(kr, project_folder, tmp_path):
    """Each names the place in the page, the version that the page says it is of, and what the page is about."""
    (project_folder / "kr.yaml").write_text("knowledge_research: {sources: [local_docs]}\n")
    manual = tmp_path / "manual"
    manual.mkdir()
    (manual / "follow.html").write_text(PAGE.format(title="Parcel following"))
    assert kr("docs", "index", str(manual)).code == 0
    done = kr("expedition", "run", "How is a parcel followed by its number, and since which version?")
    assert "Added in: v2.1.0 (manual 3.11.2) [" in done.out
    assert "DOCUMENT manual/follow.html#follow (version 3.11.2)" in done.out
    assert "`follow(number)`: Follows a parcel by its number" in done.out


@pytest.mark.req("E4", "E6")
def test_the_middle_of_long_code_states_nothing(bench, tmp_path):
    """What is too long for one passage is code in each of them."""
    method = (
        "    def keep(self):\n        return Backup(\n            server, copies=self.copies, days={0}, order_database=order_database, keep=True\n"
        "        )\n\n"
    )
    code = "".join(map(method.format, range(300)))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "backup.html").write_text(
        f"<html><body><main><h1>Source code of the backup server</h1><pre>class Backup:\n{code}</pre></main></body></html>"
    )
    store = DocumentStore(bench.folder / ".kr" / FILE_NAME, writable=True)
    assert indexer.update(store, tmp_path / "site", "site").passages > 2
    store.close()
    updates = research(bench.pipeline(["local_docs"]), KEPT)
    assert any(update.passages for update in of(updates, "source_hit"))
    assert not updates[-1].axioms


@pytest.mark.req("E3", "E6")
def test_what_code_says_of_itself(bench, tmp_path):
    """The docstring of a function is a fact, as code; what it does is none."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "orders.py").write_text(
        "def copies_of_orders(server, days=60):\n"
        '    """Keep copies of the order database on the\n    backup server for so many days.\n\n    Args: none\n    """\n'
        "    return keep_copies_of_the_order_database_on(server, for_days=days, in_backup=True)\n"
    )
    store = DocumentStore(bench.folder / ".kr" / FILE_NAME, writable=True)
    indexer.update(store, tmp_path / "shop", "shop")
    store.close()
    (axiom,) = research(bench.pipeline(["local_docs"]), KEPT)[-1].axioms
    assert axiom.statement.endswith(
        "Keep copies of the order database on the backup server for so many days."
    )
    assert [(one.type, one.locator) for one in axiom.signals] == [("CODE", "shop/orders.py:2")]
