"""References to characters in pages of others."""

import pytest

from kr_core.markup.html import markdown, parts, unescaped
from kr_plugins.sources.installed_docs.pages.html_sections import parse

pytestmark = pytest.mark.req("Z8")
LONG = f"&#{'1' * 5000};"
REPLACED = "\N{REPLACEMENT CHARACTER}"


def test_a_character_with_a_number_of_thousands_of_digits_is_replaced():
    """A browser shows a sign in its place, and the rest of the page is read."""
    assert unescaped(f"a &amp; {LONG} &#65;") == f"a & {REPLACED} A"
    assert markdown(parts(f"<p>a {LONG} b</p>")) == f"a {REPLACED} b"
    assert parse(f'<p id="{LONG}">a {LONG} b</p>').children[0].children == [f"a {REPLACED} b"]
