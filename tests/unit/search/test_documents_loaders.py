"""Readers of documents against what files hold that nobody meant for them: each is read, or noted and passed over."""

import json
import os
import socket
import time

import pytest
from support.documents import pieces

from kr_core.markup import html_blocks, markdown
from kr_core.search.documents import pdf as pdf_reader
from kr_core.search.documents.folder_walk import FolderWalk
from kr_core.search.documents.indexer import update
from kr_core.search.documents.loaders import SkippedFile, decoded, read
from kr_core.search.documents.source_code import LARGEST_TREE
from kr_core.search.documents.sqlite_index import FILE_NAME, DocumentStore

TABLE = "|a \ud800|b|\n|---|---|\n" + "|one|two|\n" * 1000
"""So large that it is divided; its heading rows hold half of a character."""


def seconds(name, text):
    """How long the processor takes to read a file."""
    data = text.encode()
    start = time.process_time()
    for _piece in read(name, data).pieces:
        pass
    return time.process_time() - start


def pdf(content, pages=1):
    """Pages that share one content stream."""
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (b"3 0 R " * pages, pages),
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    made, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, start=1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(made)
    return made + b"xref\n0 6\n0000000000 65535 f \n" + table + trailer


class TestPages:
    """HTML: the whole text of a page, and no more, in time."""

    @pytest.mark.parametrize(
        "main", ["<main>{}</main>", '<div class="a" role="main">{}</div>', '<MAIN id="m">{}</MAIN>']
    )
    def test_a_page_with_a_main_part_begins_where_that_begins(self, main):
        """However many tags stand before it that say nothing; what stands around it is left out."""
        menu = "".join(f'<li><span class="x">Item</span> <em>{n}</em></li>' for n in range(200))
        words = "The first sentence counts. " + "Others follow it. " * 20
        made = pieces("a.html", f"<body><ul>{menu}</ul>" + main.format(f"<h1>Parcels</h1><p>{words}</p>"))
        assert [piece.name for piece in made] == ["Parcels"]
        assert "The first sentence counts." in made[0].text
        assert "Item" not in made[0].text

    @pytest.mark.parametrize(
        "page",
        [
            "<nav>a word " * 4_000,
            "<html><body><ul>" + '<li class="menu">a word\n' * 4_000 + "</ul>",
            "<nav>a word " * 4_000 + "</nav>" * 2_000,
            "".join(f'<x{n} class="menu">a word ' for n in range(10_000)),
        ],
        ids=["nav", "li", "half", "names"],
    )
    def test_what_is_left_out_and_never_closed_is_read_in_time(self, page):
        """The page is searched once for the ends of all its elements of a name."""
        assert seconds("a.html", page) < 2

    @pytest.mark.parametrize(
        ("page", "said"),
        [
            ("<nav>x <p>one", "x one"),
            ("<nav>x <nav>y</nav> z</nav><p>one", "one"),
            ("<nav><nav>x</nav><p>one", "one"),
            ("</nav><nav>x</nav><p>one", "one"),
            ('<nav title="a > b">x</nav><p>one', "one"),
            ("<nav>x<nav-item>y</nav-item></nav><p>one", "one"),
            ("<nav>x<nav-item>y</nav><p>one", "one"),
            ("<nav>x</NAV ><p>one</nav", "one</nav"),
        ],
    )
    def test_what_stands_around_ends_where_its_element_ends(self, page, said):
        """Where it is never closed, its words are kept: they may be the page's text."""
        assert " ".join(" ".join(block.text for block in html_blocks.blocks(page)).split()) == said

    @pytest.mark.req("E6")
    @pytest.mark.parametrize(
        "around", ['<div id="hd">{}</div>', '<div class="b" id="sidebar">{}</div>', '<div id="sidebarbutton">{}</div>']
    )  # fmt: skip
    def test_what_stands_around_is_known_by_its_name(self, around):
        """What is said of the page's form is no text either; a section may have such a name, by its heading."""
        page = f"<!DOCTYPE html>\n<?xml version='1.0'?><body><p>one{around.format('<h3>Last update:</h3><p>Nov 11')}"
        assert [block.text for block in html_blocks.blocks(page)] == ["one"]
        section = '<div class="section" id="sidebar"><h2>Sidebar</h2><p>two</div><h2 id="footer">Footer</h2><p>three'
        assert [block.text for block in html_blocks.blocks(section)] == [
            "## Sidebar",
            "two",
            "## Footer",
            "three",
        ]

    @pytest.mark.req("E6")
    @pytest.mark.parametrize("main", ["<div role='main'>{}</div>", "<div class='body'>{}</div>"])
    def test_a_page_of_links_says_them(self, main):
        """Since it says little else; nothing of what stands around it."""
        links = "<h1>Services</h1><div class='toctree-wrapper'><ul><li>msvcrt<li>winreg</ul></div>"
        around = f"<div class='sphinxsidebar'><h3>This Page</h3>{'<p>Show Source</p>' * 400}</div>"
        page = f"<!DOCTYPE html>{around}{main.format(links)}{around}"
        assert [block.text for block in html_blocks.blocks(page)] == ["# Services", "- msvcrt", "- winreg"]
        other = f"{around}{main.format('')}{around}"
        assert "Show Source" in {block.text for block in html_blocks.blocks(other)}


class TestOneBadFile:
    """A file that cannot be read is noted, and those beside it are indexed."""

    @pytest.mark.req("E6")
    @pytest.mark.parametrize(
        ("name", "data"),
        [
            ("a.ipynb", '{"worksheets": [1]}'),
            ("a.ipynb", '{"worksheets": [{"cells": null}, {"cells": 1}]}'),
            ("a.ipynb", '{"cells": [{"cell_type": "heading", "source": "x", "level": null}]}'),
            ("a.ipynb", '{"cells": [{"cell_type": "heading", "source": "x", "level": Infinity}]}'),
            ("a.ipynb", '{"cells": [{"cell_type": "heading", "source": "x", "level": {}}]}'),
            ("a.ipynb", '[{"cells": 1}]'),
            ("a.ipynb", json.dumps({"cells": [{"cell_type": "markdown", "source": "# \ud800 A\n\n## B\n\ntext\n"}]})),
            ("a.ipynb", json.dumps({"cells": [{"cell_type": "markdown", "source": TABLE}]})),
            ("a.html", b"<meta charset=raw_unicode_escape><body><p>h\xff \\ud800 text</p>"),
            ("a.html", b"<meta charset=utf-7><body><p>a word +2AA- and \xff text</p>"),
        ],
    )  # fmt: skip
    def test_the_file_beside_it_is_found(self, tmp_path, name, data):
        """Whatever is wrong with the first one; what it says can be written and shown."""
        docs = tmp_path / "docs"
        docs.mkdir()
        (docs / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        (docs / "z.md").write_text("# Zebra\n\nIt has stripes.\n")
        store = DocumentStore(tmp_path / FILE_NAME, writable=True)
        try:
            assert update(store, docs, "docs").read == 2
            hits = store.get([number for number, _file, _score in store.bm25("stripes", 5)])
            assert [hit.path for hit in hits.values()] == ["z.md"]
        finally:
            store.close()

    @pytest.mark.req("E6")
    def test_whatever_a_parser_raises_is_noted(self, tmp_path):
        """A reference among the operators of a page is an AssertionError of pypdf."""
        pytest.importorskip("pypdf")
        docs = tmp_path / "docs"
        docs.mkdir()
        (docs / "a.pdf").write_bytes(pdf(b"3 0 R Tj"))
        (docs / "z.pdf").write_bytes(pdf(b"BT /F1 12 Tf (stripes) Tj ET"))
        store = DocumentStore(tmp_path / FILE_NAME, writable=True)
        try:
            done = update(store, docs, "docs")
        finally:
            store.close()
        assert (done.read, done.passages) == (2, 1)
        assert [note.partition(": ")[2][:30] for note in done.notes] == ["cannot be read: AssertionError"]

    @pytest.mark.req("Z8")
    @pytest.mark.parametrize(
        ("limit", "value", "said"),
        [
            ("_MAX_SECONDS", 0.2, "it takes more than 0.2 seconds"),
            ("_MAX_CHARACTERS", 50_000, "more than 0 million characters"),
            ("_MAX_PAGE_BYTES", 50_000, "page 1 has more than 0 MB of drawing"),
        ],
    )
    def test_a_pdf_whose_pages_share_one_long_stream_is_passed_over(self, monkeypatch, limit, value, said):
        """A small file with three thousand pages of the same drawing ends in a note, by time or by what it holds."""
        pytest.importorskip("pypdf")
        monkeypatch.setattr(pdf_reader, limit, value)
        content = b"BT /F1 12 Tf 10 10 Td " + b"(ab) Tj 0 -1 Td " * 5_000 + b"ET"
        with pytest.raises(SkippedFile, match=said):
            list(read("a.pdf", pdf(content, pages=3_000)).pieces)

    def test_a_heading_of_an_old_notebook_has_its_level(self):
        """Those that are no level of a heading are the outermost."""
        cells = [
            {"cell_type": "heading", "source": "A", "level": 1},
            {"cell_type": "heading", "source": "B", "level": 2},
            {"cell_type": "markdown", "source": "one"},
            {"cell_type": "heading", "source": "C", "level": "x"},
            {"cell_type": "markdown", "source": "two"},
        ]
        made = pieces("a.ipynb", json.dumps({"worksheets": [1, {"cells": cells[:3]}, {"cells": cells[3:]}]}))
        assert [(piece.outer, piece.name) for piece in made] == [("A", "B"), ("", "C")]

    @pytest.mark.parametrize(
        "name", ["utf-7", "idna", "punycode", "rot13", "unicode_escape", "undefined", "hex"]
    )
    def test_an_encoding_of_no_text_is_not_believed(self, name):
        """Python knows many that no page is in."""
        data = f"<meta charset={name}><p>Gr".encode() + b"\xf6\xdfe \\ud800 +2AA-</p>"
        text, note = decoded(data)
        assert "Größe \\ud800 +2AA-" in text
        assert "Windows-1252" in note

    @pytest.mark.parametrize(
        ("name", "word"),
        [
            ("koi8-r", "почта"),
            ("Shift_JIS", "小包"),
            ("GB2312", "包裹"),
            ("ISO-8859-2", "přepážka"),
            ("latin-1", "größe"),
            ("EUC-KR", "소포"),
            ("windows-1251", "почта"),
            ("macintosh", "größe"),
        ],
    )
    def test_an_encoding_of_the_web_is_believed(self, name, word):
        """By whichever of its names."""
        assert decoded(f"<meta charset={name}><p>{word}</p>".encode(name))[0].endswith(f"{word}</p>")


class TestFolders:
    """What is walked over."""

    def test_a_pipe_or_socket_that_is_named_is_not_opened(self, tmp_path, monkeypatch):
        """To open a pipe is to wait for a writer, who may never come."""
        monkeypatch.chdir(tmp_path)  # a socket's path is short
        os.mkfifo("pipe.md")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("socket.md")
            for name in ("pipe.md", "socket.md"):
                walk = FolderWalk(tmp_path / name)
                assert list(walk.files()) == []
                assert walk.faults == [
                    f"{tmp_path / name}: passed over: is not a file or folder, but a link, pipe, socket or device"
                ]

    @pytest.mark.req("E6")
    def test_what_looks_things_up_in_built_pages_is_no_document(self, tmp_path):
        """The data of a search, by its name; a program of such a name is one where no page lies beside it."""
        for name in ("a/index.html", "a/searchindex.js", "a/search.js", "a/jquery.min.js", "b/search.js"):
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("parcels")
        walk = FolderWalk(tmp_path)
        names = [os.path.relpath(seen.path, tmp_path) for seen in walk.files()]
        assert names == ["a/index.html", "b/search.js"]
        assert walk.passed == {"index pages": 2, "minified files": 1}


class TestText:
    """Markdown, plain text and code."""

    def test_a_form_feed_is_no_line(self):
        """An editor counts none there; what is defined behind one at a line's start is found all the same."""
        text = "# A\n\none\ftwo\n\f\nthree\n"
        assert decoded(text.encode())[0].split("\n") == ["# A", "", "one two", "", "three", ""]
        made = pieces("a.py", "x = 1\n\n\fdef parcel():\n    return x\n")
        assert [(piece.name, piece.location) for piece in made] == [("", ":1"), ("parcel", ":3")]

    def test_a_huge_python_file_is_not_parsed(self):
        """Its tree would take gigabytes; it is divided as other code is, and that is noted."""
        text = (
            "def parcel():\n    return DATA\n\n\nDATA = [\n" + "    [1, 2],\n" * (LARGEST_TREE // 13) + "]\n"
        )
        assert len(text) <= LARGEST_TREE
        assert read("a.py", text.encode()).note == ""
        text += "# the rest of a data file\n" * 6000
        reading = read("a.py", text.encode())
        assert reading.note == "is divided as text: too large to be parsed"
        assert next(iter(reading.pieces)).name == "parcel"

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("a.md", "# a" + " " * 30_000 + "x"),
            ("a.txt", "   x\n" + "    a line of text\n\n" * 40_000),
            ("a.md", "    a line of text\n\n" * 40_000 + "    end"),
        ],
    )
    def test_many_blanks_and_paragraphs_are_read_in_time(self, name, text):
        """A manual is indented from end to end."""
        assert seconds(name, text) < 2

    @pytest.mark.parametrize(
        ("row", "words"),
        [
            ("# A #", "A"),
            ("## A ##  ", "A"),
            ("# C#", "C#"),
            ("# A # B", "A # B"),
            ("# A \t ###", "A"),
            ("# #", "#"),
            ("# C# #", "C#"),
        ],
    )
    def test_the_marks_that_close_a_heading_are_none_of_its_words(self, row, words):
        """A word that ends with such a mark is a word."""
        assert [block.heading for block in markdown.blocks(row)] == [words]

    def test_indented_paragraphs_keep_the_lines_between_them(self):
        """However many; the passage can be counted in."""
        text = "a\n\n\n    one\n\n\n    two\n    three\n  \n    four\n\nb\n"
        assert list(markdown.paragraphs(text)) == [
            ("a", 1),
            ("    one\n\n\n    two\n    three\n\n    four", 4),
            ("b", 12),
        ]
