"""How short statements and those below headings stand to each other."""

import pytest

from kr_core.expedition.meaning import compared


@pytest.mark.req("E4")
@pytest.mark.parametrize(
    ("one", "other", "relation"),
    [
        ("TLS is required.", "TLS is not required.", "conflict"),
        ("TLS is required.", "SSH is not required.", "other"),
        ("The default is 5.", "The default is 3.", "other"),
        ("It works.", "It does not work.", "other"),
    ],
)
def test_a_denial_of_few_words(one, other, relation):
    """One that is the other with a denial and nothing else says otherwise, however short, if it says of what."""
    assert compared(one, other) == compared(other, one) == relation
