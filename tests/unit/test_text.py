"""Words, stems and content words."""

import re
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kr_core
from kr_core.text import (
    STOP_WORDS,
    WEAK_WORDS,
    content_words,
    infinitive,
    is_opposite,
    is_weak,
    root_of,
    roots,
    split_identifier,
    stem,
    stems,
    words,
)  # fmt: skip


@pytest.mark.req("K3")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Set the timeout!", ["set", "the", "timeout"]),
        ("max_connections", ["max", "connections"]),
        ("httpx.get", ["httpx", "get"]),
        ("AsyncClient", ["asyncclient", "async", "client"]),
        ("HTTPTransport", ["httptransport", "http", "transport"]),
        ("parseHTTPHeader2", ["parsehttpheader2", "parse", "http", "header", "2"]),
        ("URL", ["url"]),
        ("HTTP/2 and HTTP/1.1", ["http2", "and", "http11", "http1"]),
        ("don't it’s users'", ["don", "it", "users"]),
        ("_private __init__", ["private", "init"]),
        ("utf-8", ["utf", "8"]),
        ("Größe", ["größe"]),
        ("超时设置", ["超时", "时设", "设置"]),
        ("超", ["超"]),
        ("設定timeout値", ["設定", "timeout", "値"]),
        ("タイムアウト", ["タイ", "イム", "ムア", "アウ", "ウト"]),
        ("시간 초과", ["시간", "초과"]),
        ("🚀 --- \0 ''", []),
        ("", []),
    ],
)
def test_words_are_those_of_prose_and_of_code(text, expected):
    """Identifiers fall into their parts, `HTTP/2` is one word, an apostrophe ends a word, CJK runs are bigrams."""
    assert words(text) == expected


@pytest.mark.parametrize(
    ("word", "parts"),
    [("plain", ["plain"]), ("camelCase", ["camel", "case"]), ("JSONDecoder", ["json", "decoder"]), ("b64", ["b", "64"]), ("é", ["é"])],
)  # fmt: skip
def test_identifiers_are_split(word, parts):
    assert split_identifier(word) == parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How do I set the timeout for a single request?", ["set", "timeout", "single", "request"]),
        ("What is it that I need to do?", ["what", "is", "it", "that", "i", "need", "to", "do"]),
        ("timeout, Timeout, TIMEOUT", ["timeout"]),
        ("x of y", ["x", "of", "y"]),
        ("值 x", ["值"]),
        ("", []),
    ],
)
def test_content_words_say_what_a_text_is_about(text, expected):
    """Stop words and single letters are left out, each word counts once; where nothing is left all words count."""
    assert content_words(text) == expected


def test_stems_are_those_of_the_content_words():
    assert stems("How do I configure connections?") == {"configur", "connect"}


@pytest.mark.req("E5")
def test_roots_are_those_of_all_words_but_the_stop_words():
    """A form of an irregular verb gives its verb's root; a text of stop words alone has none."""
    assert roots("How is a kept connection configured?") == {"keep", "connect", "configur"}
    assert roots("How do I?") == frozenset()


@pytest.mark.req("E5")
@pytest.mark.parametrize(
    ("form", "verb"),
    [("kept", "keeping"), ("sent", "sends"), ("written", "writes"), ("wrote", "writing"), ("built", "builds"), ("chosen", "chooses"),
     ("thrown", "throw"), ("ran", "running"), ("held", "holding"), ("overridden", "overrides"), ("found", "finds")],
)  # fmt: skip
def test_forms_of_an_irregular_verb_have_one_root(form, verb):
    """As those of other verbs have; a word that is none keeps its stem, also where another word of that spelling is a form."""
    assert root_of(form) == root_of(verb)
    assert root_of("bounds") == root_of("bound") == stem("bound")
    assert infinitive("parcel") == "parcel"


def test_a_form_of_an_everyday_verb_is_everyday():
    """`kept` says as little as `keep`."""
    assert is_weak("kept")
    assert not is_weak("thrown")


@given(st.text(max_size=80))
def test_words_of_any_text_are_lower_case_and_not_empty(text):
    """Whatever the text, its words are non-empty, and words of words are the same."""
    found = words(text)
    assert all(word and word == word.lower() for word in found)
    assert set(content_words(text)) <= set(found)
    assert bool(found) == bool(content_words(text))


def test_no_everyday_word_is_in_both_lists_for_naught():
    """Both lists hold words in the form in which `words` gives them."""
    assert all(words(word) == [word] for word in STOP_WORDS | WEAK_WORDS)


@pytest.mark.req("K3")
def test_stems_are_those_of_the_index():
    """Each word of the project's own sources and of the thesaurus has the stem that SQLite's tokenizer makes."""
    folder = Path(kr_core.__file__).parent
    texts = [path.read_text("utf-8") for path in [*folder.rglob("*.py"), folder / "search/thesaurus.txt"]]
    vocabulary = sorted(
        set(re.findall(r"\b[a-z]{1,30}\b", " ".join(texts).lower())) - {"ies", "sses"}
    )  # endings
    assert len(vocabulary) > 3000
    assert {word: stem(word) for word in vocabulary} == sqlite_stems(vocabulary)


@given(
    st.lists(
        st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=20), min_size=1, max_size=20, unique=True
    )
)
def test_stems_of_any_letters_are_those_of_the_index(vocabulary):
    """The two agree on what is no word too, but for a few odd doublings."""
    odd = re.compile(r"ies$|sses$|^eed|y[aeiouy]|[aeiouy]y|([chjkqvwx])\1")
    vocabulary = [word for word in vocabulary if not odd.search(word)]
    assert {word: stem(word) for word in vocabulary} == sqlite_stems(vocabulary)


def test_endings_that_porter_treated_anew_are_those_of_the_index():
    """SQLite stems `-bly` and `-logy` by the revised rules."""
    vocabulary = "possibly visibly reliably stably nimbly topology technologies apologies biology analogy possible".split()
    assert {word: stem(word) for word in vocabulary} == sqlite_stems(vocabulary)


def sqlite_stems(vocabulary):
    """What FTS5's porter tokenizer makes of each word."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create virtual table t using fts5(w, tokenize='porter unicode61')")
    connection.execute("create virtual table v using fts5vocab(t, instance)")
    connection.executemany("insert into t (rowid, w) values (?, ?)", enumerate(vocabulary))
    found = {vocabulary[number]: term for term, number in connection.execute("select term, doc from v")}
    connection.close()
    return found


@given(st.text(alphabet='abz09 -,:;?!()"`'))
def test_words_of_a_simple_text_are_those_of_any_text(text):
    """A text of small letters and plain signs has the same words beside one that is looked at more closely."""
    assert words(f"{text} ABC") == [*words(text), "abc"]


@pytest.mark.req("A1")
def test_a_prefix_turns_few_words_round():
    """Most words that end in another one are words of their own."""
    for one, other in (
        ("structur", "unstructur"), ("serial", "deserial"), ("connect", "disconnect"), ("upload", "download"),
    ):  # fmt: skip
        assert is_opposite(one, other)
        assert is_opposite(other, one)
    for pair in (
        "port import",
        "patch dispatch",
        "play display",
        "fault default",
        "sign design",
        "tail detail",
        "form inform",
        "it unit",
    ):
        assert not is_opposite(*map(stem, pair.split()))


def test_a_word_torn_at_its_apostrophe_says_nothing():
    text = "arguments it doesn't know, that aren\N{RIGHT SINGLE QUOTATION MARK}t there and couldn't be"
    assert content_words(text) == ["arguments", "know"]
