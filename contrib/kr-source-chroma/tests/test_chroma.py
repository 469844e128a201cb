"""Answers from collections of ChromaDB: in a folder, on a server, and what is wrong with either."""

import asyncio
import hashlib
import sqlite3
from contextlib import closing

import httpx
import pytest
from chromas import KNOWN, RECORDS, UNKNOWN, Answers

from kr_core import ConfigError, RequestError
from kr_core.plugin import Outcome, ResearchQuery
from kr_core.testing.surroundings import context_in
from kr_source_chroma import Chroma
from kr_source_chroma.folder import Folder
from kr_source_chroma.searching import candidates
from kr_source_chroma.server import Server

PLACE = ("default_tenant", "default_database", "handbook")
URL = "http://chroma.example:8000"


class Nearest:
    """Vectors that point at one document, whatever is asked."""

    identity = "nearest"

    def __init__(self, place, length=3):
        self.vector = [float(place == other) for other in range(length)]

    def embed(self, texts):
        return [self.vector for _ in texts]


def ask(collection, question=KNOWN, *, embedder=None, transport=None, root=None):
    give = None if embedder is None else lambda: embedder
    source = Chroma(collection, "handbook", give, external=transport is not None, official=False)
    query = ResearchQuery(
        framework="shop", framework_version="latest", topic="t", tags=("t",), question=question
    )

    async def answered():
        until = asyncio.get_running_loop().time() + 30
        async with context_in(
            root, until, transport or httpx.MockTransport(lambda _: httpx.Response(500)), None
        ) as context:
            return await source.query(query, context)

    return asyncio.run(answered())


@pytest.fixture
def on(tmp_path):
    """Ask a server that answers in this way."""

    def asked(respond=None, question=KNOWN, *, name="handbook", token=None, **options):
        server = Server(URL, (*PLACE[:2], name), token)
        return ask(
            server, question, transport=httpx.MockTransport(respond or Answers()), root=tmp_path, **options
        )

    return asked


def test_a_passage_is_cited_by_where_it_was_taken_from(on):
    """By the address in its metadata, or by the collection and its id, with the page."""
    first = on().passages[0]
    assert (first.url, first.locator, first.title) == (
        "https://handbook.example/orders",
        "orders-1",
        "Order service",
    )
    assert first.text == RECORDS["orders-1"][0]
    other = on(question="When is the pager handed over?").passages[0]
    assert (other.url, other.locator) == ("chroma:handbook/oncall-1", "oncall-1, page 3")
    assert on(question="Where were rates of the old shop kept?").passages[0].title == ""


def test_nothing_about_the_question_is_empty(on):
    """Also in a collection that holds nothing, and for a question without words."""
    assert on(question=UNKNOWN).outcome is Outcome.empty
    assert on(question="?!").outcome is Outcome.empty
    assert on(name="empty", embedder=Nearest(0)).outcome is Outcome.empty


def test_what_lies_nearest_is_found_too(on):
    """A document that no word leads to is found by its vector, if it is about the question."""
    records = {"a": ("rates, rates and spreadsheets", None), "b": ("parcels", None)}
    answers = Answers(records)
    asked = on(answers, "RATES spreadsheet", embedder=Nearest(0, 2))
    assert [one.text for one in asked.passages] == ["rates, rates and spreadsheets"]
    assert any(request.url.path.endswith("/query") for request in answers.asked)


def test_vectors_of_another_length_are_noted(on):
    """They were made by another embedder: words alone are searched, and nothing is lost."""
    found = on(embedder=Nearest(0, 384))
    assert found.outcome is Outcome.ok
    assert "have 384 numbers, those of the collection 3" in found.notes[0]


def test_an_embedder_that_fails_is_noted(on):
    """Words alone are searched."""

    class Broken:
        def embed(self, _texts):
            raise RuntimeError("out of order")

    found = on(embedder=Broken())
    assert found.outcome is Outcome.ok
    assert found.notes == ("embedder: out of order; words alone were searched",)


def says(status, text="", **values):
    return lambda _request: httpx.Response(status, text=text, **values)


@pytest.mark.parametrize(
    ("respond", "outcome", "said"),
    [
        (says(401), "blocked", "token"),
        (says(403), "blocked", "token"),
        (says(429), "limited", "429"),
        (says(500, "<html>"), "unavailable", "500"),
        (says(404, "<html>nothing here"), "unavailable", "no Chroma server of 0.6 or later"),
        (says(410, "The v1 API is deprecated"), "unavailable", "no Chroma server of 0.6 or later"),
        (says(200, "<html>"), "bad_answer", "no JSON"),
        (says(200, "[]"), "bad_answer", "none of ChromaDB's"),
        (says(200, "{}"), "bad_answer", "no id"),
        (says(200, '{"id": "7", "ids": ["a"], "documents": []}'), "bad_answer", "none of ChromaDB's"),
        (
            says(200, '{"id": "7", "ids": ["a"], "documents": [], "metadatas": []}'),
            "bad_answer",
            "none of ChromaDB's",
        ),
    ],
)
def test_a_server_that_is_not_as_it_should_be(on, respond, outcome, said):
    """What is wrong is told, with the outcome that it is."""
    with pytest.raises(RequestError, match=said) as caught:
        on(respond)
    assert caught.value.outcome == outcome
    assert "chroma.example:8000" in str(caught.value)


def test_a_collection_that_is_not_there_names_those_that_are(on):
    """A slip of the pen is seen at once."""
    with pytest.raises(RequestError, match=r"there is no collection `handbok`.*there are: handbook, empty"):
        on(name="handbok")


def test_the_token_is_sent_and_never_shown(on):
    """Only in its header."""
    answers = Answers()
    secret = "a-secret"  # noqa: S105  it opens nothing
    on(answers, token=secret)
    assert {request.headers["authorization"] for request in answers.asked} == {f"Bearer {secret}"}
    with pytest.raises(RequestError) as caught:
        on(says(401, secret), token=secret)
    assert secret not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://", "http://user@chroma.example", "http://chroma.example:0", "http://[chroma"]
)
def test_an_address_that_is_none(url):
    """It is refused when it is built."""
    with pytest.raises(ConfigError, match="not an address of a server"):
        Server(url, PLACE, None)


@pytest.mark.parametrize(
    "metadata",
    [{"source": "javascript:x()"}, {"source": "https://"}, {"url": "https://[x"}, {"title": 5, "page": {}}],
)
def test_hostile_metadata(on, metadata):
    """It becomes no address and no title."""
    passage = on(Answers({"a/b c": (RECORDS["orders-1"][0], metadata)})).passages[0]
    assert (passage.url, passage.title) == ("chroma:handbook/a/b%20c", "")


def test_words_are_looked_for_as_they_may_be_written():
    """Small, capital and in capitals, without the ending of longer ones."""
    assert candidates("Deploying parcels?")[:3] == ["deploy", "Deploy", "DEPLOY"]
    assert "parce" in candidates("Deploying parcels?")


# -- the real one ----------------------------------------------------------------------------------------------


def digests(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}  # fmt: skip


def test_a_folder_is_read(project):
    """The same passages as of a server; by words and by vectors."""
    for embedder in (None, Nearest(1), Nearest(0, 384)):
        found = ask(Folder(project, "data/chroma", "handbook"), embedder=embedder, root=project)
        assert [one.locator for one in found.passages] == ["orders-1"]
    assert (
        ask(Folder(project, "data/chroma", "empty"), embedder=Nearest(0), root=project).outcome
        is Outcome.empty
    )


def test_a_real_server_answers_as_the_one_of_the_tests(server, tmp_path, on):
    """Found, nearest, absent, another length: the answers are those that the other tests are made of."""
    for embedder in (None, Nearest(1), Nearest(0, 384)):
        real = ask(
            Server(server, PLACE, None),
            embedder=embedder,
            transport=httpx.AsyncHTTPTransport(),
            root=tmp_path,
        )
        made = on(embedder=embedder)
        told = [(one.text, one.url, one.locator, one.title) for one in real.passages]
        assert told == [(one.text, one.url, one.locator, one.title) for one in made.passages]
        assert real.notes == made.notes
    with pytest.raises(RequestError, match=r"there are: .*handbook"):
        ask(
            Server(server, (*PLACE[:2], "handbok"), None), transport=httpx.AsyncHTTPTransport(), root=tmp_path
        )


@pytest.mark.usefixtures("chromadb")
def test_folders_that_are_none(tmp_path):
    """Missing, empty, or without the collection: told, and nothing is made."""
    with pytest.raises(RequestError, match="there is no ChromaDB"):
        ask(Folder(tmp_path, "nowhere", "handbook"), root=tmp_path)
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(ConfigError, match="not in the project"):
        Folder(tmp_path, "../elsewhere", "handbook")


def test_a_collection_that_is_not_in_the_folder(project):
    """Those that are there are named."""
    with pytest.raises(RequestError, match=r"there is no collection `handbok`.*there are: empty, handbook"):
        ask(Folder(project, "data/chroma", "handbok"), root=project)


def test_a_broken_folder(project):
    """What ChromaDB says of it is told, in a line; the next question is answered where it is whole again."""
    file = project / "data/chroma/chroma.sqlite3"
    whole = file.read_bytes()
    file.write_bytes(b"no database" * 1000)
    with pytest.raises(RequestError, match="ChromaDB cannot read it") as caught:
        ask(Folder(project, "data/chroma", "handbook"), root=project)
    assert "\n" not in str(caught.value)
    file.write_bytes(whole)
    assert ask(Folder(project, "data/chroma", "handbook"), root=project).outcome is Outcome.ok


def test_tables_of_an_older_version_are_left_alone(project):
    """They are not brought up to date by who only reads; what to do is told."""
    with closing(sqlite3.connect(project / "data/chroma/chroma.sqlite3")) as database:
        database.execute("delete from migrations where dir = 'sysdb' and version = 3")
        database.commit()
    before = digests(project / "data")
    with pytest.raises(RequestError, match="those of an older ChromaDB"):
        ask(Folder(project, "data/chroma", "handbook"), root=project)
    assert digests(project / "data") == before
