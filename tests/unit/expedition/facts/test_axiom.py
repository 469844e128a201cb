"""Axioms: their signals, what merges, what is counted once, and what is kept although it disagrees."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from kr_core import Axiom, Passage, Signal
from kr_core.expedition.facts.axiom import category_of, of_note, of_quote, signal_type
from kr_core.expedition.facts.comparison import alike, compared
from kr_core.expedition.facts.corroboration import confidence_of, voices
from kr_core.expedition.facts.merge import KnownAxioms
from kr_core.model.expedition import WEIGHTS

WHEN = datetime(2026, 2, 5, tzinfo=UTC)


def quoted(text, url="https://one.example/page", **values):
    return of_quote(Passage(text=text, url=url, fetched_at=WHEN, **values), text, "web")


@pytest.mark.req("E3")
def test_the_weights_are_these():
    """Six kinds of signals, each with its weight."""
    assert WEIGHTS == {
        "DOCUMENT": 0.95, "CODE": 0.90, "USER": 0.80, "WEB": 0.70, "INFERENCE": 0.60, "SESSION": 0.50,
    }  # fmt: skip


@pytest.mark.req("E3")
@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"url": "pkg:pypi/httpx@0.28.1"}, "DOCUMENT"),
        ({"url": "file:docs/manual.md"}, "DOCUMENT"),
        ({"url": "/usr/share/doc/python3/html/library/ssl.html"}, "DOCUMENT"),
        ({"url": "https://docs.example/manual", "official": True}, "DOCUMENT"),
        ({"url": "https://blog.example/post"}, "WEB"),
        ({"url": "file:src/app.py"}, "CODE"),
        ({"url": "file:deploy/values.yaml"}, "CODE"),
        ({"url": "pkg:pypi/httpx@0.28.1", "kind": "constant"}, "CODE"),
    ],
)
def test_what_a_passage_is(values, kind):
    """Installed documentation, manuals and indexed files are DOCUMENT, source and configuration CODE, pages WEB."""
    assert signal_type(Passage(text="Anything at all.", **values)) == kind


@pytest.mark.req("E3", "R13")
@pytest.mark.parametrize("url", ["pkg:pypi/httpx@0.28.1", "file:docs/manual.md", "file:src/app.py", "https://docs.example/"])  # fmt: skip
def test_what_is_not_official_weighs_as_a_page_does(url):
    """Documents and code of their kind, which nobody vouches for; official ones weigh as their kind does."""
    own, official = quoted("Parcels are sent.", url), quoted("Parcels are sent.", url, official=True)
    assert (own.confidence, own.signals[0].official) == (0.70, False)
    assert official.confidence == WEIGHTS[official.signals[0].type] >= 0.90


@pytest.mark.req("E4", "Z8")
def test_what_the_authors_of_a_project_wrote_is_one_voice():
    """Its folders and the packages that came with it do not confirm one another; an official package and a site do."""
    known = KnownAxioms([quoted("The default request timeout is 5 seconds.", "file:docs/manual.md")])
    for url in ("file:guide/start.md", "pkg:pypi/httpx@0.28.1", "pkg:npm/httpx@0.28.1"):
        joined = known.join(quoted("The default request timeout is 5 seconds.", url))
    assert (len(joined.axiom.signals), joined.axiom.confidence) == (4, 0.70)
    said = "The default timeout of a request is 5 seconds."
    page = known.join(quoted(said, "https://one.example/page"))
    assert page.axiom.confidence == pytest.approx(0.91)
    known = KnownAxioms([quoted(said, "file:docs/manual.md")])
    real = known.join(quoted("The default request timeout is 5 seconds.", "pkg:pypi/requests@2.0", official=True))  # fmt: skip
    assert real.axiom.confidence == pytest.approx(0.985)


@pytest.mark.req("E4", "Z8")
@pytest.mark.parametrize(("first", "then"), [(False, True), (True, False)])
def test_a_fact_is_as_official_as_it_was_found_last(first, then):
    """Trust comes and goes; the signal stays one."""
    known = KnownAxioms([quoted("Parcels are sent at night.", "file:docs/a.md", official=first)])
    joined = known.join(quoted("Parcels are sent at night.", "file:docs/a.md", official=then))
    assert [signal.official for signal in joined.axiom.signals] == [then]
    assert joined.axiom.confidence == (0.95 if then else 0.70)
    assert joined.changed


@pytest.mark.req("E4")
def test_an_axiom_without_an_id_has_that_of_its_statement():
    """As first described, without an id and with times that name no zone: the id that KR gives the same words."""
    values = {
        "statement": "Redirects are **not** followed by default.",
        "category": "specifications",
        "confidence": 0.95,
        "signals": [
            Signal(type="DOCUMENT", source="https://one.example", weight=0.95, timestamp=datetime(2026, 2, 5))
        ],
        "created_at": datetime(2026, 2, 5),
    }
    made = Axiom(**values)
    assert made.id == quoted("Redirects are not followed, by default").id
    assert made == Axiom(id=made.id, **values) == Axiom.model_validate_json(made.model_dump_json())
    assert (made.created_at, made.signals[0].timestamp) == (WHEN, WHEN)
    known = KnownAxioms()
    known.join(quoted("Redirects are not followed by default."))
    known.join(made)
    assert len(known) == 1
    assert Axiom(**{**values, "id": "A-mine"}).id == "A-mine"
    with pytest.raises(ValidationError, match="statement"):
        Axiom(**{**values, "statement": ""})


@pytest.mark.req("E3")
def test_none_without_a_signal():
    """An axiom that nothing speaks for cannot be made, and so cannot be stored."""
    with pytest.raises(ValidationError, match="signals"):
        Axiom(id="A-1", statement="x", category="safety", confidence=0.5, signals=())


@pytest.mark.req("E4")
@pytest.mark.parametrize(
    ("statement", "category"),
    [
        ("`timeout`: float, default 5.0.", "specifications"),
        ("To retry a request, pass `retries=3` to the transport.", "procedures"),
        ("Call `close()` when the client is no longer needed by you.", "history"),
        ("parcel requires Python 3.9 or later.", "compatibility"),
        ("`ReadTimeout` is raised when no data arrives.", "diagnostics"),
        ("`send_all` is deprecated since version 2.1.", "history"),
        ("Never use this with untrusted input: it runs code.", "safety"),
        ("Added in version 3.2: the parameter `level`.", "history"),
    ],
)
def test_categories(statement, category):
    """Each statement has one of the six categories, by rules."""
    assert category_of(statement) == category


@pytest.mark.req("E4")
@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        ("The default timeout is 5 seconds.", "The default timeout is 5 seconds", "same"),
        (
            "The default timeout of a request is 5 seconds.",
            "The default request timeout is 5 seconds.",
            "same",
        ),
        (
            "The default timeout of a request is 5 seconds.",
            "The default timeout of a request is 10 seconds.",
            "conflict",
        ),
        ("HTTP/2 is supported by the client.", "HTTP/2 is not supported by the client.", "conflict"),
        (
            "Redirect following is enabled by default here.",
            "Redirect following is disabled by default here.",
            "conflict",
        ),
        ("`get` follows redirects of the server.", "`post` follows redirects of the server.", "other"),
        ("The client pools its connections.", "The parser reads a stream of tokens.", "other"),
        ("Yes.", "No.", "other"),
        (
            "Django supports sending server events over long connections of clients.",
            "Flask supports sending server events over long connections of clients.",
            "other",
        ),
        (
            "The gunicorn server replaces the uvicorn server.",
            "The uvicorn server replaces the gunicorn server.",
            "other",
        ),
        (
            "The client package depends on the core package.",
            "The core package depends on the client package.",
            "other",
        ),
        (
            "For parcels, tracking is supported by Fast Carrier.",
            "Fast Carrier supports tracking parcels.",
            "same",
        ),
        ("In its pool the client keeps connections.", "The client keeps connections in its pool.", "same"),
        ("Stale jobs are thrown away by the janitor.", "The janitor throws stale jobs away.", "same"),
    ],
)
def test_meanings(one, other, relation):
    """The same words with the same facts say the same; with other numbers, or denied, they say otherwise."""
    assert compared(one, other) == relation
    assert compared(other, one) == relation


@pytest.mark.req("E4")
def test_vectors_join_what_words_do_not():
    """Where an embedder is configured, statements in other words merge; never those with other facts."""
    one, other = (
        "Requests give up after 5 seconds by default.",
        "By default a call is abandoned after 5 seconds.",
    )
    assert compared(one, other) == "other"
    assert compared(one, other, lambda *_texts: 0.9) == "same"
    assert compared(one, other.replace("5", "9"), lambda *_texts: 0.99) != "same"
    assert compared(f"{one} On Windows.", f"{other} On Linux.", lambda *_texts: 0.99) == "other"


class Embedder:
    """Texts that begin alike are alike; it may fail."""

    identity = "first-letters"

    def __init__(self, *, short=False, fault=None):
        self.short, self.fault = short, fault

    def embed(self, texts):
        if self.fault:
            raise self.fault
        return [[float(text.startswith(letter)) for letter in "RTB"] for text in texts[self.short :]]


@pytest.mark.req("E4")
def test_statements_that_lie_near_each_other():
    """New statements are compared with each other and with those known; what cannot be compared is noted, and nothing ends."""
    fresh = [quoted("Requests give up after 5 seconds."), quoted("The parser reads tokens.")]
    known = [quoted("Reads are abandoned after 5 seconds."), quoted("Bytes are counted.")]
    came = alike(Embedder, fresh, known)
    assert came == {"pairs": [[fresh[0].id, known[0].id]], "notes": []}
    assert alike(lambda: None, fresh, known) == {"pairs": [], "notes": []}
    for embedder in (Embedder(short=True), Embedder(fault=OSError("no model"))):
        came = alike(lambda made=embedder: made, fresh, known)
        assert came["pairs"] == []
        assert "compared by their words alone" in came["notes"][0]


@pytest.mark.req("E4")
def test_independent_sources_confirm_each_other():
    """A second site in its own words adds confidence: 1 - (1 - 0.7)(1 - 0.7)."""
    known = KnownAxioms()
    known.join(quoted("The default timeout of a request is 5 seconds."))
    joined = known.join(quoted("The default request timeout is 5 seconds.", "https://two.example/page"))
    assert not joined.new
    assert joined.before == 0.7
    assert joined.axiom.confidence == pytest.approx(0.91)
    assert len(joined.axiom.signals) == 2


@pytest.mark.req("E4")
@pytest.mark.parametrize(
    "url",
    [
        "https://one.example/other",
        "https://www.one.example/mirror",
        "https://docs.one.example/page",
        "https://copy.example/page",
    ],
)
def test_copies_confirm_nothing(url):
    """Another page of the same site, and a copy on another site, are kept as signals and add no confidence."""
    text = "The default timeout of a request to the server is five seconds, and may be changed."
    known = KnownAxioms([quoted(text)])
    joined = known.join(quoted(text, url))
    assert joined.axiom.confidence == 0.7
    assert len(joined.axiom.signals) == 2


@pytest.mark.req("E3", "E4")
@pytest.mark.parametrize(
    ("first", "second", "confidence"),
    [
        ("https://docs.one.example/a", "https://one.example/b", 0.7),
        ("https://alice.github.io/a", "https://bob.github.io/b", 0.91),
        ("https://alice.github.io/a", "https://alice.github.io/b", 0.7),
        ("https://one.co.uk/a", "https://two.co.uk/b", 0.91),
    ],
)
def test_a_site_is_what_somebody_has_registered(first, second, confidence):
    """Hosts below one registered name are one voice; names below a host for many are different people's."""
    known = KnownAxioms([quoted("The default timeout of a request is 5 seconds.", first)])
    joined = known.join(quoted("The default request timeout is 5 seconds.", second))
    assert joined.axiom.confidence == pytest.approx(confidence)


SIGNALS = st.lists(
    st.builds(
        lambda kind, site, page, words: Signal(
            type=kind, source=f"https://{site}.example/{page}", weight=WEIGHTS[kind], quote=" ".join(words), timestamp=WHEN
        ),
        st.sampled_from(["DOCUMENT", "CODE", "WEB"]),
        st.sampled_from("abcd"),
        st.sampled_from("xyz"),
        st.lists(st.sampled_from("timeout default five seconds may change never always".split()), max_size=12),
    ),
    min_size=1,
    max_size=7,
)  # fmt: skip


@pytest.mark.req("E4")
@given(SIGNALS)
def test_confidence_is_that_of_independent_voices(signals):
    """It is `1 - prod(1 - weight)` of the weightiest of each voice; a copy of what is there changes nothing; order does not matter."""
    doubt = 1.0
    for group in voices(signals):
        doubt *= 1 - max(signal.weight for signal in group)
    assert confidence_of(signals) == pytest.approx(1 - doubt, abs=1e-4)
    copied = signals[0].model_copy(update={"source": signals[0].source + "?again"})
    assert confidence_of([*signals, copied]) == confidence_of(signals)
    assert confidence_of(signals[::-1]) == confidence_of(signals)
    sites = {signal.source.split("/")[2] for signal in signals}
    assert len(voices(signals)) <= len(sites)


@pytest.mark.req("E4")
def test_a_contradiction_is_kept_and_linked():
    """Both stay, each with a link to the other, and neither is valid any more."""
    known = KnownAxioms()
    first = known.join(quoted("The default timeout of a request is 5 seconds.")).axiom
    joined = known.join(quoted("The default timeout of a request is 10 seconds.", "https://two.example/page"))
    assert joined.new
    assert joined.conflicts == (first.id,)
    assert known.get(first.id).conflicts == (joined.axiom.id,)
    assert {axiom.status for axiom in known} == {"disputed"}


@pytest.mark.req("E4")
def test_a_later_version_supersedes():
    """What a later version of the same documentation says takes the place of what the earlier one said; both are kept."""
    known = KnownAxioms()
    text = "The default timeout of a request is {} seconds."
    old = known.join(quoted(text.format(5), "pkg:pypi/parcel@1.9", version="1.9")).axiom
    new = known.join(quoted(text.format(10), "pkg:pypi/parcel@1.10", version="1.10")).axiom
    assert known.get(old.id).status == "superseded"
    assert known.get(old.id).superseded_by == new.id
    assert known.get(new.id).status == "valid"


@pytest.mark.req("E3", "E4")
def test_what_a_person_says_counts_as_such():
    """A note is a signal of its own kind, and confirms what a page says."""
    known = KnownAxioms([quoted("The default timeout of a request is 5 seconds.")])
    joined = known.join(of_note("The default timeout of a request is 5 seconds.", "ada", WHEN))
    assert joined.axiom.confidence == pytest.approx(1 - 0.3 * 0.2)
    assert [signal.type for signal in joined.axiom.signals] == ["WEB", "USER"]


@pytest.mark.req("E2", "E4")
@given(st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.sampled_from("abc")), max_size=15))
def test_whatever_disagrees_what_is_known_stays_bounded(facts):
    """However often sources contradict themselves, each statement is one axiom, each conflict is linked both ways."""
    known = KnownAxioms()
    for number, denied, site in facts:
        text = f"The default timeout of a request is {'not ' if denied else ''}{number} seconds."
        known.join(quoted(text, f"https://{site}.example/page"))
    assert len(known) <= 6
    for axiom in known:
        for name in axiom.conflicts:
            assert axiom.id in known.get(name).conflicts


@pytest.mark.req("E3")
def test_what_was_only_said_in_a_conversation_counts_least():
    """It is a signal of its own kind; what a person stands for besides adds to it."""
    known = KnownAxioms()
    said = known.join(
        of_note("The gateway speaks HTTP/2 to clients only.", "chat 7", WHEN, kind="SESSION")
    ).axiom
    assert (said.signals[0].type, said.confidence) == ("SESSION", 0.5)
    stated = known.join(of_note("The gateway speaks HTTP/2 to clients only.", "ada", WHEN)).axiom
    assert stated.confidence == 0.9
