"""Words found in tantivy: the same as SQLite finds, and never what SQLite does not hold."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean

import pytest
from support.fast_index import is_asked, is_current, opened

from kr_core import StorageError
from kr_core.cli import main
from kr_core.files import try_lock
from kr_core.search.documents import tantivy_index as fasts
from kr_core.search.documents.document_search import search
from kr_core.search.documents.indexer import remove, update
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore
from kr_core.search.documents.tantivy_index import FOLDER_NAME, FastIndex, follow
from kr_core.toolkit import Documents

tantivy = pytest.importorskip("tantivy")

DOCS = Path(__file__).parents[3] / "docs"
QUESTIONS = """
how do I write a source
where are the settings of a plugin kept
what happens when the network is down
which documents are indexed
time limit of a question to an agent
knowledge base index format
reply to a case on GitHub
embedder for search by meaning
run the tests of a plugin
what leaves the machine
how is confidence computed and calibrated
budget of requests for each day
`extends` in kr.yaml
kr_core.toolkit.TopicIndex
a long question about what KR does when several processes research the same topic at once and one of them is killed meanwhile
""".strip().splitlines()
VAN, LETTER, TAXES = (
    "# Van\n\nThe van leaves at nine.\n",
    "# Letter\n\nA letter leaves at ten.\n",
    "# Taxes\n\nThey are due.\n",
)


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    """The project's own documentation, indexed by both."""
    folder = tmp_path_factory.mktemp("manual")
    store = DocumentStore(folder / FILE_NAME, writable=True)
    update(store, DOCS, "docs")
    follow(store, folder / FOLDER_NAME)
    yield store
    store.close()


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "van.md").write_text(VAN)
    (folder / "letter.md").write_text(LETTER)
    return folder


@pytest.fixture
def store(docs, tmp_path):
    store = DocumentStore(tmp_path / FILE_NAME, writable=True)
    update(store, docs, "docs")
    yield store
    store.close()


@pytest.fixture
def followed(store, tmp_path):
    """The folder of tantivy's index of the store."""
    follow(store, tmp_path / FOLDER_NAME)
    return tmp_path / FOLDER_NAME


def files(store, question, fast=None):
    return [hit.stored.path for hit in search(store, question, fast=fast)]


def segments(folder, ending):
    return sorted(folder.glob(f"*.{ending}"))


@pytest.mark.req("E6")
class TestSameAsSQLite:
    """Whoever installs the extra finds what others find."""

    def test_words(self, manual):
        """The words of a passage are those that SQLite's tokenizer takes, and in as many passages."""
        names = manual._connection
        names.execute("create virtual table if not exists temp.words using fts5vocab(main, postings, row)")
        by_sqlite = dict(names.execute("select term, doc from temp.words where term not glob '*[^ -~]*'"))
        searcher = opened(manual.path.with_name(FOLDER_NAME))
        by_tantivy = {word: count for word, count in searcher.terms_with_prefix("text", "") if word.isascii()}
        assert len(by_sqlite) > 1000
        assert by_tantivy == by_sqlite

    def test_words_of_other_languages(self, docs, store, tmp_path):
        """With accents and without, and in pairs of Chinese characters."""
        (docs / "café.md").write_text("# Größe\n\nDas Café öffnet um neun. ÉCOLE naïve.\n")
        (docs / "cjk.md").write_text("# 配送\n\n订单在十分钟内配送。\n")
        update(store, docs, "docs")
        follow(store, tmp_path / FOLDER_NAME)
        fast = FastIndex(store, tmp_path / FOLDER_NAME)
        for question in ("cafe", "Café", "école", "naive", "größe", "订单", "配送"):
            assert files(store, question, fast) == files(store, question) != []

    def test_hits(self, manual):
        """Nearly the same passages come first."""
        fast = FastIndex(manual, manual.path.with_name(FOLDER_NAME))
        shares, firsts = [], []
        for question in QUESTIONS:
            slow = [hit.stored.id for hit in search(manual, question)]
            quick = [hit.stored.id for hit in search(manual, question, fast=fast)]
            assert quick
            shares.append(len({*slow} & {*quick}) / len(slow))
            firsts.append(quick[0] in slow[:3])
        assert is_asked(fast)
        assert mean(shares) >= 0.75
        assert mean(firsts) >= 0.75

    def test_from_any_thread(self, docs, store, followed, tmp_path, monkeypatch):
        """One that was opened in a thread answers in others."""
        monkeypatch.setattr(fasts, "_FELT", 0)  # it is told if it does not
        with Documents(tmp_path) as documents, ThreadPoolExecutor(1) as thread:
            assert thread.submit(documents.search, "van").result() == documents.search("van") != []
            (docs / "van.md").write_text(TAXES)
            update(store, docs, "docs")
            follow(store, followed)
            assert thread.submit(documents.search, "nine").result() == documents.search("nine") == []
            assert thread.submit(documents.search, "taxes").result() != []
            assert documents.notes == []

    def test_rarities(self, manual):
        """Words count by how many passages have them."""
        fast = FastIndex(manual, manual.path.with_name(FOLDER_NAME))
        roots = ["sourc", "confid", "nowherefound"]
        by_tantivy, by_sqlite = fast.rarities(roots), manual.rarities(roots)
        assert by_tantivy.keys() == by_sqlite.keys() == {"sourc", "confid"}
        assert by_tantivy == pytest.approx(by_sqlite, rel=0.01)

    def test_a_name_of_several_parts(self, docs, store, tmp_path):
        """It is looked for as it is written: neither its parts apart, nor the end of a heading and what follows."""
        (docs / "1.md").write_text("# Answer\n\nEvery answer is of some use.\n")
        (docs / "2.md").write_text("# Settings\n\nWith `use_answer` the first one counts.\n")
        update(store, docs, "docs")
        follow(store, tmp_path / FOLDER_NAME)
        fast = FastIndex(store, tmp_path / FOLDER_NAME)
        assert [store.get([found[0]])[found[0]].path for found in fast.bm25('"use_answer"', 9)] == ["2.md"]
        assert files(store, "use_answer", fast)[0] == "2.md"
        assert fast.bm25('"2 settings"', 9)
        assert not fast.bm25('"settings 2"', 9)  # a name is put in four times

    def test_words_that_weigh_more(self, docs, store, followed):
        """A word that stands in a query more often counts more, whatever form it has."""
        fast = FastIndex(store, followed)
        (once,) = fast.bm25('"van"', 9)
        (twice,) = fast.bm25('"van" OR "vans" OR "nosuchword"', 9)
        assert twice[2] == pytest.approx(2 * once[2])
        assert fast.bm25('"***"', 9) == []


@pytest.mark.req("E6")
class TestFollowing:
    """What is in SQLite's index is in tantivy's, after each `kr docs index`."""

    def test_changes(self, docs, store, followed):
        """New, changed and removed files, in one that is open all the time."""
        fast = FastIndex(store, followed)
        assert files(store, "van", fast) == ["van.md"]
        (docs / "taxes.md").write_text(TAXES)
        (docs / "van.md").write_text(VAN.replace("nine", "eleven"))
        (docs / "letter.md").unlink()
        update(store, docs, "docs")
        follow(store, followed)
        assert [files(store, word, fast) for word in ("taxes", "eleven", "nine", "letter")] == [
            ["taxes.md"],
            ["van.md"],
            [],
            [],
        ]
        assert is_asked(fast)
        assert opened(followed).num_docs == store.size + 1
        remove(store, "docs")
        follow(store, followed)
        assert files(store, "van", fast) == []
        assert is_asked(fast)
        assert opened(followed).num_docs == 1

    def test_only_what_is_new(self, docs, store, followed):
        """What is there is not written again."""
        told = []
        follow(store, followed, told.append)
        assert told == []
        (docs / "taxes.md").write_text(TAXES)
        update(store, docs, "docs")
        follow(store, followed, told.append)
        assert told == [1.0]
        assert is_current(store, followed)

    def test_a_run_that_is_ended(self, docs, store, tmp_path, monkeypatch):
        """It leaves what is behind, and the next one writes what is missing."""
        monkeypatch.setattr(fasts, "_SECONDS", -1.0)
        folder, told = tmp_path / FOLDER_NAME, []

        def end(share):
            raise KeyboardInterrupt

        (docs / "taxes.md").write_text(TAXES)
        update(store, docs, "docs")
        with pytest.raises(KeyboardInterrupt):
            follow(store, folder, lambda share: told.append(share) if share < 0.5 else end(share))
        assert not is_current(store, folder)
        assert files(store, "van", FastIndex(store, folder)) == ["van.md"]
        follow(store, folder, told.append)
        assert told == [pytest.approx(1 / 3), 0.5, 1.0]
        assert is_current(store, folder)

    def test_a_store_that_changes_meanwhile(self, docs, store, tmp_path):
        """What another process has changed while the words were written is written, too."""
        folder, seen = tmp_path / FOLDER_NAME, []

        def change(share):
            seen.append(share)
            if len(seen) == 1:
                (docs / "van.md").write_text(TAXES)
                other = DocumentStore(store.path, writable=True)
                update(other, docs, "docs")
                other.close()

        follow(store, folder, change)
        fast = FastIndex(store, folder)
        assert (files(store, "van", fast), files(store, "taxes", fast)) == (
            ["van.md"],
            ["van.md"],
        )  # by its name
        assert files(store, "nine", fast) == []
        assert is_asked(fast)
        assert opened(folder).num_docs == store.size + 1

    def test_an_index_made_anew(self, docs, store, followed, tmp_path):
        """Its passages have the numbers that others had."""
        fast = FastIndex(store, followed)
        assert files(store, "van", fast)
        for file in tmp_path.glob(f"{FILE_NAME}*"):
            file.unlink()
        (docs / "letter.md").write_text(VAN)
        (docs / "van.md").write_text(LETTER)
        new = DocumentStore(tmp_path / FILE_NAME, writable=True)
        update(new, docs, "docs")
        assert not is_current(new, followed)
        follow(new, followed)
        fast = FastIndex(new, followed)
        assert files(new, "nine", fast) == ["letter.md"]
        assert is_asked(fast)
        assert opened(followed).num_docs == new.size + 1
        new.close()

    def test_another_format(self, docs, store, followed, monkeypatch):
        """Words that another version of KR has put in are taken out."""
        monkeypatch.setattr(fasts, "_FORMAT", "next")
        assert not is_current(store, followed)
        follow(store, followed)
        assert is_current(store, followed)
        assert opened(followed).num_docs == store.size + 1

    def test_what_fails_while_it_is_told_is_no_fault_of_the_index(self, docs, store, followed):
        """As when the terminal is gone; what was there stays, and is behind."""
        (docs / "taxes.md").write_text(TAXES)
        update(store, docs, "docs")

        def told(_share):
            raise OSError(5, "the terminal is gone")

        with pytest.raises(OSError, match="the terminal is gone"):
            follow(store, followed, told)
        assert segments(followed, "idx")
        follow(store, followed)
        assert is_current(store, followed)

    def test_a_file_in_its_place(self, store, tmp_path):
        (tmp_path / FOLDER_NAME).write_text("mine")
        with pytest.raises(StorageError, match="move it away"):
            follow(store, tmp_path / FOLDER_NAME)
        assert (tmp_path / FOLDER_NAME).read_text() == "mine"
        assert files(store, "van", FastIndex(store, tmp_path / FOLDER_NAME)) == ["van.md"]

    def test_two_at_once(self, store, tmp_path):
        """The second leaves it to the first."""
        with (
            try_lock(tmp_path / f"{FOLDER_NAME}.lock"),
            pytest.raises(StorageError, match="another `kr docs` writes it"),
        ):
            follow(store, tmp_path / FOLDER_NAME)
        follow(store, tmp_path / FOLDER_NAME)
        assert is_current(store, tmp_path / FOLDER_NAME)


@pytest.mark.req("E6")
class TestBehind:
    """What tantivy's index does not hold is found all the same."""

    def test_a_change_that_it_has_not(self, docs, store, followed, tmp_path, monkeypatch):
        """SQLite is asked; where that takes long, it is said."""
        (docs / "taxes.md").write_text(TAXES)
        (docs / "van.md").unlink()
        update(store, docs, "docs")
        with Documents(tmp_path) as documents:
            assert [hit.stored.path for hit in documents.search("taxes")] == ["taxes.md"]
            assert documents.search("van") == []
            assert documents.notes == []
            monkeypatch.setattr(fasts, "_FELT", 1)
            documents.search("taxes")
            (note,) = documents.notes
            assert (
                note
                == f"{followed}: is behind, and words are searched slowly; `kr docs index` brings it up to date"
            )
            follow(store, followed)
            assert [hit.stored.path for hit in documents.search("taxes")] == ["taxes.md"]
            assert documents.notes == []

    @pytest.mark.parametrize("ending", ["json", "idx", "term", "fast", "fieldnorm", "pos", "store"])
    def test_damaged(self, store, followed, ending):
        """SQLite is asked, and it is said; the next `kr docs index` makes it anew."""
        for file in segments(followed, ending):
            os.truncate(file, file.stat().st_size // 2)
        fast = FastIndex(store, followed)
        assert files(store, "van", fast) == ["van.md"]
        assert fast.lacks.startswith(f"{followed}: cannot be used: ")
        assert fast.lacks.endswith("; delete it; `kr docs index` makes it anew; words are searched slowly")
        follow(store, followed)
        assert is_current(store, followed)

    def test_damaged_within(self, docs, store, tmp_path, capfd):
        """As above, where it comes to light only when words are looked for; the open one goes on once it is made anew."""
        for number in range(300):
            (docs / f"{number}.md").write_text(
                f"# Van {number}\n\nThe van leaves at {number}. {'van ' * number}\n"
            )
        update(store, docs, "docs")
        folder = tmp_path / FOLDER_NAME
        follow(store, folder)
        (file,) = segments(folder, "idx")
        whole = file.read_bytes()
        file.write_bytes(b"\xff" * (len(whole) - 200) + whole[-200:])
        fast = FastIndex(store, folder)
        found = search(store, "van leaves", fast=fast)
        assert "panicked" in capfd.readouterr().err
        assert found == search(store, "van leaves")
        assert "delete it; `kr docs index` makes it anew" in fast.lacks
        for one in folder.iterdir():
            one.unlink()
        follow(store, folder)
        assert search(store, "van leaves", fast=fast)
        assert is_asked(fast)

    def test_something_else_in_its_place(self, store, tmp_path):
        """An index with other fields, or no folder."""
        folder = tmp_path / FOLDER_NAME
        folder.mkdir()
        tantivy.Index(tantivy.SchemaBuilder().add_text_field("other").build(), str(folder))
        assert files(store, "van", FastIndex(store, folder)) == ["van.md"]
        follow(store, folder)
        assert is_current(store, folder)


@pytest.mark.req("E6")
class TestCommands:
    """`kr docs` keeps it up to date."""

    @pytest.fixture
    def kr(self, docs, tmp_path, monkeypatch, capsys):
        (tmp_path / "kr.yaml").write_text(
            "knowledge_research: {sources: [local_docs]}\n"
        )  # else that is told
        monkeypatch.chdir(tmp_path)

        def run(*arguments):
            code = main(["docs", *arguments])
            captured = capsys.readouterr()
            assert code == 0
            return captured.out, captured.err

        return run

    @pytest.fixture
    def is_up_to_date(self, tmp_path):
        def look():
            store = DocumentStore(tmp_path / ".kr" / FILE_NAME)
            try:
                return is_current(store, tmp_path / ".kr" / FOLDER_NAME)
            finally:
                store.close()

        return look

    def test_index_and_remove(self, kr, docs, is_up_to_date):
        """Nobody has to do anything for it."""
        kr("index", "docs", "--name", "notes")
        assert is_up_to_date()
        (docs / "taxes.md").write_text(TAXES)
        kr("index")
        assert is_up_to_date()
        assert "taxes.md" in kr("search", "taxes")[0]
        kr("remove", "notes")
        assert is_up_to_date()

    def test_another_that_writes_it(self, kr, tmp_path, is_up_to_date):
        """It is noted, and nothing else."""
        with try_lock(tmp_path / ".kr" / f"{FOLDER_NAME}.lock"):
            out, err = kr("index", "docs", "--name", "notes")
        assert "2 files read" in out
        assert "another `kr docs` writes it; `kr docs index` when that is done" in err
        assert not is_up_to_date()
        kr("search", "van")
        assert kr("index")[1] == ""
        assert is_up_to_date()

    def test_without_tantivy(self, kr, docs, tmp_path, monkeypatch):
        """All is as if there were no such thing."""
        monkeypatch.setitem(sys.modules, "tantivy", None)
        assert kr("index", "docs", "--name", "notes")[1] == ""
        assert kr("search", "van") == (kr("search", "van")[0], "")
        assert kr("remove", "notes")[1] == ""
        assert [path.name for path in (tmp_path / ".kr").iterdir() if "fast" in path.name] == []

    def test_once_it_was_there(self, kr, docs, monkeypatch):
        """Whoever has removed the package finds what is new."""
        kr("index", "docs", "--name", "notes")
        monkeypatch.setitem(sys.modules, "tantivy", None)
        (docs / "taxes.md").write_text(TAXES)
        kr("index")
        out, err = kr("search", "taxes")
        assert "taxes.md" in out
        assert err == ""
