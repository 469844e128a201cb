"""Readers of documents against what files hold that nobody meant for them: each is read, or noted and passed over."""

import os
import socket
import time

import pytest

from kr_core.search.documents import html, markdown
from kr_core.search.documents.reading import read
from kr_core.search.documents.walking import Walk


def pieces(name, text):
    data = text if isinstance(text, bytes) else text.encode()
    return list(read(name, data).pieces)


def seconds(name, text):
    """How long the processor takes to read a file."""
    data = text.encode()
    start = time.process_time()
    for _piece in read(name, data).pieces:
        pass
    return time.process_time() - start


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
        assert " ".join(" ".join(block.text for block in html.blocks(page)).split()) == said


class TestFolders:
    """What is walked over."""

    def test_a_pipe_or_socket_that_is_named_is_not_opened(self, tmp_path, monkeypatch):
        """To open a pipe is to wait for a writer, who may never come."""
        monkeypatch.chdir(tmp_path)  # a socket's path is short
        os.mkfifo("pipe.md")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("socket.md")
            for name in ("pipe.md", "socket.md"):
                walk = Walk(tmp_path / name)
                assert list(walk.files()) == []
                assert walk.faults == [
                    f"{tmp_path / name}: passed over: is no file or folder, but a pipe, socket or device"
                ]


class TestText:
    """Markdown, plain text and code."""

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
