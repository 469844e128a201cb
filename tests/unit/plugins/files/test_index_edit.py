"""Items of an index, cut apart and edited in place: they say what YAML says, and keep what they do not say anew."""

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from support.files_store import HEADER, REPORT, TODAY, WILD, entry, given_index, query

from kr_core import yaml_text
from kr_plugins.stores.files import index_edit
from kr_plugins.stores.files.index import IndexRow
from kr_plugins.stores.files.index_edit import KEYS, cut, edited, item_of, own_form, read, written
from kr_plugins.stores.files.index_file import UnreadableIndexError, parse

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_PLAIN = st.sampled_from(
    ["a", "2.10", "true", "~", "null", "12", "-3", "0x1", "a - b", "a: b", "a #b", "'it''s'", '"x"', '"a\\n"', "[a, b]",
     "[a b, 'c']", "[]", "{a: b}", "|", "> ", "*a", "&a b", "!x y", "- a", "a,b", "%", "@", "", "é", "虚拟", "...", "---"]
)  # fmt: skip
_LINES = st.sampled_from(
    ["- id: {}", "  topic: {}", "  tags: {}", "  tags:", "  - {}", "    - {}", "    {}", "# {}", "", "  # {}", "-", "entries:",
     "max_entries: {}", "- {}", "\t- {}", "  a: {}  # c", "  true: {}", "...", "---", "  b:{}", "   c: {}"]
)  # fmt: skip
DOCUMENTS = st.lists(st.tuples(_LINES, _PLAIN), max_size=12).map(
    lambda lines: "entries:\n" + "".join(line.replace("{}", value) + "\n" for line, value in lines)
)


def whole(text):
    try:
        document = yaml_text.load(text)
    except (yaml.YAMLError, ValueError):
        return None
    if not isinstance(document, dict) or not isinstance(document.get("entries") or [], list):
        return None
    if sum(line.startswith("entries:") for line in text.splitlines()) > 1:  # one of them would be lost
        return None
    return document.get("entries") or []


@given(DOCUMENTS | DOCUMENTS.map(lambda text: text.removeprefix("entries:\n")))
@example("entries:\n- id: a\nother:\n- id: b\n")
@example("entries:\n- id: 'a\n- id: b'\n")
@example("entries: []\n- id: b\n")
@example("entries:\n- id: &a b\n- id: &a b\n")
@example("entries:\n# c\n    ~\n")
@pytest.mark.req("K2", "K7")
def test_in_pieces_it_says_what_the_whole_says(text):
    """Whatever the layout, reading an index in pieces gives the items that YAML gives, or none where YAML refuses."""
    if "entries:" not in text:
        expected = _loaded(text)
        if not isinstance(expected, list):
            return
    else:
        expected = whole(text)
    try:
        index = parse(text, header={}, undated=TODAY)
    except UnreadableIndexError:
        assert expected is None
        return
    assert [row.read.item for row in index.rows] == expected
    again = parse(index.text(), header={}, undated=TODAY)
    assert [row.read.item for row in again.rows] == expected


def _loaded(text):
    try:
        return yaml_text.load(text)
    except (yaml.YAMLError, ValueError):
        return None


@given(st.lists(st.lists(_PLAIN, min_size=len(KEYS), max_size=len(KEYS)), min_size=1, max_size=4))
@example([["a-b", "vue", "1.2", "a - b", "x", "a.md", "'2026-01-02'", "'2026-01-02'", "fresh"]] * 3)
def test_what_is_told_of_all_items_at_once_is_what_each_says(items):
    """However long the pieces are that the text is looked through in, it is cut at the items, and the usual form is KR's own."""
    texts = ["- " + "  ".join(
        f"tags:\n  - {value}\n" if key == "tags" else f"{key}: {value}\n" for key, value in zip(KEYS, values, strict=True)
    ) for values in items]  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_edit, "_PIECE", 1)
        pieces = cut("entries:\n" + "".join(texts), "entries", TODAY.isoformat())
    assert pieces is not None
    assert pieces.items == texts
    for text, form in zip(texts, pieces.forms, strict=True):
        assert form in (None, own_form(text, TODAY.isoformat()))


@given(st.lists(_PLAIN, min_size=len(KEYS), max_size=len(KEYS)))
def test_an_item_in_krs_own_form_is_what_yaml_says(values):
    """An item that is read by its form says what YAML would say of it."""
    text = "".join(
        f"{'  ' if number else '- '}{key}:{chr(10)}  - "
        if key == "tags"
        else f"{'  ' if number else '- '}{key}: " + f"{value}\n"
        for number, (key, value) in enumerate(zip(KEYS, values, strict=True))
    )
    expected = _loaded(text)
    if isinstance(expected, list) and len(expected) == 1:
        assert item_of(text) == expected[0]


_NAMES = _PLAIN | _TEXT.filter(str.strip)


@given(st.lists(_NAMES, min_size=5, max_size=5), st.lists(_NAMES, min_size=1, max_size=3))
@pytest.mark.req("K2")
def test_an_entry_that_is_read_by_its_lines_is_the_one_of_its_item(names, tags):
    """The short way to an entry comes to the same entry as the long one, whatever its names and tags say."""
    named = dict(zip(("id", "framework", "framework_version", "topic", "path"), names, strict=True))
    item = {**entry().model_dump(mode="json"), **named, "tags": tags}
    plain = [f"{'- ' if key == 'id' else '  '}{key}: {value}\n" for key, value in named.items()]
    days = "  created: '2026-02-01'\n  last_accessed: '2026-02-02'\n  status: fresh\n"
    marked = "".join(f"  - {tag}\n" for tag in tags)
    for text in (written(item, ""), "".join([*plain[:4], f"  tags:\n{marked}", plain[4], days])):
        if (own := own_form(text, TODAY.isoformat())) is not None:
            row = IndexRow(text, None, own, TODAY)
            assert row.entry == read(item_of(text), TODAY).entry
            assert row.read.entry is row.entry


@given(
    st.dictionaries(
        st.sampled_from([*KEYS, "mine"]), _TEXT | st.lists(_TEXT, max_size=3) | st.integers(), min_size=1
    )
)
@pytest.mark.req("K2")
def test_what_is_written_is_read(item):
    """An item in KR's own form is read as it was meant, at any indentation."""
    for indent in ("", "  "):
        assert item_of(written(item, indent)) == item


@given(
    st.dictionaries(st.sampled_from(KEYS), _TEXT | st.lists(_TEXT, max_size=2), min_size=1),
    st.sampled_from(["", "  "]),
)
@pytest.mark.req("K2")
def test_editing_says_what_it_should(changes, indent):
    """Whatever is changed, the item says it; values on lines of their own change nothing else."""
    text = "".join(f"{indent}{line}\n" for line in (WILD + "  mine: [1, 2]   # keep\n").splitlines())
    old = item_of(text)
    new = {**old, **changes}
    after = edited(text, indent, old, new)
    assert item_of(after) == new
    kept = [line for line in text.splitlines() if line.split(":")[0].strip(" -") not in changes]
    if "tags" not in changes and all(str(value).isalnum() for value in changes.values()):
        assert [line for line in kept if line not in after.splitlines()] == []


@pytest.mark.req("K2")
def test_quotes_and_comments_stay():
    """A value that changes keeps its quotes and the comment beside it."""
    old = item_of(WILD)
    after = edited(WILD, "", old, {**old, "last_accessed": "2026-03-01", "status": "stale"})
    assert after == WILD.replace('"2026-02-05"', '"2026-03-01"').replace('"fresh"', '"stale"')


@pytest.mark.req("K2")
@pytest.mark.parametrize("indent", ["", "  "])
@pytest.mark.parametrize(
    "lines",
    [
        "  owner: {name: me, since: 2026-01-01}  # who\n",
        "  owner:  # who\n    name: me\n\n    # when\n    since: 2026-01-01\n",
        "  links:\n  - url: a  # one\n    n: 1\n  # between\n  - url: b\n",
        "  note: |\n    free # text\n      more\n",
        "  note: two\n    lines\n",
        '  "my": 1\n',
    ],
)
def test_nested_keys_of_the_user_stay(lines, indent):
    """An unknown key may have a value of any form: it stays, with all comments, and so does all else but what changes."""
    text = "".join(
        f"{indent}{line}\n" if line else "\n" for line in (WILD + lines + "  # the end\n").splitlines()
    )
    old = item_of(text)
    after = edited(text, indent, old, {**old, "last_accessed": "2026-03-01", "status": "stale"})
    assert after == text.replace('"2026-02-05"', '"2026-03-01"').replace('"fresh"', '"stale"')


@pytest.mark.req("K2")
def test_a_value_in_a_form_of_its_own_that_changes():
    """A value on several lines that changes is written anew, and says what it should."""
    text = "- id: a\n  topic: two\n    lines\n  status: fresh  # now\n"
    old = item_of(text)
    assert old["topic"] == "two lines"
    assert item_of(edited(text, "", old, {**old, "topic": "one"})) == {**old, "topic": "one"}


@pytest.mark.req("K2")
def test_a_key_that_is_added(store, folder):
    """An item that lacks a key is written in KR's form with its unknown keys; a copy keeps its comments, and KR says so."""
    text = "- id: a  # one\n  framework: httpx\n  topic: a\n  path: frameworks/httpx/a.md\n  mine: {x: [1]}\n# about the next\n"
    given_index(folder, text + WILD)
    store.touch(store.entries()[0], TODAY)
    (copy,) = folder.glob("index.yaml.before-*")
    assert copy.read_text() == text + WILD
    after = (folder / "index.yaml").read_text()
    assert after.endswith("# about the next\n" + WILD)
    first = yaml_text.load(after)[0]
    assert (first["last_accessed"], first["mine"]) == (TODAY.isoformat(), {"x": [1]})
    assert "is a copy with your comments" in store.candidates(query()).warnings[0]
    store.touch(store.entries()[0], TODAY.replace(day=9))
    assert len(list(folder.glob("index.yaml.before-*"))) == 1


@pytest.mark.req("K2", "K8")
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\N{ZERO WIDTH NO-BREAK SPACE}"])
def test_the_form_of_the_file_stays(newline, bom):
    """Line ends and a byte order mark stay as they are; one entry that changes is one line that changes."""
    text = (bom + HEADER + "entries:  # all of them\n" + WILD).replace("\n", newline)
    index = parse(text, header={}, undated=TODAY)
    assert index.text() == text
    after = index.touched(0, TODAY.replace(day=9)).text()
    assert after == text.replace("2026-02-05", "2026-02-09")
    assert index.without([0]).text() == text[: text.index("- id")].replace("entries:  #", "entries: []  #")
    more = index.with_entry(entry()).text()
    assert more.startswith(text)
    assert parse(more, header={}, undated=TODAY).entries[1] == entry()


def test_an_index_of_another_form_is_set_aside(store, folder):
    """An index whose layout KR does not keep, and that holds comments, is set aside before it is first written."""
    text = "# head\n{entries: [{id: a, framework: httpx, topic: a, path: frameworks/httpx/a.md}]}\n# mine\n"
    given_index(folder, text)
    store.touch(store.entries()[0], TODAY)
    store.write(REPORT, {}, entry())
    assert [file.read_text() for file in folder.glob("index.yaml.before-*")] == [text]
    assert (folder / "index.yaml").read_text().startswith("# head\n")
    assert [one.topic for one in store.entries()] == ["a", "retry requests"]


def test_pieces_are_the_text():
    """Joined again, the pieces are the text."""
    text = HEADER + "entries:\n" + WILD + "# between\n" + WILD + "owner: me\n"
    pieces = cut(text, "entries")
    assert pieces.head + "".join(pieces.items) + pieces.tail == text
    assert (len(pieces.items), pieces.tail) == (2, "owner: me\n")
