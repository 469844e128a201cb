"""The local index: passages in SQLite, found by FTS5."""

import sqlite3
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_core.search.passage_index import FORMAT, IndexedPassage, PassageIndex, build, searchable
from kr_core.search.ranking import rank
from kr_core.search.terms import question_terms
from kr_core.text import stem

PASSAGES = [
    IndexedPassage(
        "symbol", "box.put", 'def put(thing, timeout=5.0):\nPut "it" in.', "box.py:1", "box.put",
        name="put", lead="Put it in.", code=("box.put('x', timeout=2)",), words="thing timeout", prior=0.9,
        data={"lines": [[0, 1]], "what": "function"}, prose="Put it in.",
    ),
    IndexedPassage(
        "parameter", "box.put(timeout)", "timeout: Seconds to wait.", "box.py:4", "box.put", "timeout",
        name="put timeout", lead="Seconds to wait.", prior=0.8,
    ),
    IndexedPassage("section", "README § Häuser", "Über Größen: AsyncClient 超时设置", "README.md:1", name="Häuser", prior=0.5),
]  # fmt: skip
HOSTILE = [
    "", " ", '"', "'", '""" OR 1=1 --', "'; drop table passages; --", "NEAR(a b)", "a AND", "NOT", "name: put", "lead : (put)",
    "put*", "^put", "{name lead}: put", "-put", "+", "\0", "put\0time", "🚀", "\ud7ff", "(" * 500, "a" * 100_000, "put OR", "%", "_", "\\",
    "超时", "a\nb\r\tc", "col:*", "rank", "-- #", "/* */", "?1", ":name", "@x", "$y",
]  # fmt: skip


@pytest.fixture(scope="module")
def index():
    made = build(None, PASSAGES, {"label": "box"})
    yield made
    made.close()


def test_what_is_put_in_comes_out(tmp_path):
    """A passage comes out of the file as it went in, but for the prose, which only serves to find it."""
    build(tmp_path / "i.sqlite", PASSAGES, {"label": "box"}).close()
    index = PassageIndex(tmp_path / "i.sqlite")
    assert [hit.passage for hit in index.get([3, 1, 2])] == [
        PASSAGES[2], PASSAGES[0]._replace(prose=None), PASSAGES[1],
    ]  # fmt: skip
    assert (index.size, index.meta["label"]) == (3, "box")
    assert index.priors() == {1: 0.9, 2: 0.8, 3: 0.5}
    index.close()


def test_an_empty_index_answers(tmp_path):
    index = build(tmp_path / "i.sqlite", [])
    assert (index.size, index.bm25(["put"]), index.get([]), index.with_code(["put"])) == (0, {}, [], [])
    assert rank(index, question_terms(index, "How do I put it?")) == []
    index.close()


def test_postings_say_where_a_stem_stands(index):
    """Passage and field of each stem; the name of the parameter too."""
    assert set(index.postings(stem("timeout"))) == {(1, "words"), (1, "code"), (2, "name"), (2, "body")}
    assert set(index.postings(stem("waiting"))) == {(2, "lead"), (2, "body")}
    assert index.names("put")
    assert not index.names("wait")
    assert index.postings("nowhere") == []


def test_words_beyond_ascii_are_found(index):
    """Accents are folded, identifiers and CJK runs split, as in the question."""
    assert index.bm25(["Größen"]).keys() == index.bm25(["grossen"]).keys() == {3}
    for word in ("größen", "häuser", "asyncclient", "设置"):
        assert {number for number, _field in index.postings(stem(word))} == {3}
    found = rank(index, question_terms(index, "Wie setze ich die Größen der Häuser?"))
    assert [one.passage.title for one in found] == ["README § Häuser"]
    assert index.bm25(["async"]).keys() == {3}
    assert index.bm25(["时设"]).keys() == {3}


def test_bm25_is_of_passages_that_hold_a_word(index):
    """A passage without any of the words has no score; no words have none."""
    assert index.bm25(["timeout"]).keys() == {1, 2}
    assert index.bm25(["timeout", "zebra"]).keys() == {1, 2}
    assert index.bm25(["zebra"]) == index.bm25([]) == {}


def test_passages_are_found_by_symbol_and_parameter(index):
    assert [hit.passage.title for hit in index.by_symbol("box.put")] == ["box.put"]
    assert [hit.passage.title for hit in index.by_symbol("box.put", "timeout")] == ["box.put(timeout)"]
    assert index.by_symbol("box.put' or '1'='1") == []


def test_code_is_found_by_all_of_its_identifiers(index):
    assert [hit.id for hit in index.with_code(["timeout"])] == [1]
    assert [hit.id for hit in index.with_code(["put", "timeout"])] == [1]
    assert index.with_code(["put", "nowhere"]) == []


@pytest.mark.req("Z3", "Z4")
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_no_text_breaks_out_of_a_query(index, text):
    """Quotes, operators, NUL and emoji are words to look for, or nothing."""
    index.bm25([text])
    index.bm25(["put", text])
    index.postings(text)
    index.names(text)
    index.by_symbol(text, text)
    index.with_code([text])
    rank(index, question_terms(index, text, without=[text, "box"]), 5)
    assert index.get([1])[0].passage.title == "box.put"


@pytest.mark.req("Z3")
@given(st.text(max_size=30))
def test_no_text_at_all_breaks_out_of_a_query(text):
    made = build(None, PASSAGES)
    made.bm25([text])
    made.with_code([text])
    rank(made, question_terms(made, text), 5)
    made.close()


@given(st.text(max_size=60))
def test_a_text_is_found_by_its_own_words(text):
    """Each word of an indexed text finds its passage."""
    made = build(None, [IndexedPassage("section", "t", text, "f:1")])
    for word in searchable(text).split():
        found = made.bm25([word])
        assert found.keys() == {1} or not word.isascii()
    made.close()


@pytest.mark.parametrize("damage", ["missing", "empty", "text", "format", "no tables"])
def test_what_is_no_index_is_refused(tmp_path, damage):
    """A file that is not an index of this format is one exception, and is never changed by opening it."""
    file = tmp_path / "i.sqlite"
    if damage == "format":
        build(file, PASSAGES).close()
        with sqlite3.connect(file) as connection:
            connection.execute("update meta set value = ? where key = 'format'", (str(FORMAT + 1),))
        connection.close()
    elif damage == "no tables":
        sqlite3.connect(file).execute("create table x (y)").connection.close()
    elif damage != "missing":
        file.write_bytes(b"" if damage == "empty" else b"no index at all" * 100)
    before = file.read_bytes() if file.exists() else None
    with pytest.raises(sqlite3.Error):
        PassageIndex(file)
    assert (file.read_bytes() if file.exists() else None) == before


def test_an_index_cannot_be_written_to(tmp_path):
    """It is opened for reading only."""
    index = build(tmp_path / "i.sqlite", PASSAGES)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        index._connection.execute("delete from passages")
    index.close()


def test_an_index_may_be_closed_by_another_thread(index, tmp_path):
    """The consultation runs in a thread of its own."""
    made = build(tmp_path / "i.sqlite", PASSAGES)
    found = []
    thread = threading.Thread(target=lambda: found.append(made.bm25(["put"])) or made.close())
    thread.start()
    thread.join()
    assert found[0].keys() == {1, 2}


def test_odd_paths_are_only_paths(tmp_path):
    """A folder named with `?`, `#` or `%` is opened as it is written."""
    folder = tmp_path / "a?mode=rwc#b%20c"
    build(folder / "i.sqlite", PASSAGES).close()
    index = PassageIndex(folder / "i.sqlite")
    assert index.size == 3
    index.close()
