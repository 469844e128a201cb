"""Sources of an expedition that disagree: what is a contradiction, and how it is kept and shown."""

import pytest
from support.expeditions import Library, of, research

from kr_core import Expeditions
from kr_core.expedition import provenance


@pytest.mark.req("E4")
def test_contradictions_are_kept_and_shown_with_their_versions(bench):
    """Two sites that disagree stand side by side in the answer; a later version of one site supersedes the earlier."""
    pages = {
        "https://one.example/a": (
            "Limits",
            "The default weight limit of parcels is 5 kilograms for carriers.",
        ),
        "https://two.example/b": (
            "Limits",
            "The default weight limit of parcels is 10 kilograms for carriers.",
        ),
    }
    pipeline = bench.pipeline({"web": Library(pages, version="2.4")})
    updates = research(pipeline, "What is the default weight limit of parcels for carriers?")
    assert of(updates, "conflict_found")
    finished = updates[-1]
    assert len(finished.axioms) == 2
    assert {axiom.status for axiom in Expeditions(pipeline).axioms.all()} == {"disputed"}
    disagreeing = finished.answer.partition("## The sources disagree")[2]
    for text in ("5 kilograms", "10 kilograms", "version 2.4, read 2026-02-05"):
        assert text in disagreeing
    assert "conflicts with" in provenance.as_text(Expeditions(pipeline).get("X1"), Expeditions(pipeline))


@pytest.mark.req("E4")
@pytest.mark.parametrize(
    ("question", "first", "second", "disagree"),
    [
        ("What is the largest upload?", ("Upload service / Limits", "The largest upload is 25 MB."), ("Operations manual / Storage", "The largest upload is 100 MB."), True),
        ("What is the largest upload to the archive?", ("Archive / Limits", "The largest upload is 25 MB."), ("Shop / Storage", "The largest upload is 100 MB."), False),
        ("Is TLS required on all ports?", ("Gateway / Security", "TLS is required on all ports."), ("Operations manual / Network", "TLS is not required on all ports."), True),
        ("Which carrier supports tracking of parcels?", ("Fast Carrier", "The carrier supports tracking of parcels."), ("Slow Carrier", "The carrier does not support tracking of parcels."), False),
        ("How long are backups kept?", ("Backups / Retention", "Backups are kept for 90 days."), ("Security policy / Backups", "Backups are kept for 35 days."), True),
        ("Which post supports tracking of parcels?", ("Owls", "It supports tracking of parcels."), ("Pigeons", "It does not support tracking of parcels."), False),
    ],
)  # fmt: skip
def test_contradictions_below_different_headings(bench, question, first, second, disagree):
    """Statements are compared, not headings, unless these tell subjects apart that the statements do not name or the question does."""
    pages = {"https://one.example/a": first, "https://two.example/b": second}
    updates = research(bench.pipeline({"web": Library(pages)}), question)
    assert bool(of(updates, "conflict_found")) is disagree
    assert ("The sources disagree" in updates[-1].answer) is disagree


@pytest.mark.req("E4")
@pytest.mark.parametrize(
    ("first", "second", "disagree"),
    [
        ("New in version 3.1.", "New in version 3.2.", False),
        ("New in version 3.1: The weight parameter of queue put.", "New in version 3.3: The priority parameter of queue put.", False),
        ("Queue put was added in version 3.1.", "Queue put was added in version 3.3.", True),
    ],
)  # fmt: skip
def test_what_one_page_tells_of_two_versions(bench, first, second, disagree):
    """Is of two things, though it names none of them; what says of one thing that it came twice is a contradiction."""
    text = f"Queue put has parameters. {first}\n\nQueue put has more of them. {second}"
    pages = {"https://one.example/a": ("Queue / queue put", text)}
    updates = research(
        bench.pipeline({"web": Library(pages)}), "Since which versions has queue put its parameters?"
    )
    assert all(
        any(said in one.axiom.statement for one in of(updates, "axiom_found")) for said in (first, second)
    )
    assert bool(of(updates, "conflict_found")) is disagree


@pytest.mark.req("E4")
def test_what_two_pages_tell_of_two_versions(bench):
    """Is a contradiction where they have the same heading."""
    pages = {
        f"https://{name}.example/a": ("Queue put", f"Queue put has parameters. New in version {version}: The weight of queue put.")
        for name, version in (("one", "3.1"), ("two", "3.3"))
    }  # fmt: skip
    updates = research(bench.pipeline({"web": Library(pages)}), "Since which version has queue put a weight?")
    assert of(updates, "conflict_found")


@pytest.mark.req("E4", "E6")
def test_an_embedder_that_cannot_be_built(bench, of_nobody):
    """Statements are compared by their words, with a note; once, and nothing ends for it."""
    bench.configure("embedder: minilm\nplugins: {minilm: {folder: nowhere}}\n")
    finished = research(bench.pipeline({"web": Library()}))[-1]
    assert [note.partition(":")[0] for note in finished.notes] == ["embedder"]
    assert finished.axioms
