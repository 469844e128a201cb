"""The main text of a page: Markdown that a passage can be cut from, its code as it stands there, whatever the page is made of."""

import asyncio
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kr_core.markup import html as markup
from kr_core.plugin import Page
from kr_core.toolkit import main_text

PAGE = """\
<!doctype html><html lang="en"><head><title>Timeouts</title><script>var x = "<p>not this</p>";</script></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/api">The whole interface</a></li></ul></nav>
<main><article><h1>Timeouts<a class="headerlink" href="#timeouts">¶</a></h1>
<p>Parcel waits for the carrier. You can set a <code>timeout</code> for each <a href="/send">send</a> call of max_size[int].</p>
<h2>Setting a timeout <a href="#s">#</a></h2>
<p>Pass <code>timeout=</code> to <code>send</code> to set the timeout for a parcel. The unit is <em>seconds</em>.</p>
<div class="highlight-python notranslate"><div class="highlight"><pre><span></span><span class="kn">import</span> parcel

<span class="k">def</span> go():
    parcel.send(<span class="s2">"Paris"</span>, timeout=2.0)   # a &lt; b

    return   1
</pre></div></div>
<p>Options:</p>
<table><thead><tr><th>Name</th><th>Meaning</th></tr></thead>
<tbody><tr><td><code>timeout</code></td><td>Seconds to wait</td></tr></tbody></table>
<ol><li>Open it.</li><li>Close it:<pre><code class="language-sh">parcel close --now
</code></pre></li></ol></article></main>
<footer><p>Copyright 2026, all rights reserved. Built with tools.</p></footer></body></html>
"""
CODE = 'import parcel\n\ndef go():\n    parcel.send("Paris", timeout=2.0)   # a < b\n\n    return   1'


def text_of(html, media_type="text/html"):
    return asyncio.run(main_text(Page("https://docs.example/", media_type, html)))


def test_a_page_of_documentation():
    """Headings, paragraphs, tables and lists are Markdown; code stands verbatim in its language; the rest is left out."""
    text = text_of(PAGE)
    assert f"\n\n```python\n{CODE}\n```\n" in text
    assert "\n```sh\nparcel close --now\n```" in text
    assert text.startswith("# Timeouts\n")
    assert "\n## Setting a timeout\n" in text
    assert "set a `timeout` for each send call of max_size[int]." in text
    assert "| `timeout` | Seconds to wait |" in text
    assert "1. Open it.\n2. Close it:" in text
    for left_out in ("Home", "interface", "Copyright", "not this", "¶", "krblock"):
        assert left_out not in text


def test_a_section_is_not_left_out_for_its_name():
    """What a section is about, such as cookies or comments, does not make it a banner or a footer."""
    section = "<h2>Cookies</h2><p>A cookie is set by the carrier, and kept.</p><pre>set_cookie(1)</pre>"
    for named in (
        f'<section id="cookies" class="comments">{section}</section>',
        f'<div class="section" id="security-cookie">{section}</div>',
    ):
        text = text_of(PAGE.replace("</article>", f"{named}</article>"))
        assert "## Cookies" in text
        assert "```\nset_cookie(1)\n```" in text


def test_signs_of_links_are_left_out():
    """What a page puts behind headings and definitions for a link to them is not read; a sharp in a name is."""
    text = text_of(
        "<h2>C#</h2><h3>Calls #</h3><dl><dt>send(to)<a href='#send'>¶</a></dt><dd>Sends.</dd></dl><p>Written in F#</p>"
    )
    assert text == "## C#\n\n### Calls\n\nsend(to)\n\nSends.\n\nWritten in F#"


def test_a_page_without_much_text():
    """What is too little for a main text is all that can be read."""
    assert text_of(
        "<nav>Menu</nav><h2>Ports</h2><p>It listens on&nbsp;8080 &amp; 8081.<br>No other.<ul><li>a<li>b</ul>"
    ) == ("## Ports\n\nIt listens on 8080 & 8081.\nNo other.\n\n- a\n- b")


def test_a_page_with_very_many_tags():
    """It is written as plain Markdown, with its headings, tables and code."""
    rows = "".join(f"<tr><td>option {number}</td><td>value</td></tr>" for number in range(6000))
    text = text_of(f"<h1>All options</h1><pre class='language-toml'>a = 1</pre><table>{rows}</table>")
    assert text.startswith("# All options\n\n```toml\na = 1\n```\n")
    assert "option 4999 | value |" in text


def test_text_that_is_no_page():
    """Markdown and plain text stay as they are, with lines that end in line feeds."""
    assert text_of("# A\r\n<b>x</b>\r\n", "text/markdown") == "# A\n<b>x</b>\n"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<pre><code class='hljs language-typescript'>x()</code></pre>", "typescript"),
        ("<div class='highlight highlight-source-js'><pre>x()</pre></div>", "js"),
        ("<div class='highlight-default notranslate'><div class='highlight'><pre>x()</pre></div></div>", ""),
        ("<div class='highlight-python3'><pre>x()</pre></div>", "python"),
        ("<pre class='brush: java'>x()</pre>", "java"),
        ("<pre data-language='rust'>x()</pre>", "rust"),
        ("<div class='language-go'><p>Text between.</p></div><pre>x()</pre>", ""),
        ("<pre class='language-plaintext'>x()</pre>", ""),
        ("<pre class='language-`x'>x()</pre>", ""),
    ],
)
def test_the_language_of_code(html, language):
    """It is the one that a class of the block, or of what encloses it, names."""
    assert f"```{language}\nx()\n```" in text_of(html)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<pre>a\n\n\n   b\n\tc</pre>", "```\na\n\n\n   b\n\tc\n```"),
        ("<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"),
        ("<pre>a<br>b&lt;c&amp;d</pre>", "```\na\nb<c&d\n```"),
        ("<pre><button>Copy</button>a <b>b</b></pre>", "```\na b\n```"),
        ("<pre><span class='linenos'>1</span>a\n<span class='linenos'>2</span>b</pre>", "```\na\nb\n```"),
        ("<table><tr><td class='linenos'><pre>1\n2</pre></td><td><pre>a\nb</pre></td></tr></table>", "```\na\nb\n```"),
        ("<pre>krblock0x</pre>", "```\nkrblock0x\n```"),
    ],
)  # fmt: skip
def test_code_is_verbatim(html, text):
    """Each blank, line and sign of a block stands as a browser shows it, without buttons and line numbers."""
    assert text in text_of(html)
    assert text in text_of(PAGE.replace("<p>Options:</p>", html))


def test_a_page_that_knows_the_placeholder():
    """What stands for a block while the page is read is nothing that the page says itself."""
    text = text_of(PAGE.replace("Parcel waits", "krblock0x krblockq0x Parcel waits"))
    assert "krblock0x krblockq0x Parcel waits" in text
    assert CODE in text


SLOW = [
    "<div>hello</div>",
    "<b>x",
    "<table><tr><td>",
    "<ul><li>x",
    "<pre>x</pre>",
    "<blockquote><p>x",
    "\\# ",
    "# x\n",
    "<",
    '<a b="',
]
HOSTILE = [
    *SLOW, "<div>", "<pre>", "<a ", "<a b='", "<!--", "<!-- -->", "<script>", "</", "&", "```\n", "<h1>#", "<a =\"'>", " ", "<a\0b>",
    "<pre>``` ", "<svg>", "<a href=x>y", "<nav>",
]  # fmt: skip


@pytest.mark.req("Z2")
@pytest.mark.parametrize("piece", SLOW)
def test_hostile_pages_end(piece):
    """Two megabytes of one thing take no longer than any long page."""
    started = time.process_time()
    text_of((piece * (2**21 // len(piece) + 1))[: 2**21])
    assert time.process_time() - started < 8


@pytest.mark.parametrize("blank", [" ", "\t", "\n", "&nbsp;", "\u3000", "`", "#"])
def test_a_run_of_blanks(blank):
    """Half a million blanks between two words are read once."""
    run = blank * (500_000 // len(blank))
    started = time.process_time()
    for html in (
        f"<h1>x{run}y</h1>{PAGE}",
        f"{PAGE}<p>x{run}y</p>",
        f"<pre>x{run}y</pre>{PAGE}",
        f"{PAGE}<p {run}>",
        f"{PAGE}<p a={run}>",
    ):
        text_of(html)
    assert time.process_time() - started < 8


def test_a_tag_without_end():
    """A tag with a hundred thousand attributes is a tag like any other."""
    attributes = " ".join(f"a{number}='<{number}>'" for number in range(100_000))
    started = time.process_time()
    assert "well" in text_of(f"<p {attributes}>well</p>")
    assert time.process_time() - started < 8


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from([*HOSTILE, *re.findall(r"<[^>]*>|[^<]+", PAGE), "</pre>", "</code>", "é", "\ud800"]),
        max_size=40,
    )
)
def test_any_page_is_read(pieces):
    """Whatever tags it is made of, a page has a text."""
    assert isinstance(text_of("".join(pieces)), str)


@given(st.text(alphabet="<>/ab=\"' !-\n", max_size=80))
def test_no_character_is_read_twice(html):
    """Tags and texts come in the order of the page, and each is a part of it."""
    place = 0
    for part in markup.parts(html):
        found = html.lower().find(part.data.lower() if part.kind == "text" else part.name, place)
        assert found >= place
        place = found
