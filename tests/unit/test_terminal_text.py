"""Text made fit to be shown."""

import pytest

from kr_core.terminal_text import cleaned, one_line, printable


@pytest.mark.req("Z4")
def test_controls_are_replaced():
    """Controls, bidi controls and lone surrogates become U+FFFD, each by one; newline and tab stay."""
    assert printable("a\x1b[1m\x00\x7f\x9b\u202e\u2069\ud800b\n\t") == "a\ufffd[1m" + "\ufffd" * 6 + "b\n\t"
    assert printable("a\x1b\r\nb\r") == "a\ufffd\nb\ufffd"


@pytest.mark.req("Z4")
@pytest.mark.parametrize(
    "letters",
    ["\U000e0159\U000e015f", "\ufe01\ufe02\ufe03", "\u2062\u2064\u2062", "\u200b\u200c\u200d", "\ufeff" * 3],
)
def test_letters_that_nobody_sees_are_replaced(letters):
    """Variation selectors and characters without width can encode letters that only a model reads."""
    assert set(printable(f"a\U0001f600{letters}b")[2:-1]) == {"\ufffd"}


@pytest.mark.req("Z4")
def test_what_is_printable_stays():
    """Letters of all scripts, emoji, joiners and the variants of ideographs are no controls."""
    family = "\U0001f469\u200d\u2764\ufe0f\u200d\U0001f469"
    text = f"na\u00efve \u65e5\u672c \u845b\U000e0100 {family} \u0645\u06cc\u200c\u0634 \u05d0 \u00a0\n"
    assert printable(text) is text


@pytest.mark.req("Z4")
def test_every_text_of_a_value():
    """Texts in lists, tuples and mappings are replaced too; what is no text stays."""
    assert cleaned({"a\x07": ["\x07", ("\x07", 1.5)], "b": None}) == {
        "a\ufffd": ["\ufffd", ["\ufffd", 1.5]],
        "b": None,
    }


@pytest.mark.req("Z8")
def test_what_fills_part_of_a_line_begins_no_other():
    """Each run of line breaks is a blank, a control character U+FFFD; blanks, tabs and letters of any script stay."""
    assert one_line("a\r\n\nb\x1b[2J\x85c\u2028d\0") == "a b\ufffd[2J c d\ufffd"
    assert one_line("docs/my  file,\tä\u202e字.md") == "docs/my  file,\tä\u202e字.md"
