"""Text made fit to be shown."""

import pytest

from kr_core.terminal_text import cleaned, printable


@pytest.mark.req("Z4")
def test_controls_are_replaced():
    """Controls, bidi controls and lone surrogates become U+FFFD, each by one; newline and tab stay."""
    assert printable("a\x1b[1m\x00\x7f\x9b\u202e\u2069\ud800b\n\t") == "a\ufffd[1m" + "\ufffd" * 6 + "b\n\t"
    assert printable("a\x1b\r\nb\r") == "a\ufffd\nb\ufffd"


@pytest.mark.req("Z4")
def test_what_is_printable_stays():
    """Letters of all scripts, emoji and joiners are no controls."""
    text = "na\u00efve \u65e5\u672c \U0001f469\u200d\U0001f4bb \u05d0 \u00a0\n"
    assert printable(text) is text


@pytest.mark.req("Z4")
def test_every_text_of_a_value():
    """Texts in lists, tuples and mappings are replaced too; what is no text stays."""
    assert cleaned({"a\x07": ["\x07", ("\x07", 1.5)], "b": None}) == {
        "a\ufffd": ["\ufffd", ["\ufffd", 1.5]],
        "b": None,
    }
