"""What models write, as HTML: what is Markdown is shown so, and nothing of it does anything."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inbox_page import elements

from kr_core.server.web.markdown_html import links, to_html

pytestmark = pytest.mark.req("H8", "Z6")

_SAFE = set(
    "a blockquote br code del em h4 h5 h6 hr li ol p pre s span strong table tbody td th thead tr ul".split()
)
_PIECES = ["<script>", "<img src=x onerror=y>", "[a](javascript:b)", "![i](http://h/p)", "<a href='/cases/E1'>", "](", "`", "```\n", "\n\n", "|a|b|\n|-|-|\n", "# ", "> ", "<", "&lt;", "&#106;avascript:", "<https://h/>", "[x]: javascript:y\n", "[x]", "\u202e", "\x00", "* ", "~~", "<!--"]  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=8), max_size=20).map("".join))
def test_nothing_but_plain_elements_comes_of_any_text(text):
    """No element, attribute or address that loads, runs, sends or styles anything, whatever is written."""
    for tag, attributes in elements(str(to_html(text))):
        assert tag in _SAFE
        assert set(attributes) <= {"href", "rel", "title", "class", "start"}
        if "class" in attributes:
            assert (tag, attributes["class"]) == ("span", "host")
        if "href" in attributes:
            assert attributes["href"].startswith(("http://", "https://", "mailto:"))
            assert "noopener" in attributes["rel"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**a** `b`", "<p><strong>a</strong> <code>b</code></p>\n"),
        ("# Title", "<h4>Title</h4>\n"),
        ("###### Deep", "<h6>Deep</h6>\n"),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"),
        ("__init__.py and 5 < 6 & 7", "<p><strong>init</strong>.py and 5 &lt; 6 &amp; 7</p>\n"),
        ("a\x1b[2J\u202eb", "<p>a\ufffd[2J\ufffdb</p>\n"),
    ],
)
def test_markdown_is_shown_as_such(text, shown):
    """Headings stand below those of the page; HTML is text."""
    assert str(to_html(text)) == shown


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("[docs](https://redis.io/x)", " (redis.io)"),
        ("[https://good.example](https://evil.example/)", " (evil.example)"),
        ("[x](https://good.example@evil.example/)", " (evil.example)"),
        ("![picture](https://evil.example/p.png)", " (evil.example)"),
        ("<https://redis.io/x>", ""),
    ],
)
def test_a_link_says_where_it_leads(text, host):
    """Whatever its words say; one that shows its own address needs nothing more."""
    html = str(to_html(text))
    assert (f'<span class="host">{host}</span>' in html) if host else ("host" not in html)


@pytest.mark.parametrize(
    "text", ["[x](/cases/E1)", "[x](//stranger.example)", "[x](data:text/html,y)", "[x](cases)"]
)
def test_a_link_leads_out_of_the_page_or_nowhere(text):
    """No text of a model leads to an address of the page itself."""
    assert "href" not in str(to_html(text))


@pytest.mark.parametrize("piece", ["[", "![", "*a ", "_", "`", "<", "> ", "[a](", "|a", "- ", "&"])
def test_no_text_takes_long(piece):
    """What parsers find hard is cut to what they do in time; longer texts are shown as they are written."""
    began = time.process_time()
    html = to_html(piece * (50_000 // len(piece)))
    to_html(piece * 1_000_000)
    assert time.process_time() - began < 20
    assert html


def test_the_addresses_of_a_text_are_told_once_each():
    """Only those of the web, in order."""
    text = "[b](https://b.example/) <https://a.example/> [b](https://b.example/) [m](mailto:x@y.z) `https://code.example`"
    assert links(text) == ["https://b.example/", "https://a.example/"]
