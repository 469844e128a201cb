"""Readers of documents against what files hold that nobody meant for them: each is read, or noted and passed over."""

import time

import pytest

from kr_core.search.documents import html
from kr_core.search.documents.reading import read


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
