"""What documents say of themselves: their version and their day."""

import time
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kr_plugins.sources.document_metadata import DocumentMetadata, stated

DAY = date(2024, 3, 11)


@pytest.mark.req("E4")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("---\ntitle: Printer\ndate: 2024-03-11\nversion: 1.8\n---\n# Printer\n", DocumentMetadata("1.8", DAY)),
        ("---\nversion: 'v2.0-beta'\nlast_updated: 2024-03-11T10:00:00Z\n...\nText.\n", DocumentMetadata("2.0-beta", DAY)),
        ("# Limits\n\nVersion: 1.8\nDate: 2024-03-11\n\n## Rates\n", DocumentMetadata("1.8", DAY)),
        ("Limits\n======\n\n:Version: 1.8\n:Date: 2024-03-11\n\nRates\n-----\n", DocumentMetadata("1.8", DAY)),
        ("======\nLimits\n======\n\n:Date: 2024-03-11\n", DocumentMetadata(None, DAY)),
        ("# Limits\n\n**Version:** 1.8  \n**Last updated**: 2024-03-11\n", DocumentMetadata("1.8", DAY)),
        ("---\ntitle: Printer\n---\n# Printer\n\nDate: 2024-03-11\n", DocumentMetadata(None, DAY)),
        ("# Limits\n\nDate: 11 Mar 2024\n", DocumentMetadata(None, DAY)),
        ("# Limits\n\nLast updated: March 11th, 2024.\n", DocumentMetadata(None, DAY)),
        ("# Limits\n\nDate: 03/11/2024\n", DocumentMetadata()),
        ("# Limits\n\nDate: 30 February 2024\n", DocumentMetadata()),
        ("# Limits\n\nVersion: 1.8\nVersion: 2.0\n", DocumentMetadata("1.8", None)),
        ("# Limits\n\n## Client\n\nVersion: 1.8\n", DocumentMetadata()),
        ("Limits\n======\n\nRates\n-----\n\nVersion: 1.8\n", DocumentMetadata()),
        ("# Limits\n\n```yaml\nversion: 1.8\n```\n", DocumentMetadata()),
        ("# Limits\n\nVersion: the one that is installed\nDate: 2024-02-30\n", DocumentMetadata()),
        ("# Limits\n\nThe date: 2024-03-11 was a Monday.\n", DocumentMetadata()),
        ("---\n" + "key: value\n" * 50 + "version: 1.8\n---\n", DocumentMetadata()),
        ("", DocumentMetadata()),
    ],
)  # fmt: skip
def test_what_a_text_says_of_itself(text, says):
    """It stands in front matter, or above the first section in lines of its own; elsewhere it is said of something else."""
    assert stated(text) == says


@given(
    st.lists(
        st.sampled_from(["---", "...", "# A", "===", "Version: 1", "date: 2024-03-11", "", "```", "x: y"])
    )
)
def test_whatever_lines_there_are(lines):
    """They are read without a fault, and nothing is told that is not there."""
    said = stated("\n".join(lines))
    assert said.version is None or "Version: 1" in lines
    assert said.dated is None or "date: 2024-03-11" in lines


@pytest.mark.req("Z7")
@pytest.mark.parametrize(
    "unit", ["a", ":", "a:", "version: ", "version: 1", "-", " ", "*", "date: 2024-03-11 ", "\n"]
)
def test_endless_ones(unit):
    """They are read in time."""
    began = time.process_time()
    stated(unit * 100_000)
    stated(f"---\n{unit * 100_000}")
    assert time.process_time() - began < 1
