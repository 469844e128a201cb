"""YAML read as people mean it."""

import pytest

from kr_core import yaml_text


@pytest.mark.req("Z3")
@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        "- " * 100_000 + "a",
        "-\t" * 100_000 + "a",
        "? " * 100_000 + "a",
        "{a: " * 100_000,
        "\n".join(" " * depth + "a:" for depth in range(2_000)),
        "\n".join(" " * depth + "-" for depth in range(2_000)),
    ],
    ids=["open", "closed", "items", "tabs", "keys", "mappings", "indented keys", "indented items"],
)
def test_deep_nesting_is_refused(text):
    """Nesting that would end the process in libyaml's recursive composer is an error like any other."""
    for read in (yaml_text.load, yaml_text.node_lines):
        with pytest.raises(yaml_text.YAMLError) as caught:
            read(text)
        assert "nested too deeply" in str(caught.value) or caught.value.problem
        assert yaml_text.error_line(caught.value)


def test_wide_is_not_deep():
    """Many brackets beside one another, long lines and hyphens are no nesting."""
    text = "".join(f"- {{id: '{'a-' * 60}{number}', tags: [a, [b]]}}\n" for number in range(300))
    assert len(yaml_text.load(text)) == 300


def test_a_hundred_levels_are_read():
    """Nesting that somebody might write is read."""
    value = yaml_text.load("[" * 90 + "]" * 90)
    for _ in range(89):
        (value,) = value
    assert value == []


def test_versions_and_dates_stay_text():
    """`2.10` is not `2.1`, and `on` is a word."""
    assert yaml_text.load("a: 2.10\nb: 2026-02-05\nc: on\nd: true\ne: 7\nf:\n") == {
        "a": "2.10",
        "b": "2026-02-05",
        "c": "on",
        "d": True,
        "e": 7,
        "f": None,
    }
