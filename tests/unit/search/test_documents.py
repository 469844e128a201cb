"""Documents of every kind and state: read, divided, indexed, searched, whatever is wrong with them."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kr_core import Documents
from kr_core.search.documents import store as stores
from kr_core.search.documents.reading import Passed, decoded, read
from kr_core.search.documents.store import FILE_NAME, DocumentStore
from kr_core.search.documents.updating import update
from kr_core.search.documents.wording import asked


def pieces(name, text):
    data = text if isinstance(text, bytes) else text.encode()
    return list(read(name, data).pieces)


def indexed(folder, path, name="docs"):
    store = DocumentStore(folder / FILE_NAME, writable=True)
    try:
        return update(store, path, name)
    finally:
        store.close()


def found(folder, question, limit=10, embedder=None):
    with Documents(folder, embedder and (lambda: embedder)) as documents:
        return [(hit.stored.path, hit.locator) for hit in documents.search(question, limit)]


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


class TestReaders:
    """What each reader makes of its files; the locator is the line, anchor, page or cell."""

    def test_code_and_tables_stay_whole(self):
        """However long, and with blank lines within; a heading's trail leads to each passage."""
        code = "```python\n" + "x = 1\n\n" * 600 + "```"
        text = f"# A\n\n## B\n\n{'word ' * 200}\n\n{code}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
        made = pieces("a.md", text)
        assert any(piece.text.endswith(code) for piece in made)
        assert any("| a | b |\n|---|---|\n| 1 | 2 |" in piece.text for piece in made)
        assert [(piece.outer, piece.name) for piece in made][:2] == [("A", "B"), ("A / B", "")]

    def test_a_passage_is_verbatim_from_its_line_on(self):
        """So that a quote is found in the file by counting lines."""
        text = "# A\n\n\n\none\ntwo\n\n\n\nthree\n\n# B\n\n    code\n\n    more\n\nend\n"
        lines = text.split("\n")
        for piece in pieces("a.md", text):
            start = int(piece.place[1:]) - 1
            assert lines[start : start + piece.text.count("\n") + 1] == piece.text.split("\n")

    @pytest.mark.parametrize(
        ("name", "head", "row", "end"),
        [
            ("a.md", "| key | meaning |\n|---|---|", "| `key_{0}` | what {0} is |", ""),
            ("a.rst", "===== ====\nkey   meaning\n===== ====", "key_{0} what {0} is", "===== ===="),
            (
                "a.rst",
                "+-----+------+\n| key | what |\n+=====+======+",
                "| key_{0} | what {0} is |\n|    | and more |\n+-----+------+",
                "",
            ),
        ],
    )
    def test_a_large_table_is_divided_between_its_rows(self, name, head, row, end):
        """Each part is shown with the heading rows, and begins at its own line; no row is lost or cut."""
        rows = [row.format(number) for number in range(400)]
        text = "\n".join(["Keys", "====", "", head, *rows, *([end] if end else [])]) + "\n"
        lines = text.split("\n")
        made = pieces(name, text)
        assert len(made) > 4
        assert all(piece.head == head for piece in made[1:])
        assert all(len(piece.text) < 3300 for piece in made)
        for piece in made:
            start = int(piece.place[1:]) - 1
            assert lines[start : start + piece.text.count("\n") + 1] == piece.text.split("\n")
        assert "\n".join(piece.text for piece in made) == text.rstrip("\n")

    def test_a_large_table_of_a_page_too(self):
        """By the line or anchor of its rows."""
        rows = "".join(f"<tr><td>key_{number}<td>what {number} is\n" for number in range(400))
        made = pieces("a.html", f"<h1>Keys</h1>\n<table><tr><th>key<th>meaning\n{rows}</table>")
        assert len(made) > 4
        assert {piece.head for piece in made[1:]} == {"| key | meaning |\n|---|---|"}
        second = made[1]
        number = int(second.text.split("key_")[1].split(" ")[0])
        assert second.place == f":{number + 3}"

    @pytest.mark.parametrize(
        ("rows", "head"),
        [
            ("<tr><td>run()<td>Runs it<tr><td>stop()<td>Stops it", "|  |  |"),
            ("<tbody><tr><th>run()<td>Runs it<tr><th>stop()<td>Stops it", "|  |  |"),
            ("<thead><tr><td>Name<td>Use</thead><tr><td>run()<td>Runs it", "| Name | Use |"),
            ("<tr><th>Name<th>Use<tr><td>run()<td>Runs it", "| Name | Use |"),
        ],
    )
    def test_a_table_of_a_page_without_headings(self, rows, head):
        """Its first row is a row like the others, below empty heads; a heading is what the page says to be one."""
        [made] = pieces("a.html", f"<h1>Calls</h1>\n<table>{rows}</table>")
        assert f"{head}\n|---|---|\n| run() | Runs it |" in made.text

    def test_restructured_text(self):
        """Headings by their underlines, in the order in which they appear; directives of symbols are headings."""
        text = (
            "=====\nTitle\n=====\n\nLead.\n\nPart\n----\n\nSee::\n\n    make\n\n    make install\n\n"
            ".. function:: send(address)\n\n   Sends a parcel.\n\n.. toctree::\n\n   other\n"
        )
        made = pieces("a.rst", text)
        assert [(piece.outer, piece.name) for piece in made] == [
            ("", "Title"),
            ("Title", "Part"),
            ("Title / Part", "send(address)"),
        ]
        assert "    make\n\n    make install" in made[1].text

    def test_python_by_symbols(self):
        """Functions, classes and methods, each with its comment, by its dotted name."""
        text = '"""Module."""\n\n# sends\ndef send(x):\n    return x\n\n\nclass Box:\n    """A box."""\n\n    def open(self):\n        pass\n'
        made = pieces("a.py", text)
        assert [(piece.name, piece.place, piece.kind) for piece in made] == [
            ("", ":1", "code"),
            ("send", ":3", "code"),
            ("Box", ":8", "code"),
            ("Box.open", ":11", "code"),
        ]
        assert made[1].text == "# sends\ndef send(x):\n    return x"

    @pytest.mark.parametrize(
        ("name", "text", "symbols"),
        [
            ("a.py", "def broken(:\n  pass\nclass Half\n", ["broken", "Half"]),
            (
                "a.ts",
                "export async function send(a: string) {\n}\n\nexport interface Box {\n}\n",
                ["send", "Box"],
            ),
            ("a.go", "func (s *Server) Send(a string) error {\n}\ntype Box struct {\n}\n", ["Send", "Box"]),
            ("a.rs", "pub fn send() {\n}\nimpl Box {\n}\n", ["send", "Box"]),
            ("a.c", "static int send_parcel(const char *to)\n{\n}\n", ["send_parcel"]),
        ],
    )
    def test_other_code_by_what_stands_at_its_margin(self, name, text, symbols):
        """Code that does not parse, too."""
        assert [piece.name for piece in pieces(name, text) if piece.name] == symbols

    def test_a_notebook(self):
        """Cells by number; what was printed belongs to its cell, pictures do not."""
        cells = [
            {"cell_type": "markdown", "source": ["# Load\n", "the data"]},
            {
                "cell_type": "code",
                "source": "print(1)",
                "outputs": [{"text": ["one\n"]}, {"data": {"image/png": "x" * 5000}}],
            },
        ]
        made = pieces("a.ipynb", json.dumps({"cells": cells}))
        assert made[0].text == "# Load\n\nthe data\n\n```python\nprint(1)\n```\n\n```text\none\n```"
        assert made[0].place == "#cell-1"

    def test_half_a_character_in_a_notebook(self, tmp_path):
        """JSON allows it; it is shown as a question mark."""
        cells = [{"cell_type": "markdown", "source": "# Half \ud800\n\na \udfff parcel"}]
        (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
        assert indexed(tmp_path, tmp_path / "a.ipynb").passages == 1
        assert found(tmp_path, "parcel") == [("", "#cell-1")]

    def test_a_pdf(self):
        """By page; needs the extra."""
        pypdf = pytest.importorskip("pypdf")
        import io

        from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

        writer = pypdf.PdfWriter()
        page = writer.add_blank_page(200, 200)
        font = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Font"),
                NameObject("/Subtype"): NameObject("/Type1"),
                NameObject("/BaseFont"): NameObject("/Helvetica"),
            }
        )
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
        stream = DecodedStreamObject()
        stream.set_data(b"BT /F1 12 Tf 10 100 Td (Parcels are insured.) Tj ET")
        page[NameObject("/Contents")] = writer._add_object(stream)
        file = io.BytesIO()
        writer.write(file)
        (piece,) = pieces("a.pdf", file.getvalue())
        assert (piece.text, piece.place) == ("Parcels are insured.", "#page=1")

    @pytest.mark.parametrize("data", [b"", b"%PDF-1.4\n%%EOF", b"not a pdf", b"%PDF-1.7\n1 0 obj\n<<>>"])
    def test_a_broken_pdf_is_passed_over(self, data):
        """With the reason, not an error of the program."""
        pytest.importorskip("pypdf")
        with pytest.raises(Passed, match="cannot be read"):
            pieces("a.pdf", data)

    @pytest.mark.parametrize(
        "page",
        [
            "<h1>One<p>two<p>three",
            "<div><div><div><h1>One</h1>two three",
            "<table><tr><td>one<td>two<tr><td>three",
            "<nav><h1>One</h1>two three",
            "<ul><li>one<li>two<ul><li>three",
            "<p>one < two & three",
            "<" * 5000 + "one two three",
            "<p title='a > b'>one</p><!-- two -->two <b>three",
            "<pre>one\ntwo\nthree",
        ],
    )
    def test_html_that_was_never_closed(self, page):
        """Its words are all there."""
        text = " ".join(piece.text for piece in pieces("a.html", page)).lower()
        assert all(word in text for word in ("one", "two", "three"))

    @pytest.mark.parametrize("name", ["a.md", "a.html", "a.rst", "a.txt", "a.py", "a.c"])
    def test_anything_is_read_in_time(self, name):
        """A file of one thing over and over takes no longer than any other of its size."""
        for unit in ("<", "`", "#", "a ", "<a ", "x\n", "=\n", "(", "<!--", "```\n", "|", "A"):
            start = time.process_time()
            pieces(name, unit * (60_000 // len(unit)))
            assert time.process_time() - start < 2, unit

    def test_a_log_is_one_paragraph_of_many_lines(self):
        """Six megabytes of it are read in time, each part from its own line on."""
        text = "".join(f"12:00:{number % 60:02} parcel {number}\n" for number in range(300_000))
        start = time.process_time()
        made = pieces("a.txt", text)
        assert time.process_time() - start < 2
        last = made[-1]
        assert text.split("\n")[int(last.place[1:]) - 1] == last.text.split("\n")[0]


class TestEncodings:
    """Text in whatever encoding."""

    @pytest.mark.parametrize(
        ("data", "note"),
        [
            ("Größe".encode(), ""),
            ("Größe".encode("utf-8-sig"), ""),
            ("Größe".encode("utf-16"), ""),
            ("Größe".encode("utf-32"), ""),
            ("Größe und Gewicht".encode("utf-16-le"), "read as UTF-16-LE"),
            ("Größe und Gewicht".encode("utf-16-be"), "read as UTF-16-BE"),
            ("Größe".encode("cp1252"), "is not UTF-8; read as Windows-1252"),
            ('<meta charset="koi8-r">Größe'.encode("latin-1"), ""),
        ],
    )
    def test_it_is_told_or_guessed(self, data, note):
        """A guess is noted."""
        text, told = decoded(data)
        assert told == note
        assert "Gr" in text

    @pytest.mark.parametrize(
        "data",
        [
            b"\x7fELF\x02\x01\x01" + bytes(50),
            os.urandom(64) + bytes(64) + os.urandom(9),
            bytes(range(32)) * 20,
        ],
    )
    def test_what_is_no_text_is_passed_over(self, data):
        """Whatever its name says."""
        with pytest.raises(Passed, match="is no text"):
            decoded(data)

    def test_line_ends_and_control_characters(self):
        """Of every system; they move no line."""
        assert decoded(b"a\r\nb\rc\x0cd")[0] == "a\nb\nc d"


class TestFolders:
    """A folder with whatever lies in folders."""

    @pytest.mark.req("E6")
    def test_what_cannot_be_read_is_noted_and_the_rest_is_read(self, docs, tmp_path):
        """Binaries, links in circles, devices, a file that nobody may read, one that is too large, names of any bytes."""
        (docs / "good.md").write_text("# Parcels\n\nSent by carrier.\n")
        (docs / "picture.png").write_bytes(os.urandom(100))
        (docs / "liar.txt").write_bytes(b"\x7fELF" + bytes(100))
        (docs / "loop").symlink_to(docs)
        (docs / "dangling.md").symlink_to(tmp_path / "nowhere.md")
        (docs / "old.txt").write_bytes("Größe der Pakete".encode("cp1252"))
        (docs / "broken.ipynb").write_text('{"cells": [')
        os.mkfifo(docs / "pipe.md")
        with (docs / "huge.txt").open("wb") as file:
            file.truncate(30_000_000)
        Path(os.fsdecode(os.fsencode(docs) + b"/\xff\xfe.md")).write_text("# Strange\n\nname of a letter\n")
        done = indexed(tmp_path, docs)
        said = "\n".join(done.notes)
        assert found(tmp_path, "carrier") == [("good.md", ":1")]
        assert found(tmp_path, "pakete") == [("old.txt", ":1")]
        assert len(found(tmp_path, "strange letter")) == 1
        for part in ("liar.txt: is no text", "old.txt: is not UTF-8", "broken.ipynb: cannot be read", "huge.txt: passed over: larger than 20 MB",
                     "2 symbolic links", "1 .png files", "1 devices and pipes"):  # fmt: skip
            assert part in said, said

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_what_was_read_once_stays_while_it_cannot_be_read(self, docs, tmp_path):
        """A folder that is closed for a while loses nothing."""
        inner = docs / "inner"
        inner.mkdir()
        (inner / "a.md").write_text("# Parcels\n\nSent by carrier.\n")
        indexed(tmp_path, docs)
        inner.chmod(0)
        try:
            done = indexed(tmp_path, docs)
        finally:
            inner.chmod(0o755)
        assert (done.removed, done.notes) == (0, (f"{inner}: Permission denied",))
        assert found(tmp_path, "carrier") == [("inner/a.md", ":1")]

    def test_tools_folders_and_environments_are_left_alone(self, docs, tmp_path):
        """Nobody means `node_modules`, a virtual environment or what begins with a dot."""
        for place in ("node_modules/a", ".git", "env", "__pycache__"):
            (docs / place).mkdir(parents=True)
            (docs / place / "a.md").write_text("# Parcels\n\ncarrier\n")
        (docs / "env" / "pyvenv.cfg").touch()
        assert indexed(tmp_path, docs).read == 0

    def test_an_index_shrinks_as_files_change_and_go(self, docs, tmp_path):
        """Nothing of what a file said before is found any more, or left in the index."""
        for number in range(30):
            (docs / f"{number}.md").write_text(
                f"# Parcel{number}\n\nCarrierName{number} naïve 日本語テキスト\n"
            )
        indexed(tmp_path, docs)
        for number in range(30):
            path = docs / f"{number}.md"
            path.unlink() if number % 2 else path.write_text(f"# Letter{number}\n\nstamp\n")
        done = indexed(tmp_path, docs)
        assert (done.read, done.removed) == (15, 15)
        assert found(tmp_path, "parcel4 carriername4 carrier 日本語") == []
        store = DocumentStore(tmp_path / FILE_NAME, writable=True)
        assert store.size == 15
        store._connection.execute("insert into postings (postings) values ('integrity-check')")
        assert store.rarities(["naiv", "parcel4", "carriername4"]) == {}
        store.close()

    def test_many_small_files_take_little_memory_and_a_second_look_reads_none(self, docs, tmp_path):
        """3,000 files in one folder; the program's memory grows by less than they are."""
        import resource

        for number in range(3000):
            (docs / f"{number}.txt").write_text(f"parcel number {number} " + "weighs a lot " * 60)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert indexed(tmp_path, docs).read == 3000
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert after - before < 200_000
        assert indexed(tmp_path, docs).unchanged == 3000
        text = sum(path.stat().st_size for path in docs.iterdir())
        assert (tmp_path / FILE_NAME).stat().st_size < 1.2 * text


@pytest.mark.req("E6")
def test_a_killed_run_goes_on_where_it_was(docs, tmp_path, monkeypatch):
    """What was committed is not read again; the index is whole and ends as if nothing had happened."""
    for number in range(600):
        (docs / f"{number:03}.md").write_text(f"# Parcel {number}\n\n" + f"weight{number} " * 300)
    code = (
        "import sys, pathlib\nfrom kr_core.search.documents import updating, store\nupdating._SECONDS = 0.01\n"
        "one = store.DocumentStore(pathlib.Path(sys.argv[1]), writable=True)\n"
        "updating.update(one, pathlib.Path(sys.argv[2]), 'docs', lambda files, _new: print(files, flush=True))\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / FILE_NAME), str(docs)], stdout=subprocess.PIPE, text=True
    )
    assert running.stdout.readline()
    running.kill()
    running.communicate()
    done = indexed(tmp_path, docs)
    assert done.unchanged > 0
    assert done.read + done.unchanged == 600
    assert found(tmp_path, "weight599", 1) == [("599.md", ":1")]
    store = DocumentStore(tmp_path / FILE_NAME, writable=True)
    assert store.size == 600
    store._connection.execute("insert into postings (postings) values ('integrity-check')")
    store.close()


@pytest.mark.req("E6")
@pytest.mark.parametrize("key", ["use_answer", "escalate_below", "plugins.web.port"])
def test_a_key_of_a_large_table_is_found_by_its_name(docs, tmp_path, key):
    """Even one whose parts say nothing alone; the row is shown with the heading row, and cited by its line."""
    keys = [f"other_{number}.answer_below_use" for number in range(300)]
    keys[200] = key
    rows = "\n".join(f"| `{one}` | not set | What {one} does. |" for one in keys)
    (docs / "configuration.md").write_text(f"# Keys\n\n| key | default | meaning |\n|---|---|---|\n{rows}\n")
    (docs / "use.md").write_text(
        "# Other\n\nAnswer below, where it is of use; a port of the web has plugins.\n"
    )
    indexed(tmp_path, docs)
    with Documents(tmp_path) as documents:
        best = documents.search(key)[0]
    assert best.stored.path == "configuration.md"
    assert f"`{key}`" in best.text
    assert best.text.startswith("Keys\n\n| key | default | meaning |\n|---|---|---|\n| `other_")
    first = int(best.locator[1:])
    assert f"`{keys[first - 5]}`" in best.stored.body.split("\n")[0]


@pytest.mark.req("E6")
def test_a_name_with_one_word_more_is_looked_for_as_a_whole(docs, tmp_path):
    """What has its parts here and there comes behind what has the name, though it is shorter."""
    told = "It is told where. " * 6
    (docs / "run.md").write_text(f"# Programs\n\nTo `process.run` is to wait; there is a timeout. {told}\n")
    (docs / "output.md").write_text("# Output\n\nOf the run of a process; none after a timeout.\n")
    for number in range(10):
        (docs / f"{number}.md").write_text(f"# Other {number}\n\nSome other thing.\n")
    indexed(tmp_path, docs)
    assert found(tmp_path, "process.run timeout")[0] == ("run.md", ":1")


def test_names_in_a_longer_question_are_looked_for_by_their_parts_alone():
    """They are mostly of the asker's own data."""
    assert asked("what does split_df do?").literals == ("split_df",)
    assert asked("what does split_df index?").literals == ("split_df",)
    assert asked("merge dataframes `split_df` and `csv_df`").literals == ()


def test_an_index_of_another_version_says_what_to_do(docs, tmp_path, monkeypatch):
    """It is made anew from the files, and searched again."""
    (docs / "a.md").write_text("# Parcels\n\ncarrier\n")
    indexed(tmp_path, docs)
    monkeypatch.setattr(stores, "FORMAT", "next")
    with pytest.raises(Exception, match="an index of another version of KR"):
        Documents(tmp_path)
    assert indexed(tmp_path, docs).read == 1
    assert found(tmp_path, "carrier") == [("a.md", ":1")]


@pytest.mark.parametrize(
    "question", ["", "   ", "?", '"', "the of and", "NEAR(a b)", "* - ^ :", "x" * 100_000, "ünïcödé", "日本"]
)
def test_any_question_is_searched(docs, tmp_path, question):
    """Nothing in it is taken for a language of queries."""
    (docs / "a.md").write_text("# Parcels\n\ncarrier\n")
    indexed(tmp_path, docs)
    assert found(tmp_path, question) == []


class Synonyms:
    """Knows that a van is a lorry."""

    identity = "synonyms"

    def __init__(self):
        self.seen = []

    def embed(self, texts):
        self.seen += texts
        return [[float("van" in text or "lorry" in text), float("letter" in text), 0.1] for text in texts]


class TestVectors:
    """Search by words and vectors."""

    @pytest.mark.req("E6")
    def test_what_means_the_same_is_found(self, docs, tmp_path):
        """A passage without a word of the question comes first, once it has a vector; vectors are kept by content."""
        (docs / "van.md").write_text("# Van\n\nThe van leaves at nine.\n")
        (docs / "letter.md").write_text("# Letter\n\nA letter leaves at ten.\n")
        indexed(tmp_path, docs)
        embedder = Synonyms()
        assert {path for path, _place in found(tmp_path, "leaves", embedder=embedder)} == {
            "van.md",
            "letter.md",
        }
        assert found(tmp_path, "lorry", embedder=embedder)[0] == ("van.md", ":1")
        (docs / "van.md").write_text(
            "# Van\n\nThe van leaves at nine.\n\n# Price\n\nIt leaves for ten euro.\n"
        )
        indexed(tmp_path, docs)
        embedder.seen.clear()
        found(tmp_path, "leaves", embedder=embedder)
        assert [text for text in embedder.seen if "nine" in text] == []
        assert found(tmp_path, "lorry", embedder=embedder)[0] == ("van.md", ":1")

    def test_no_word_need_be_shared(self, docs, tmp_path):
        """What words do not lead to gets its vector by and by."""
        (docs / "van.md").write_text("# Van\n\nThe van leaves at nine.\n")
        indexed(tmp_path, docs)
        assert found(tmp_path, "lorry", embedder=Synonyms()) == [("van.md", ":1")]

    def test_an_embedder_that_fails_is_noted(self, docs, tmp_path):
        """Words alone are searched then."""
        from kr_core import RequestError

        class Down:
            identity = "down"

            def embed(self, _texts):
                raise RequestError("unavailable", "no answer")

        (docs / "a.md").write_text("# Parcels\n\ncarrier\n")
        indexed(tmp_path, docs)
        with Documents(tmp_path, Down) as documents:
            assert len(documents.search("carrier")) == 1
            assert documents.notes == ["embedder: no answer; words alone were searched"]


class TestEvened:
    """Scores drawn towards those of what lies near."""

    def test_each_score_moves_half_way_to_those_of_its_neighbours(self, tmp_path):
        """Only passages with a vector take part; the others keep their score."""
        pytest.importorskip("numpy")
        from kr_core.search.documents.vectors import Vectors

        class Places:
            identity = "places"

            def embed(self, texts):
                near, alone = [1.0, 0.0], [0.0, 1.0]
                return [alone if "alone" in text else near for text in texts]

        docs = tmp_path / "docs"
        docs.mkdir()
        for number in range(7):
            (docs / f"{number}.md").write_text(f"near {number}")
        (docs / "alone.md").write_text("alone")
        indexed(tmp_path, docs)
        store = DocumentStore(tmp_path / FILE_NAME)
        vectors = Vectors(tmp_path, Places())
        numbers = [
            number
            for _block, numbers in [store.next_block(block) for block in range(8)]
            for number in numbers
        ]
        files = store.files_by_passage(numbers)
        stored = store.get(numbers)
        scored = [
            (number, files[number], 0.7 if stored[number].path == "alone.md" else 0.65) for number in numbers
        ]
        vectors.like(vectors.of("near"), store, scored)
        strange = (1, 999, 0.66)
        evened = vectors.evened([*scored, strange])
        assert strange in evened
        assert {number for number, *_rest in evened} == {*numbers, 1}
        drawn = {number: score for number, _file, score in evened}
        for number in numbers:
            assert (
                drawn[number] < 0.7
                if stored[number].path == "alone.md"
                else drawn[number] == pytest.approx(0.65)
            )
        assert vectors.evened(scored[:1]) == scored[:1]
        vectors.close()
        store.close()
