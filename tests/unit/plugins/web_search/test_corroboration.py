"""When sites agree: independent ones, that say the same."""

import pytest

from kr_plugins.sources.web_search.site_corroboration import PlacedPassage, agreements

QUESTION = "How do I set a timeout for a parcel?"
PASS = "Pass `timeout=` to `send()` to set a timeout for a parcel."
PAGE = " ".join(f"word{number}" for number in range(200))
GIVE = "If a parcel takes too long, give `send(to, timeout=3)` a timeout and it is given up."


def said(site, text, page=None):
    return PlacedPassage(site, text if page is None else page, text)


def counts(*passages, question=QUESTION):
    return [standing.agreement for standing in agreements(passages, question)]


@pytest.mark.req("R13")
def test_independent_sites():
    """Two sites that name the same means in words of their own agree; a third that speaks of something else does not."""
    assert counts(
        said("a", PASS), said("b", GIVE), said("c", "A parcel can be insured, says the timeout team.")
    ) == [2, 2, 1]


@pytest.mark.parametrize(
    "other",
    [
        said("a", GIVE),
        said("b", PASS),
        said("b", PASS.replace(" ", "\n")),
        said("b", f"As the documentation of this great library says for all of us: {PASS} And that is it."),
        said("b", GIVE, page=f"{PAGE} {GIVE}"),
    ],
    ids=["same site", "copy", "copy in other lines", "quotation", "mirror"],
)
def test_copies_are_one_place(other):
    """What was copied says nothing that the original does not say."""
    assert counts(said("a", PASS, page=f"{PAGE} {PASS}"), other) == [1, 1]


def test_a_copy_agrees_no_twice():
    """Two copies and one text of its own are two places."""
    assert counts(said("a", PASS), said("b", PASS), said("c", GIVE)) == [2, 2, 2]


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("The default timeout of a parcel is 5 seconds.", "By default a parcel has a timeout of 5 seconds.", True),
        ("The default timeout of a parcel is 5 seconds.", "By default a parcel has a timeout of 10 seconds.", False),
        ("A timeout for a parcel can be set with `send(timeout=1)`.", "A timeout can not be set for a parcel with `send`.", False),
        ("A parcel waits for the carrier until the timeout.", "Until the timeout, a parcel waits, carrier or none.", True),
        ("The timeout is in parcel.toml.", "Use a timeout and pray to the gods of mail.", False),
        ("See print(timeout) of a parcel.", "With print(x) we show the timeout.", False),
        ("Set the timeout.", "Set the timeout!", False),
    ],
)  # fmt: skip
def test_what_agrees(one, other, agree):
    """The same names, or most of the same words; not where one denies it or the numbers differ, nor where both say nothing."""
    assert (
        counts(said("a", one), said("b", other), question="How do I set a timeout for a parcel?")
        == [1 + agree] * 2
    )


def test_nothing_agrees_with_nothing():
    """No passages have no standings."""
    assert agreements([], QUESTION) == []
    assert counts(said("a", "")) == [1]
    assert counts(said("a", ""), said("b", "")) == [1, 1]
