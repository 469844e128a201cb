"""Documents of every kind and in every encoding: what is read of a file, and how it is divided."""

import json
import os
import time

import pytest
from support.documents import found, indexed, pieces

from kr_core.search.documents.loaders import SkippedFile, decoded


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
            start = int(piece.location[1:]) - 1
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
            start = int(piece.location[1:]) - 1
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
        assert second.location == f":{number + 3}"

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
        assert [(piece.name, piece.location, piece.kind) for piece in made] == [
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
        assert made[0].location == "#cell-1"

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
        assert (piece.text, piece.location) == ("Parcels are insured.", "#page=1")

    @pytest.mark.parametrize("data", [b"", b"%PDF-1.4\n%%EOF", b"not a pdf", b"%PDF-1.7\n1 0 obj\n<<>>"])
    def test_a_broken_pdf_is_passed_over(self, data):
        """With the reason, not an error of the program."""
        pytest.importorskip("pypdf")
        with pytest.raises(SkippedFile, match="cannot be read"):
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
        assert text.split("\n")[int(last.location[1:]) - 1] == last.text.split("\n")[0]


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
        with pytest.raises(SkippedFile, match="is no text"):
            decoded(data)

    def test_line_ends_and_control_characters(self):
        """Of every system; they move no line."""
        assert decoded(b"a\r\nb\rc\x0cd")[0] == "a\nb\nc d"
